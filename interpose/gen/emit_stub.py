"""A driver that does nothing: each symbol counts its calls and answers what the test has set.

Its cuGetProcAddress follows the documented rules of version and stream flag, by the versions that the toolkit
declares for each form.
"""

import emit_doors
import hooks

HAND_WRITTEN = ("cuInit", "cuGetProcAddress", "cuGetProcAddress_v2", "cuDriverGetVersion", "cuDeviceGetCount",
                "cuGetExportTable")

OLDER_VERSION = 11020

SOURCE = """\
// Generated from interpose/cuda.hooks: do not edit.
#include "tests/interpose/stub_driver.hpp"

#include <cuda.h>
#include <cudaProfiler.h>

extern "C" {
%(functions)s
}

namespace stub {
const Form kForms[kFormCount] = {
%(rows)s
};
}  // namespace stub
"""

CALLS = """\
// Generated from interpose/cuda.hooks: do not edit.
#include "tests/interpose/door_calls.hpp"

#include <cuda.h>
#include <cudaProfiler.h>

namespace doors_test {

using Kind = tencache::runtime::AccessKind;

const std::vector<DoorCall>& door_calls() {
  static const std::vector<DoorCall> all{
%(rows)s
  };
  return all;
}

}  // namespace doors_test
"""


def _function(symbol, index, signature):
    types = ", ".join(p.type for p in signature.parameters) or "void"
    return (f'__attribute__((visibility("default"))) CUresult {symbol}({types}) '
            f"{{ return stub::called({index}); }}")


def emit_source(entries, signatures, versions):
    symbols = sorted(entry.symbol for entry in entries)
    functions = "\n".join(
        _function(s, i, signatures[s]) for i, s in enumerate(symbols) if s not in HAND_WRITTEN)
    rows = []
    passing = {entry.symbol for entry in entries if entry.handling in hooks.PASSES}
    for symbol in symbols:
        base, version, per_thread = versions[symbol]
        flags = ", ".join("true" if flag else "false" for flag in (per_thread, symbol in passing))
        rows.append(f'    {{"{symbol}", "{base}", {version}, {flags}, '
                    f"reinterpret_cast<void*>(&{symbol})}},")
    return SOURCE % {"functions": functions, "rows": "\n".join(rows)}


def _call(entry, signature):
    streams = [p.name for p in signature.parameters if p.type == "CUstream"]
    arguments = ", ".join("stream" if p.name in streams[:1] else "{}" for p in signature.parameters)
    return (f"[]([[maybe_unused]] void* door, [[maybe_unused]] CUstream stream) {{ "
            f"return reinterpret_cast<decltype(&::{entry.symbol})>(door)({arguments}); }}")


def emit_door_calls(entries, signatures):
    """Of each form that has a door: what the table says of it, and a call with every argument 0 but the stream."""
    rows = []
    for entry in entries:
        if emit_doors.has_door(entry):
            kind, opaque = hooks.ENQUEUES.get(entry.handling, ("kOther", "false"))
            per_thread = "true" if entry.suffix.endswith(("_ptsz", "_ptds")) else "false"
            has_stream = "true" if any(p.type == "CUstream" for p in signatures[entry.symbol].parameters) else "false"
            handled = ("kByHandler" if entry.handling == "door"
                       else "kRetried" if entry.handling == "retry" else "kEnqueued")
            rows.append(f'      {{"{entry.symbol}", Handled::{handled}, Kind::{kind}, {opaque}, {per_thread}, '
                        f"{has_stream}, {_call(entry, signatures[entry.symbol])}}},")
    return CALLS % {"rows": "\n".join(rows)}


def emit_older_driver_map(entries, signatures, versions):
    """Exports what a driver of CUDA 11.2 had: no later form, and nothing that came later."""
    del entries, signatures
    kept = sorted(symbol for symbol, (_, version, _) in versions.items() if version <= OLDER_VERSION)
    return "{ global: stub_*; " + " ".join(f"{symbol};" for symbol in kept) + " local: *; };\n"
