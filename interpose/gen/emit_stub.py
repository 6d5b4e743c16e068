"""A driver that does nothing: every symbol is exported, counts its calls and answers what stub::answer says."""

HAND_WRITTEN = ("cuInit", "cuGetProcAddress", "cuGetProcAddress_v2", "cuDriverGetVersion", "cuGetExportTable",
                "cuGetErrorName", "cuGetErrorString")

SOURCE = """\
// Generated from interpose/cuda.hooks: do not edit.
#include <cuda.h>
#include <cudaProfiler.h>

#include "tests/interpose/stub_driver.hpp"

extern "C" {
%(functions)s
}

namespace stub {
const Symbol kSymbols[] = {
%(rows)s
};
const unsigned kSymbolCount = %(count)d;
}  // namespace stub
"""


def _function(symbol, index, signature):
    types = ", ".join(p.type for p in signature.parameters) or "void"
    return (f'__attribute__((visibility("default"))) CUresult {symbol}({types}) '
            f"{{ return stub::called({index}); }}")


def emit_source(entries, signatures):
    symbols = sorted(entry.symbol for entry in entries)
    functions = "\n".join(
        _function(s, i, signatures[s]) for i, s in enumerate(symbols) if s not in HAND_WRITTEN)
    rows = "\n".join(f'    {{"{s}", reinterpret_cast<void*>(&{s})}},' for s in symbols)
    return SOURCE % {"functions": functions, "rows": rows, "count": len(symbols)}
