// What is asked of the GPU, one row a question. Each is answered in a child process of its own with a time
// limit, so that a fault or a hang is an answer. Thread rule: one question at a time. Failure rule: Gpu's.
#pragma once

#include <span>

#include "tools/gpu_check/gpu.hpp"

namespace gpu_check {

struct Question {
  const char* id;  // the answers' names begin with it
  int seconds;     // limit; on a GPU a question takes about a second
  void (*ask)(Gpu& gpu, int argument);
  int argument;
};

[[nodiscard]] std::span<const Question> questions();

void ask_device(Gpu& gpu, int);
void ask_remap(Gpu& gpu, int);              // does remapping disturb an unrelated kernel
void ask_alias(Gpu& gpu, int);              // one block at two addresses
void ask_waits(Gpu& gpu, int);              // which calls wait for a running kernel
void ask_mapping_costs(Gpu& gpu, int mib);  // create, map, set-access, unmap, release
void ask_launch_latency(Gpu& gpu, int);     // while another thread maps
void ask_host_block(Gpu& gpu, int node);    // host VMM; node -1 is location type HOST
void ask_host_cpu(Gpu& gpu, int node);      // the CPU's access to it
void ask_host_direct_io(Gpu& gpu, int node);
void ask_unmapped(Gpu& gpu, int operation);  // a copy, memset or kernel on an unmapped address
void ask_mixed(Gpu& gpu, int);               // copies over handles of mixed location
void ask_stream_costs(Gpu& gpu, int);        // event record, wait value
void ask_link(Gpu& gpu, int);                // one-way and duplex rates
void ask_hbm(Gpu& gpu, int);                 // read, write, fingerprint, copy

}  // namespace gpu_check
