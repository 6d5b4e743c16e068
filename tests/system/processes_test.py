"""How processes begin and end with CUDA in them, as TAP: they end as they do without tencache, having said the same.

Usage: processes_test.py PROGRAM LIBRARY PRELOAD
"""

import sys

import tap
from side_by_side import Programs, TENCACHE

SCENARIOS = ("never", "late", "from_a_thread", "forked_before", "forked_after", "forked_under_load", "exec_chain", "exec_self",
             "destructor_frees", "handlers_free", "exits_at_once", "exits_quickly", "killed", "aborted",
             "exits_from_a_thread", "exits_under_load", "closed_and_opened")


def main():
    programs = Programs(*sys.argv[1:])
    print(f"1..{len(SCENARIOS) + 1}")
    for number, scenario in enumerate(SCENARIOS, 1):
        alone = programs.execute(scenario, {})
        under = programs.execute(scenario, TENCACHE | programs.preload)
        tap.report(number, scenario, (alone.returncode, alone.stdout) == (under.returncode, under.stdout),
                   f"alone:\n{alone}\nunder tencache:\n{under}")
    silent = programs.execute("never", {"TENCACHE_SUMMARY": "on"} | programs.preload)
    tap.report(len(SCENARIOS) + 1, "who never uses CUDA hears nothing", silent.stderr == "", silent.stderr)


if __name__ == "__main__":
    main()
