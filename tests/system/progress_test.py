"""Progress, as TAP: what a launch would wait for waits for the launch, in memory that does not hold it all.

Usage: progress_test.py PROGRAM LIBRARY PRELOAD

Each scenario of PROGRAM runs on softgpu alone and under tencache with a fifth of its memory in HBM: it has to end by itself, with
the same output, and its memory has to have moved. A watchdog kills what hangs.
"""

import os
import re
import subprocess
import sys

import tap

SCENARIOS = ("mutex", "later_launch", "cpu_flag", "callback")
LAYOUTS = ("many", "one")  # one: everything may be touched by each kernel, so mappings change in quiescent windows
CHAOS = (0, 7)
WATCHDOG = 60  # seconds; the slowest takes a tenth

DEVICE = {"SOFTGPU_HBM": "64MiB", "SOFTGPU_GRANULARITY": "64KiB"}
SHORT = {"TENCACHE_HBM": "640KiB", "TENCACHE_HOST": "64MiB", "TENCACHE_BLOCK_SIZE": "128KiB",
         "TENCACHE_SMALL_BLOCK_SIZE": "64KiB", "TENCACHE_SUMMARY": "on", "TENCACHE_RUN_AHEAD": "1us"}


def execute(program, environment, scenario, layout):
    try:
        return subprocess.run([program, scenario, layout], env=environment, capture_output=True, text=True, check=False,
                              timeout=WATCHDOG)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], -1, "", f"killed by the watchdog after {WATCHDOG} s\n")


def evidence(summary):
    """What the summary counts: evictions it does not, but bytes out; held by the run-ahead limit; quiescent windows."""
    found = re.search(r"out ([\d.]+) .*\n.*\n.*held by run-ahead  ([\d.]+) ms; (\d+) quiescent windows", summary)
    return tuple(map(float, found.groups())) if found else (0, 0, 0)


def main():
    program, library, preload = sys.argv[1:]
    base = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_PRELOAD"))}
    base |= DEVICE | {"LD_LIBRARY_PATH": library}
    cases = [(s, l, c) for s in SCENARIOS for l in LAYOUTS for c in CHAOS]
    print(f"1..{len(cases) + 2}")
    held = windows = 0
    for number, (scenario, layout, chaos) in enumerate(cases, 1):
        adversary = {"SOFTGPU_CHAOS": str(chaos)} if chaos else {}
        expected = execute(program, base | adversary, scenario, layout)
        done = execute(program, base | adversary | SHORT | {"LD_PRELOAD": preload}, scenario, layout)
        moved, was_held, opened = evidence(done.stderr)
        held += was_held > 0
        windows += layout == "one" and opened > 0
        good = expected.returncode == done.returncode == 0 and done.stdout == expected.stdout and moved > 0
        tap.report(number, f"{scenario} {layout} chaos={chaos or 'off'}", good, f"alone: {expected}\nunder tencache: {done}")
    tap.report(len(cases) + 1, "the run-ahead limit held some of them", held > 0)
    tap.report(len(cases) + 2, "some of them waited for a quiescent window", windows > 0)


if __name__ == "__main__":
    main()
