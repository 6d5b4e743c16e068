// What the scenarios of same_answers share, and those of pools and frees. Thread rule: one thread. Failure
// rule: what a call was answered is printed, whatever it is.
#pragma once

#include <cuda.h>

#include <cstdio>

inline constexpr std::size_t kBytes = 1 << 20;
inline constexpr CUdeviceptr kWild = 0x123456000;

inline void say(const char* what, CUresult result) { std::printf("%s %d\n", what, static_cast<int>(result)); }
inline void say(const char* what, CUresult result, unsigned long long value) {
  std::printf("%s %d: %llu\n", what, static_cast<int>(result), value);
}

inline CUstream make_stream() {
  CUstream stream = nullptr;
  say("stream", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

// Writes all of it and reads a byte back.
inline void use(CUdeviceptr address, std::size_t bytes, unsigned char value) {
  say("fill", cuMemsetD8(address, value, bytes));
  unsigned char read = 0;
  const CUresult result = cuMemcpyDtoH(&read, address + bytes - 1, 1);
  say("read", result, read);
}

void a_graph_on_two_devices();
void kernels_on_two_devices();
void pool_counters();
void pool_kinds();
void frees_across();
