// What interpose/cuda.hooks says of each form of a driver call that has a door, and a way to call it whatever
// its parameters are. Generated for doors_table_test. Thread rule: one thread. Failure rule: the call's own.
#pragma once

#include <cuda.h>

#include <vector>

#include "src/runtime/runtime.hpp"

namespace doors_test {

enum class Handled { kByHandler, kRetried, kEnqueued };

struct DoorCall {
  const char* symbol;
  Handled handled;
  tencache::runtime::AccessKind kind;  // of what is enqueued
  bool opaque;
  bool per_thread_default_stream;
  bool has_stream;
  CUresult (*call)(void* door, CUstream stream);  // all other arguments 0
};

const std::vector<DoorCall>& door_calls();

}  // namespace doors_test
