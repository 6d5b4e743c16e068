// The one macro that fills a row of an entry point table. Included by the two files that load a table. Thread
// rule and failure rule: those of entry_points.hpp. The name comes as text, since the toolkit's headers
// define many of the names as macros of their newest form.
#pragma once

#include "tools/softgpu/cudart/entry_points.hpp"

#define CUDART_LOAD(member, text, version, flag)                                                 \
  if (void* found = find_entry_point(text, version, flag); found != nullptr) {                   \
    member = reinterpret_cast<decltype(member)>(found); /* NOLINT(bugprone-macro-parentheses) */ \
  } else {                                                                                       \
    CUresult (*refuse)() = [] { return refuse_missing(text); };                                  \
    member = reinterpret_cast<decltype(member)>(                                                 \
        reinterpret_cast<void*>(refuse)); /* NOLINT(bugprone-macro-parentheses) */               \
  }
