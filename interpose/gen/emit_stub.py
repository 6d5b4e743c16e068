"""A driver that does nothing: each symbol counts its calls and answers what the test has set.

Its cuGetProcAddress follows the documented rules of version and stream flag, by the versions that the toolkit
declares for each form.
"""

import hooks

HAND_WRITTEN = ("cuInit", "cuGetProcAddress", "cuGetProcAddress_v2", "cuDriverGetVersion", "cuDeviceGetCount",
                "cuGetExportTable")

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
