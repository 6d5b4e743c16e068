// What the scenarios of same_answers share, and those that are in other files. Thread rule: one thread.
// Failure rule: what a call was answered is printed, whatever it is.
#pragma once

#include <cuda.h>

#include <cstdio>

inline constexpr std::size_t kBytes = 1 << 20;
inline constexpr CUdeviceptr kWild = 0x123456000;

inline void say(const char* what, CUresult result) { std::printf("%s %d\n", what, static_cast<int>(result)); }
// What the call has written is read here, behind the call: arguments are evaluated in no particular order.
template <class Value>
void say(const char* what, CUresult result, const Value& value) {
  std::printf("%s %d: %llu\n", what, static_cast<int>(result), static_cast<unsigned long long>(value));
}
template <class Handle>
void say_whether(const char* what, CUresult result, const Handle& written, const Handle& expected) {
  std::printf("%s %d: %s\n", what, static_cast<int>(result), written == expected ? "the same" : "another");
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
void copies_promised_to_wait();
void without_a_context();
void outputs_left_out();
void odd_reservations();
void host_ranges_half_registered();
void locations_of_the_host();
void batches_where_they_may_not_be();
void ranges_of_many_pieces();
void pool_counters();
void pool_kinds();
void frees_across();
