// A library that opens others by the folder it lies in. Called by preload_test.
#include <dlfcn.h>

extern "C" void* origin_open(const char* name) { return dlopen(name, RTLD_NOW); }
