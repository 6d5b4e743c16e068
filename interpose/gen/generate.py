#!/usr/bin/env python3
"""Makes from the table of entry points one of the files named in OUTPUTS. Run by the build."""

import argparse
import os
import shlex
import sys

import emit_coverage
import emit_doors
import emit_softgpu
import emit_stub
import hooks
import signatures
import versions

OUTPUTS = {
    "handlers": emit_doors.emit_handlers,
    "table-header": emit_doors.emit_table_header,
    "table-source": emit_doors.emit_table_source,
    "version-script": emit_doors.emit_version_script,
    "assembly": emit_doors.emit_assembly,
    "coverage": emit_coverage.emit_coverage,
    "families": emit_coverage.emit_families,
    "families-header": emit_coverage.emit_families_header,
    "softgpu-header": emit_softgpu.emit_header,
    "softgpu-source": None,
    "stub-source": None,
    "older-driver-map": None,
    "door-calls": emit_stub.emit_door_calls,
}


def parse_arguments():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", choices=OUTPUTS)
    parser.add_argument("--table", default=os.path.join(here, "..", "cuda.hooks"))
    parser.add_argument("--symbols", default=os.path.join(here, "driver_symbols.txt"))
    parser.add_argument("--compiler", default="c++", help="C++ compiler, with its arguments")
    parser.add_argument("--include", required=True, help="folder with cuda.h")
    parser.add_argument("--implemented", nargs="*", default=[], help="sources that define softgpu::api")
    parser.add_argument("--header", default="softgpu_api.gen.hpp", help="what softgpu-source includes")
    parser.add_argument("-o", dest="path", required=True)
    return parser.parse_args()


def make(arguments):
    entries = hooks.read_table(arguments.table)
    symbols = hooks.read_symbols(arguments.symbols)
    complaints = hooks.compare_with_symbols(entries, symbols)
    if complaints:
        raise hooks.TableError("\n".join(complaints))
    prototypes = signatures.read(shlex.split(arguments.compiler), arguments.include, symbols)
    if arguments.output == "softgpu-source":
        implemented = emit_softgpu.implemented_in(arguments.implemented)
        known_since = versions.read(arguments.include, entries)
        return emit_softgpu.emit_source(entries, prototypes, implemented, known_since, arguments.header)
    if arguments.output == "stub-source":
        return emit_stub.emit_source(entries, prototypes, versions.read(arguments.include, entries))
    if arguments.output == "older-driver-map":
        return emit_stub.emit_older_driver_map(entries, prototypes, versions.read(arguments.include, entries))
    return OUTPUTS[arguments.output](entries, prototypes)


def main():
    arguments = parse_arguments()
    try:
        text = make(arguments)
    except (hooks.TableError, signatures.SignatureError, versions.VersionError, ValueError) as error:
        sys.exit(f"generate.py: {error}")
    with open(arguments.path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
