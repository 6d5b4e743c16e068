"""Pools, contexts and devices, as TAP: the program is told what the driver alone tells it, in either mode.

Usage: same_answers_test.py PROGRAM LIBRARY PRELOAD
"""

import sys

import tap
from side_by_side import DETACHED, Programs

SCENARIOS = ("pool_counters", "pool_kinds", "frees_across", "second_context", "reset", "from_threads", "devices")


def main():
    programs = Programs(*sys.argv[1:])
    programs.base["SOFTGPU_DEVICES"] = "2"
    cases = [(scenario, mode) for scenario in SCENARIOS for mode in ("mapped", "detached")]
    print(f"1..{len(cases)}")
    for number, (scenario, mode) in enumerate(cases, 1):
        good, (alone, under) = programs.same(scenario, DETACHED if mode == "detached" else {})
        tap.report(number, f"{scenario}, {mode}", good,
                   f"alone:\n{alone.stdout}{alone.stderr}\nunder tencache:\n{under.stdout}{under.stderr}")


if __name__ == "__main__":
    main()
