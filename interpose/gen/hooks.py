"""Reads interpose/cuda.hooks: which symbols the driver exports, what class each has, what we do with it."""

import dataclasses
import re

# The handlings that only tell the runtime what is enqueued: kind of access, and whether it may touch anything.
ENQUEUES = {
    "enqueue": ("kOther", "false"),
    "launch-opaque": ("kLaunch", "true"),
    "host-function": ("kHostFunction", "false"),
    "stream-wait": ("kStreamWait", "false"),
}
# Straight on to the driver, not counted.
PASSES = ("read-later", "pass")
HANDLINGS = ("door", *ENQUEUES, "retry", "count", "refused", *PASSES)
PASS_CLASSES = ("GRAPH-PASS", "STREAM-PASS", "CONTEXT-PASS", "MODULE-PASS", "PASS")


@dataclasses.dataclass(frozen=True)
class EntryPoint:
    """One exported symbol."""

    symbol: str
    base: str
    suffix: str
    klass: str
    handling: str
    why: str


class TableError(Exception):
    pass


def _parse_handling(text, suffixes, where):
    words = text.split()
    exceptions = dict(word.split("=") for word in words[1:])
    for handling in [words[0], *exceptions.values()]:
        if handling not in HANDLINGS:
            raise TableError(f"{where}: unknown handling '{handling}'")
    for suffix in exceptions:
        if suffix not in suffixes:
            raise TableError(f"{where}: exception for a suffix '{suffix}' that the row does not have")
    return {suffix: exceptions.get(suffix, words[0]) for suffix in suffixes}


def _parse_row(line, where):
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) not in (4, 5):
        raise TableError(f"{where}: four or five cells expected")
    base, suffix_text, klass, handling_text = cells[:4]
    why = cells[4] if len(cells) == 5 else ""
    suffixes = suffix_text.split()
    handlings = _parse_handling(handling_text, suffixes, where)
    if klass in PASS_CLASSES and set(handlings.values()) != {"pass"} and not why:
        raise TableError(f"{where}: class {klass} passes; anything else needs a reason")
    return [
        EntryPoint(base + ("" if s == "." else s), base, "" if s == "." else s, klass, handlings[s], why)
        for s in suffixes
    ]


def read_table(path):
    """All entry points in the table's order; raises TableError with the line at fault."""
    entries = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            if line:
                entries += _parse_row(line, f"{path}:{number}")
    seen = set()
    for entry in entries:
        if entry.symbol in seen:
            raise TableError(f"{path}: '{entry.symbol}' is in the table twice")
        if not re.fullmatch(r"cu[A-Z]\w*", entry.symbol):
            raise TableError(f"{path}: '{entry.symbol}' is no driver name")
        seen.add(entry.symbol)
    return entries


def read_symbols(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def compare_with_symbols(entries, symbols):
    """Complaints, one a line: driver symbols that the table lacks, table symbols that the driver lacks."""
    known = {entry.symbol for entry in entries}
    missing = [f"'{s}' is an entry point that the table does not know" for s in symbols if s not in known]
    extra = [f"'{s}' is in the table but no entry point" for s in sorted(known - set(symbols))]
    return missing + extra
