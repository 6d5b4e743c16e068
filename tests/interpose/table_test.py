#!/usr/bin/env python3
"""Tests of interpose/gen: the table against the driver's names, and what a wrong table is told.

usage: table_test.py GEN_FOLDER TOOLKIT_STUB_LIBRARY NM COMPILER INCLUDE_FOLDER
"""

import os
import re
import subprocess
import sys
import tempfile

GEN, STUB, NM, COMPILER, INCLUDE = sys.argv[1:6]
sys.path.insert(0, GEN)
import emit_softgpu  # noqa: E402
import hooks  # noqa: E402
import signatures  # noqa: E402

# The look-up itself is preload_test's whole subject.
KNOWN_BY_OTHERS = {"cuGetProcAddress"}

TABLE = os.path.join(GEN, "..", "cuda.hooks")


def exported_by_toolkit():
    """What the stub library exports; a toolkit without one declares the same names in its headers."""
    if not os.path.exists(STUB):
        return sorted(signatures.parse(signatures.preprocess(COMPILER.split(), INCLUDE)))
    done = subprocess.run([NM, "-D", "--defined-only", STUB], capture_output=True, text=True, check=True)
    return sorted(line.split()[2] for line in done.stdout.splitlines() if line.split()[2].startswith("cu"))


def rejects(text, expected):
    with tempfile.NamedTemporaryFile("w", suffix=".hooks") as file:
        file.write(text)
        file.flush()
        try:
            hooks.read_table(file.name)
        except hooks.TableError as error:
            return expected in str(error)
    return False


def the_table_knows_every_entry_point_of_the_toolkit():
    complaints = hooks.compare_with_symbols(hooks.read_table(TABLE), exported_by_toolkit())
    print("\n".join("# " + complaint for complaint in complaints))
    return not complaints


def the_headers_declare_what_the_table_knows():
    declared = signatures.parse(signatures.preprocess(COMPILER.split(), INCLUDE))
    return not hooks.compare_with_symbols(hooks.read_table(TABLE), declared)


def the_checked_in_names_are_cuda_13_0s():
    entries = hooks.read_table(TABLE)
    names = hooks.read_symbols(os.path.join(GEN, "driver_symbols.txt"))
    return len(names) == 637 and len({e.base for e in entries}) == 450


def a_new_entry_point_is_named():
    complaints = hooks.compare_with_symbols(hooks.read_table(TABLE), exported_by_toolkit() + ["cuBrandNew_v2"])
    return complaints == ["'cuBrandNew_v2' is an entry point that the table does not know"]


def a_vanished_entry_point_is_named():
    names = [name for name in exported_by_toolkit() if name != "cuMemAlloc_v2"]
    complaints = hooks.compare_with_symbols(hooks.read_table(TABLE), names)
    return complaints == ["'cuMemAlloc_v2' is in the table but no entry point"]


def every_row_with_a_handler_has_a_test():
    """What passes on with a word to the runtime is one test over all such rows (doors_table_test); a handler of its
    own is called by name: `DOOR(cuName)`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    text = "".join(open(os.path.join(folder, name), encoding="utf-8").read()
                   for name in os.listdir(folder) if name.startswith("doors_") and name.endswith(".cpp"))
    called = set(re.findall(r"\bDOOR\((cu\w+)\)", text)) | KNOWN_BY_OTHERS
    handled = [e for e in hooks.read_table(TABLE) if e.handling not in ("count", *hooks.PASSES)]
    rows = {e.base for e in handled}
    tested = {e.base for e in handled if e.handling in (*hooks.ENQUEUES, "retry") or e.symbol in called}
    for base in sorted(rows - tested):
        print("# no test calls a door of", base)
    print(f"# {len(rows)} rows with a handler, {len(tested)} with a test")
    return rows == tested


def wrong_rows_are_refused_with_their_line():
    return (rejects("cuInit | . | CONTEXT\n", ":1: four or five cells")
            and rejects("cuInit | . | CONTEXT | open\n", "unknown handling 'open'")
            and rejects("cuInit | . | CONTEXT | door _v2=count\n", "a suffix '_v2' that the row does not have")
            and rejects("cuInit | . | PASS | count\n", "needs a reason")
            and rejects("cuInit | . | CONTEXT | door\ncuInit | . | CONTEXT | door\n", "twice"))


def signatures_are_those_of_the_exact_names():
    read = signatures.read(COMPILER.split(), INCLUDE, ["cuMemAlloc", "cuMemAlloc_v2", "cuMemcpyAsync_ptsz"])
    return ("CUdeviceptr_v1 *dptr" in read["cuMemAlloc"].declaration
            and "size_t bytesize" in read["cuMemAlloc_v2"].declaration
            and read["cuMemcpyAsync_ptsz"].arguments == "dst, src, ByteCount, hStream")


def a_symbol_without_prototype_is_named():
    try:
        signatures.read(COMPILER.split(), INCLUDE, ["cuInit", "cuBrandNew"])
    except signatures.SignatureError as error:
        return "cuBrandNew" in str(error) and "cuInit" not in str(error)
    return False


def softgpu_definitions_must_be_exported_names():
    entries = hooks.read_table(TABLE)
    read = signatures.read(COMPILER.split(), INCLUDE, [e.symbol for e in entries])
    try:
        emit_softgpu.emit_source(entries, read, {"cuInit", "cuMisspelt"}, {}, "x.hpp")
    except ValueError as error:
        return "cuMisspelt" in str(error)
    return False


TESTS = [
    the_table_knows_every_entry_point_of_the_toolkit,
    the_headers_declare_what_the_table_knows,
    the_checked_in_names_are_cuda_13_0s,
    a_new_entry_point_is_named,
    a_vanished_entry_point_is_named,
    every_row_with_a_handler_has_a_test,
    wrong_rows_are_refused_with_their_line,
    signatures_are_those_of_the_exact_names,
    a_symbol_without_prototype_is_named,
    softgpu_definitions_must_be_exported_names,
]

print(f"1..{len(TESTS)}")
for number, test in enumerate(TESTS, 1):
    print("ok" if test() else "not ok", number, "-", test.__name__.replace("_", " "))
