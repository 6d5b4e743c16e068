// A driver that only writes down what it is asked: the runtime stand-in's tests load it as libcuda.so.1.
// Called by cudart_test.cpp. Thread rule: one thread. Failure rule: a call whose name is in `failing` returns
// that code.
#pragma once

#include <cuda.h>

#include <map>
#include <string>
#include <vector>

struct StubDriver {
  // Each question to cuGetProcAddress as "name flag", in order.
  std::vector<std::string> asked;
  // Each call as "name flag first-argument...", in order.
  std::vector<std::string> calls;
  // What a call of this name returns instead of success.
  std::map<std::string, CUresult> failing;
};

// The one stub driver of this process.
extern "C" StubDriver* stub_driver();
