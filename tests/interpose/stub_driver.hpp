// A libcuda.so.1 for tests of the doors: exports every driver symbol, does nothing, and can be asked what was
// called and what was looked up. Built as a shared library of its own; tests reach it by dlopen and the C
// functions at the end. Thread rule: from any thread. Failure rule: none of its own; a test can make any
// symbol fail.
#pragma once

#include <cuda.h>

namespace stub {

inline constexpr unsigned kFormCount = 637;

// One exported symbol: which form of which name it is, and from which CUDA version on.
struct Form {
  const char* symbol;
  const char* base;
  int version;
  bool per_thread_default_stream;
  bool passes;  // the table says that it passes untouched
  void* address;
};
extern const Form kForms[kFormCount];

// What the generated functions do: count, and answer what the test has set (else CUDA_SUCCESS).
CUresult called(unsigned form);

// A request to cuGetProcAddress and what it was answered with; null: it was refused.
struct Request {
  char base[64];
  int version;
  unsigned long long flags;
  const Form* answer;
};

}  // namespace stub

extern "C" {
const stub::Form* stub_forms();
unsigned stub_calls(const char* symbol);
unsigned stub_all_calls();
void stub_set_result(const char* symbol, CUresult result);
unsigned stub_request_count();
const stub::Request* stub_request(unsigned index);
// What cuInit is to do besides, as a driver that uses its own exports does.
void stub_set_in_init(void (*action)());
}
