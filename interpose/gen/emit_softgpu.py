"""softgpu's side of the names: a prototype for every exported symbol, and the exports themselves.

What softgpu implements is found by reading its sources: a definition `CUresult cuName(` in namespace
softgpu::api, under the exact exported name. A per-thread-default-stream form that is not defined itself is its
plain form with `per_thread_default_stream` set; every other symbol is refused by name.
"""

import re

HEADER = """\
// Generated from interpose/cuda.hooks: do not edit.
// Prototypes of every exported driver symbol in namespace softgpu::api, where softgpu defines those that it has.
#pragma once

#include <cuda.h>
#include <cudaProfiler.h>

namespace softgpu::api {

// True while a per-thread-default-stream form (_ptsz, _ptds) runs: stream 0 means CU_STREAM_PER_THREAD.
extern thread_local bool per_thread_default_stream;

// The answer of a symbol that softgpu does not have: says its name once, CUDA_ERROR_NOT_SUPPORTED.
CUresult refuse(const char* symbol) noexcept;

// Before an entry point runs: whether it is to fail on purpose. `symbol` is its place in kExportedSymbols.
CUresult enter(unsigned symbol) noexcept;

struct ExportedSymbol {
  const char* name;
  const char* base;  // what cuGetProcAddress is asked for
  int version;       // from which CUDA version on
  bool per_thread_default_stream;
  bool implemented;
  void* address;
};
inline constexpr unsigned kExportedSymbolCount = %(count)d;
// Sorted by name; also what a one-executable build looks entry points up in.
extern const ExportedSymbol kExportedSymbols[kExportedSymbolCount];

%(prototypes)s

}  // namespace softgpu::api
"""

SOURCE = """\
// Generated from interpose/cuda.hooks: do not edit.
#include "%(header)s"

namespace softgpu::api {

thread_local bool per_thread_default_stream = false;

namespace {
struct PerThreadDefaultStream {
  PerThreadDefaultStream() { per_thread_default_stream = true; }
  ~PerThreadDefaultStream() { per_thread_default_stream = false; }
};
}  // namespace

}  // namespace softgpu::api

#ifdef SOFTGPU_EXPORTS
#define SOFTGPU_SYMBOL(name) name
#define SOFTGPU_ADDRESS(name) reinterpret_cast<void*>(&::name)
extern "C" {
#else
#define SOFTGPU_SYMBOL(name) exported_##name
#define SOFTGPU_ADDRESS(name) reinterpret_cast<void*>(&exported_##name)
namespace softgpu::api {
#endif

%(exports)s

}

namespace softgpu::api {
const ExportedSymbol kExportedSymbols[kExportedSymbolCount] = {
%(rows)s
};
}  // namespace softgpu::api
"""


def implemented_in(paths):
    names = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            names |= set(re.findall(r"^CUresult (?:api::)?(cu[A-Z]\w*)\(", file.read(), re.MULTILINE))
    return names


def plain_form(symbol):
    return re.sub(r"_pt[ds][sz]$", "", symbol)


def _body(symbol, signature, implemented, index):
    enter = f"if (const CUresult refused = softgpu::api::enter({index}); refused != CUDA_SUCCESS) return refused; "
    if symbol in implemented:
        return f"{enter}return softgpu::api::{symbol}({signature.arguments});"
    plain = plain_form(symbol)
    if plain in implemented:
        return (f"{enter}softgpu::api::PerThreadDefaultStream scope; "
                f"return softgpu::api::{plain}({signature.arguments});")
    return f'return softgpu::api::refuse("{symbol}");'


def _unnamed(signature):
    return ", ".join(p.type for p in signature.parameters) or "void"


def _export(symbol, signature, implemented, index):
    body = _body(symbol, signature, implemented, index)
    declaration = _unnamed(signature) if "refuse(" in body else signature.declaration
    return (f'__attribute__((visibility("default"))) CUresult SOFTGPU_SYMBOL({symbol})({declaration}) '
            f"{{ {body} }}")


def emit_header(entries, signatures):
    symbols = sorted(entry.symbol for entry in entries)
    prototypes = "\n".join(f"CUresult {s}({signatures[s].declaration});" for s in symbols)
    return HEADER % {"count": len(symbols), "prototypes": prototypes}


def _row(entry, implemented, versions):
    base, version, per_thread = versions[entry.symbol]
    has = entry.symbol in implemented or plain_form(entry.symbol) in implemented
    return (f'    {{"{entry.symbol}", "{base}", {version}, {str(per_thread).lower()}, {str(has).lower()}, '
            f"SOFTGPU_ADDRESS({entry.symbol})}},")


def emit_source(entries, signatures, implemented, versions, header):
    symbols = sorted(entry.symbol for entry in entries)
    unknown = implemented - set(symbols)
    if unknown:
        raise ValueError("softgpu defines what the driver does not export: " + ", ".join(sorted(unknown)))
    exports = "\n".join(_export(s, signatures[s], implemented, i) for i, s in enumerate(symbols))
    rows = "\n".join(_row(e, implemented, versions) for e in sorted(entries, key=lambda e: e.symbol))
    return SOURCE % {"header": header, "exports": exports, "rows": rows}
