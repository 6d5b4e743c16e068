"""What works, what passes through, what is refused: one row per base name, and one per family of them."""

WORDS = {
    "door": "works",
    "enqueue": "ordered, passes through, counted",
    "launch-opaque": "taken for touching anything, passes through, counted",
    "host-function": "ordered, passes through, counted",
    "stream-wait": "ordered, passes through, counted",
    "retry": "passes through, counted; tried again after out of memory",
    "count": "passes through, counted",
    "refused": "passes through, counted; refused for memory that is managed",
    "read-later": "works: passes through, read when the graph is instantiated",
    "pass": "passes through",
}


def emit_coverage(entries, signatures):
    del signatures
    bases = {}
    for entry in entries:
        bases.setdefault(entry.base, []).append(entry)
    lines = ["# Driver entry points", "", "Generated from interpose/cuda.hooks.", "",
             "| function | forms | class | under tencache | why |", "|---|---|---|---|---|"]
    for base in sorted(bases):
        forms = bases[base]
        first = forms[-1]
        others = [f"{e.suffix or 'plain'}: {WORDS[e.handling]}" for e in forms if e.handling != first.handling]
        answer = "; ".join([WORDS[first.handling], *others])
        suffixes = " ".join(e.suffix or "·" for e in forms)
        lines.append(f"| {base} | {suffixes} | {first.klass} | {answer} | {first.why} |")
    return "\n".join(lines) + "\n"


# Class of the table -> the family's name. A class that is passed through belongs to the family before it.
FAMILIES = {
    "ALLOC": "allocations", "FREE": "frees", "POOL": "pools", "HOSTMEM": "host memory", "ARRAY": "arrays",
    "MANAGED": "managed memory", "VMM": "the program's virtual memory", "SHARE": "sharing",
    "DESCRIPTOR": "descriptors", "QUERY": "questions about memory", "LAUNCH": "launches", "COPY": "copies",
    "MEMSET": "memsets", "MEMOP": "values in memory", "GRAPH-BUILD": "graphs", "GRAPH-READ": "graphs",
    "GRAPH-PASS": "graphs", "STREAM": "streams and events", "STREAM-PASS": "streams and events",
    "CONTEXT": "devices and contexts", "CONTEXT-PASS": "devices and contexts", "MODULE": "modules",
    "MODULE-PASS": "modules", "ENTRY": "look-up", "PASS": "errors, logs, profiler, texture settings",
}
PASSING = ("retry", "count", "pass")


def families(entries):
    """family -> entry points that work, pass through, are refused."""
    sums = {family: [0, 0, 0] for family in FAMILIES.values()}
    for entry in entries:
        kind = 2 if entry.handling == "refused" else 1 if entry.handling in PASSING else 0
        sums[FAMILIES[entry.klass]][kind] += 1
    return sums


def emit_families(entries, signatures):
    """The README's part."""
    del signatures
    sums = families(entries)
    rows = [f"| {family} | {works} | {passes} | {refused} |" for family, (works, passes, refused) in sums.items()]
    whole = [sum(column) for column in zip(*sums.values())]
    return "\n".join(["| entry points of CUDA 13.0 | work | pass through | refused |", "|---|---|---|---|", *rows,
                      "| **all** | {} | {} | {} |".format(*whole)]) + "\n"


FAMILIES_HEADER = """\
// Generated from interpose/cuda.hooks: do not edit.
// How many entry points of each family work, pass through, are refused.
#pragma once

namespace tencache::doctor {

struct DoorFamily {
  const char* name;
  unsigned work;
  unsigned pass_through;
  unsigned refused;
};
inline constexpr DoorFamily kDoorFamilies[] = {
%s
};

}  // namespace tencache::doctor
"""


def emit_families_header(entries, signatures):
    del signatures
    rows = [f'    {{"{family}", {", ".join(map(str, counts))}}},' for family, counts in families(entries).items()]
    return FAMILIES_HEADER % "\n".join(rows)
