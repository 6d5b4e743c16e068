#include "tests/interpose/caller_library.hpp"

#include <dlfcn.h>

void* caller_next(const char* symbol) { return dlsym(RTLD_NEXT, symbol); }
void* caller_default(const char* symbol) { return dlsym(RTLD_DEFAULT, symbol); }
void* caller_open_driver(const char* symbol) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW), symbol); }
int cudnnFoo() { return 1; }
int cuTensorNetFoo() { return 2; }
