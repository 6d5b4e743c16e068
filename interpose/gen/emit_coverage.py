"""The coverage table: what works, what passes through, what is refused, one row per base name."""

WORDS = {
    "door": "works",
    "enqueue": "ordered, passes through, counted",
    "enqueue-opaque": "taken for touching anything, passes through, counted",
    "host-function": "ordered, passes through, counted",
    "stream-wait": "ordered, passes through, counted",
    "retry": "passes through, counted; tried again after out of memory",
    "count": "passes through, counted",
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
