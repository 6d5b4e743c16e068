"""The doors' generated half: export stubs, the table, the wrappers around handlers, the version script."""

TABLE_HEADER = """\
// Generated from interpose/cuda.hooks: do not edit.
// The number of each entry point, in the order of the names.
#pragma once

#include <cstdint>

namespace tencache::interpose {

inline constexpr unsigned kEntryPointCount = %(count)d;

enum class EntryIndex : std::uint16_t {
%(indices)s
};

}  // namespace tencache::interpose
"""

TABLE_SOURCE = """\
// Generated from interpose/cuda.hooks: do not edit.
#include "interpose/entry_points.hpp"

#include <cuda.h>
#include <cudaProfiler.h>

#include "interpose/handlers.hpp"
#include "interpose/pass_through.hpp"

namespace tencache::doors {

// Each door hands its handler the genuine function and what stream 0 means in this flavour.
%(doors)s

%(retries)s

}  // namespace tencache::doors

namespace tencache::interpose {

const EntryPoint kEntryPoints[kEntryPointCount] = {
%(rows)s
};

}  // namespace tencache::interpose
"""

MAP = """\
/* Generated from interpose/cuda.hooks: do not edit. */
TENCACHE {
  global:
%(names)s
  local: *;
};
GLIBC_2.2.5 { global: dlsym; dlvsym; };
GLIBC_2.34 { global: dlsym; dlvsym; } GLIBC_2.2.5;
"""


def sorted_entries(entries):
    return sorted(entries, key=lambda entry: entry.symbol)


def _door(entry, signature):
    flavour = "kPerThread" if entry.suffix.endswith(("_ptsz", "_ptds")) else "kLegacy"
    separator = ", " if signature.parameters else ""
    return (
        f"CUresult {entry.symbol}({signature.declaration}) noexcept {{\n"
        f"  return handlers::{entry.base}(genuine<interpose::EntryIndex::{entry.symbol}, &::{entry.symbol}>"
        f"(DefaultStream::{flavour}){separator}{signature.arguments});\n}}")


def _retry(entry, signature):
    separator = ", " if signature.parameters else ""
    return (
        f"CUresult {entry.symbol}({signature.declaration}) noexcept {{\n"
        f"  return pass_with_retry(genuine<interpose::EntryIndex::{entry.symbol}, &::{entry.symbol}>"
        f"(DefaultStream::kLegacy){separator}{signature.arguments});\n}}")


def _row(entry):
    door = "nullptr"
    if entry.handling in ("door", "retry"):
        door = f"reinterpret_cast<void*>(&doors::{entry.symbol})"
    return f'    {{"{entry.symbol}", "{entry.klass}", Handling::k{entry.handling.capitalize()}, {door}}},'


def emit_table_header(entries, signatures):
    del signatures
    ordered = sorted_entries(entries)
    return TABLE_HEADER % {"count": len(ordered), "indices": "\n".join(f"  {e.symbol}," for e in ordered)}


def emit_table_source(entries, signatures):
    ordered = sorted_entries(entries)

    def wrappers(handling, make):
        return "\n".join(make(e, signatures[e.symbol]) for e in ordered if e.handling == handling)

    return TABLE_SOURCE % {
        "doors": wrappers("door", _door),
        "retries": wrappers("retry", _retry),
        "rows": "\n".join(_row(e) for e in ordered),
    }


def emit_version_script(entries, signatures):
    del signatures
    return MAP % {"names": "\n".join(f"    {e.symbol};" for e in sorted_entries(entries))}


def emit_assembly(entries, signatures):
    """`ENTRY index, name, counted` for interpose/trampolines.S, which says what an entry is."""
    del signatures
    lines = ["/* Generated from interpose/cuda.hooks: do not edit. */"]
    for index, entry in enumerate(sorted_entries(entries)):
        counted = 1 if entry.handling in ("count", "retry") else 0
        lines.append(f"ENTRY {index}, {entry.symbol}, {counted}")
    return "\n".join(lines) + "\n"
