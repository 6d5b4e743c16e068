// A library that a program opens: it looks symbols up for itself, and has names that begin like the driver's.
// Called by preload_test. Thread rule: any. Failure rule: none.
#pragma once

extern "C" {
void* caller_next(const char* symbol);         // dlsym(RTLD_NEXT, symbol)
void* caller_default(const char* symbol);      // dlsym(RTLD_DEFAULT, symbol)
void* caller_open_driver(const char* symbol);  // dlsym of dlopen("libcuda.so.1")
int cudnnFoo();
int cuTensorNetFoo();
}
