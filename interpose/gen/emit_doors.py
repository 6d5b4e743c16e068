"""The doors' generated half: export stubs, the table, the wrappers around handlers, the version script."""

import hooks

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

#include "interpose/handlers.gen.hpp"
#include "interpose/pass_through.hpp"

namespace tencache::doors {

// Each hands on the genuine function, what stream 0 means in this flavour, and who called.
%(wrappers)s

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


HANDLERS_HEADER = """\
// Generated from interpose/cuda.hooks: do not edit.
// What each handler in interpose/*.cpp is called with: the genuine function, then the program's arguments.
// Thread rule: from any thread of the program. Failure rule: the driver's answers, or the runtime's.
#pragma once

#include <cuda.h>

#include "interpose/genuine.hpp"

namespace tencache::doors::handlers {

%(handlers)s

}  // namespace tencache::doors::handlers
"""


def has_door(entry):
    return entry.handling not in ("count", "refused", *hooks.PASSES)


def sorted_entries(entries):
    return sorted(entries, key=lambda entry: entry.symbol)


def _genuine(entry):
    flavour = "kPerThread" if entry.suffix.endswith(("_ptsz", "_ptds")) else "kLegacy"
    return (f"genuine<decltype(&::{entry.symbol})>(interpose::EntryIndex::{entry.symbol}, "
            f"DefaultStream::{flavour}, __builtin_return_address(0))")


def _stream(signature):
    streams = [p.name for p in signature.parameters if p.type == "CUstream"]
    return streams[0] if streams else "nullptr"


def _wrapper(entry, signature):
    call, extra = f"handlers::{entry.base}", []
    if entry.handling in hooks.ENQUEUES:
        kind, opaque = hooks.ENQUEUES[entry.handling]
        call, extra = f"enqueue<runtime::AccessKind::{kind}, {opaque}>", [_stream(signature)]
    elif entry.handling == "retry":
        call = "pass_with_retry"
    arguments = ", ".join([_genuine(entry), *extra, *(p.name for p in signature.parameters)])
    return f"CUresult {entry.symbol}({signature.declaration}) noexcept {{\n  return {call}({arguments});\n}}"


def _row(entry):
    door = f"reinterpret_cast<void*>(&doors::{entry.symbol})" if has_door(entry) else "nullptr"
    kind = {**dict.fromkeys(hooks.ENQUEUES, "Retry"), **dict.fromkeys(hooks.PASSES, "Pass"), "refused": "Count"}.get(
        entry.handling, entry.handling.capitalize())
    return f'    {{"{entry.symbol}", "{entry.klass}", Handling::k{kind}, {door}}},'


def emit_handlers(entries, signatures):
    """One declaration per base name and signature of the functions that interpose/*.cpp define."""
    lines = {}
    for entry in entries:
        if entry.handling == "door":
            signature = signatures[entry.symbol]
            types = ", ".join(p.type for p in signature.parameters)
            declaration = ", ".join([f"const Genuine<CUresult (*)({types})>& driver",
                                     *(f"{p.type} {p.name}" for p in signature.parameters)])
            lines[f"CUresult {entry.base}({declaration}) noexcept;"] = None
    return HANDLERS_HEADER % {"handlers": "\n".join(lines)}


def emit_table_header(entries, signatures):
    del signatures
    ordered = sorted_entries(entries)
    return TABLE_HEADER % {"count": len(ordered), "indices": "\n".join(f"  {e.symbol}," for e in ordered)}


def emit_table_source(entries, signatures):
    ordered = sorted_entries(entries)

    return TABLE_SOURCE % {
        "wrappers": "\n".join(_wrapper(e, signatures[e.symbol]) for e in ordered if has_door(e)),
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
        counted = 0 if entry.handling in ("door", *hooks.PASSES) else 1
        lines.append(f"ENTRY {index}, {entry.symbol}, {counted}")
    return "\n".join(lines) + "\n"
