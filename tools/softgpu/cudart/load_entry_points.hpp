// The one macro that fills a row of an entry point table. Included by the two files that load a table.
#pragma once

#include "tools/softgpu/cudart/entry_points.hpp"

// NOLINTNEXTLINE(bugprone-macro-parentheses): `table` and `name` form a member access
#define CUDART_LOAD(table, name, version, flag)                                               \
  if (void* found = find_entry_point(#name, version, flag); found != nullptr) {               \
    (table).name = reinterpret_cast<decltype((table).name)>(found);                           \
  } else {                                                                                    \
    CUresult (*refuse)() = [] { return refuse_missing(#name); };                              \
    (table).name = reinterpret_cast<decltype((table).name)>(reinterpret_cast<void*>(refuse)); \
  }
