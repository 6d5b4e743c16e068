#include "tests/interpose/caller_library.hpp"

#include <dlfcn.h>

void* caller_next(const char* symbol) { return dlsym(RTLD_NEXT, symbol); }
void* caller_default(const char* symbol) { return dlsym(RTLD_DEFAULT, symbol); }
int cudnnFoo() { return 1; }
int cuTensorNetFoo() { return 2; }
