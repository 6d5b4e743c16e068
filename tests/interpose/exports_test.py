#!/usr/bin/env python3
"""Tests what the preload shows to the loader: needs, exports, symbol versions.

usage: exports_test.py LIBTENCACHE GEN_FOLDER READELF
"""

import os
import re
import subprocess
import sys

LIBRARY, GEN, READELF = sys.argv[1:4]
sys.path.insert(0, GEN)
import hooks  # noqa: E402

NEWEST_GLIBC = (2, 28)  # RHEL 8; Ubuntu 20.04 has 2.31
C_LIBRARY = {"libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2"}


def readelf(*options):
    done = subprocess.run([READELF, "--wide", *options, LIBRARY], capture_output=True, text=True, check=True)
    return done.stdout


def dynamic_symbols():
    """(name with version, defined, binding) of each dynamic symbol."""
    for line in readelf("--dyn-syms").splitlines():
        cells = line.split()
        if len(cells) >= 8 and cells[0].rstrip(":").isdigit():
            yield cells[7], cells[6] != "UND", cells[4]


def it_needs_the_c_library_alone():
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic")))
    print("# needs", *sorted(needed))
    return needed <= C_LIBRARY and "libc.so.6" in needed


def its_soname_is_the_drivers():
    return re.findall(r"\(SONAME\).*\[(.*)\]", readelf("--dynamic")) == ["libcuda.so.1"]


def it_is_never_unloaded():
    return "NODELETE" in readelf("--dynamic")


def it_exports_exactly_the_table_and_the_look_ups():
    entries = hooks.read_table(os.path.join(GEN, "..", "cuda.hooks"))
    expected = {f"{entry.symbol}@@TENCACHE" for entry in entries}
    expected |= {f"{name}{version}" for name in ("dlsym", "dlvsym") for version in ("@GLIBC_2.2.5", "@@GLIBC_2.34")}
    exported = {name for name, defined, _ in dynamic_symbols() if defined}
    exported -= {"TENCACHE", "GLIBC_2.2.5", "GLIBC_2.34"}  # the version definitions themselves
    for name in sorted(expected ^ exported):
        print("#", "missing" if name in expected else "too many:", name)
    return expected == exported


def no_symbol_is_unique_in_the_process():
    return all(binding != "UNIQUE" for _, _, binding in dynamic_symbols())


def no_symbol_needs_a_newer_glibc():
    """What a newer compiler or a new call asks for belongs into interpose/older_glibc."""
    needed = {name: tuple(map(int, found.split("."))) for name, defined, _ in dynamic_symbols() if not defined
              for found in re.findall(r"@GLIBC_([0-9.]+)", name)}
    for name in sorted(name for name, version in needed.items() if version > NEWEST_GLIBC):
        print("# too new:", name)
    print("# newest", max(needed.values()))
    return max(needed.values()) <= NEWEST_GLIBC


def a_process_without_cuda_does_not_notice_it():
    done = subprocess.run(["/bin/true"], env={"LD_PRELOAD": LIBRARY, "LD_BIND_NOW": "1"}, capture_output=True, text=True,
                          check=False)
    return (done.returncode, done.stdout, done.stderr) == (0, "", "")


TESTS = [
    it_needs_the_c_library_alone,
    its_soname_is_the_drivers,
    it_is_never_unloaded,
    it_exports_exactly_the_table_and_the_look_ups,
    no_symbol_is_unique_in_the_process,
    no_symbol_needs_a_newer_glibc,
    a_process_without_cuda_does_not_notice_it,
]

print(f"1..{len(TESTS)}")
for number, test in enumerate(TESTS, 1):
    print("ok" if test() else "not ok", number, "-", test.__name__.replace("_", " "))
