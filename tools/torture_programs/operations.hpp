// The operations of a generated program, one function a kind, in the order of operations.def.
// Called by the executor. Thread rule and failure rule: the executor's.
#pragma once

#include "tools/torture_programs/executor.hpp"

namespace torture {

// What the mixing kernels work on: a target and sources that differ from it.
struct Chosen {
  std::size_t target, a, b, c;
};

struct Box;

struct Operations {
  static void perform(Executor& x, const Operation& o);
#define X(kind, weight, what) static void kind(Executor& x, const Operation& o);
#include "tools/torture_programs/operations.def"
#undef X

  // Shared by several kinds.
  static bool choose_pair(const Executor& x, const Operation& o, std::size_t* target, std::size_t* source);
  static bool choose(const Executor& x, const Operation& o, Chosen* chosen);
  static void fill_range(Executor& x, const Operation& o, std::size_t buffer, std::uint32_t from,
                         std::uint32_t count);
  static void mark_table(Executor& x, std::size_t table, const std::array<std::size_t, 3>& entries);
  static std::uint64_t never_tables(const Executor& x);
  static bool pick_table(Executor& x, const Operation& o, std::size_t* table,
                         std::array<std::size_t, 3>* entries);
  static std::uint32_t common_count(const Executor& x, const Buffer& table);
  static void finish_free(Executor& x, std::size_t buffer);
  // Waits for everything and prints what was pending.
  static void settle(Executor& x);
  static void fill_buffer(Executor& x, CUstream stream, std::size_t buffer, std::uint32_t salt);
  static void on_stream_of_its_own(Executor& x, const Operation& o, CUstream stream);
  static void add_symbol(Executor& x, const Operation& o, CUfunction function, const char* name,
                         CUmodule module);
  static void use_others(Executor& x, const Operation& o, std::size_t stream, std::uint64_t avoid);
  using Entries = std::array<std::size_t, 3>;
  static bool restore(Executor& x, const Operation& o, Entries* entries, std::uint64_t avoid);
  static void read_back(Executor& x, const Operation& o, const Entries& entries);
  template <class Fill>
  static void use_table_of_absent(Executor& x, const Operation& o, const Fill& fill);
  static void run_graph(Executor& x, const Operation& o, CUgraph graph, std::size_t stream);
  template <class Build>
  static void run_filling_graph(Executor& x, const Operation& o, const Build& build);
  template <class Copy>
  static void copy_from_host(Executor& x, const Operation& o, Copy (*shape)(const Box&),
                             CUresult (*call)(const Copy*));
};

}  // namespace torture
