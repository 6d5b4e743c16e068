"""From which CUDA version on each exported form answers a request to cuGetProcAddress, read from cudaTypedefs.h.

The header has one type per form, PFN_cuName_v12000 or PFN_cuName_v12000_ptsz, but does not say which exported
symbol it is: the n-th version of a name is its n-th suffix, plain forms and per-thread-default-stream forms
each by themselves.
"""

import os
import re

HEADERS = ("cudaTypedefs.h", "cudaProfilerTypedefs.h")


class VersionError(Exception):
    pass


def _declared(include_folder):
    versions = {}
    for header in HEADERS:
        with open(os.path.join(include_folder, header), encoding="utf-8") as file:
            for base, version, flavour in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)", file.read()):
                versions.setdefault((base, flavour), set()).add(int(version))
    return versions


def read(include_folder, entries):
    """symbol -> (base name, first CUDA version, whether it is a per-thread-default-stream form)."""
    forms = {}
    for entry in entries:
        flavour = re.search(r"(_ptsz|_ptds)?$", entry.suffix)[0]
        forms.setdefault((entry.base, flavour), []).append(entry.symbol)
    declared = _declared(include_folder)
    result = {}
    for (base, flavour), symbols in forms.items():
        versions = sorted(declared.get((base, flavour), ()))
        if len(versions) != len(symbols):
            raise VersionError(f"{base}{flavour}: {len(symbols)} symbols but versions {versions}")
        for symbol, version in zip(sorted(symbols, key=len), versions):
            result[symbol] = (base, version, bool(flavour))
    return result
