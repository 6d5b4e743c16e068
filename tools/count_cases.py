"""Counts the cases of a Meson test run: `count_cases.py testlog.junit.xml testlog.json`.

Prints `N passed, N failed[, N skipped]` on one line and exits 1 when a case failed, an executable broke off, or none ran.
The first file has the cases, the second how each executable ended: one that was stopped may have written none.
"""

import json
import sys
import xml.etree.ElementTree as xml

FAILED, SKIPPED, PASSED = "failed", "skipped", "passed"
GOOD_ENDS = ("OK", "SKIP", "EXPECTEDFAIL")


def verdict(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return FAILED
    return SKIPPED if case.find("skipped") is not None else PASSED


def broken_executables(path):
    with open(path, encoding="utf-8") as log:
        ends = [json.loads(line) for line in log]
    return {end["name"] for end in ends if end["result"] not in GOOD_ENDS}


def count(cases, ends):
    counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
    unblamed = broken_executables(ends)  # those of which no case has failed yet
    for suite in xml.parse(cases).getroot().iter("testsuite"):
        verdicts = [FAILED if case.get("name") in unblamed else verdict(case) for case in suite.iter("testcase")]
        for found in verdicts:
            counts[found] += 1
        # A suite may fail as a whole (a crash, a time-out) with no case of its own to blame.
        broken = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        counts[FAILED] += max(0, broken - verdicts.count(FAILED))
        if broken or FAILED in verdicts:
            names = {case.get("name") for case in suite.iter("testcase")}
            unblamed = {name for name in unblamed if name not in names and f"{name}." not in suite.get("name", "")}
    counts[FAILED] += len(unblamed)
    return counts


def main():
    try:
        counts = count(*sys.argv[1:])
    except (OSError, xml.ParseError, json.JSONDecodeError) as error:
        print(f"count_cases: no test results: {error}", file=sys.stderr)
        return 1
    line = f"{counts[PASSED]} passed, {counts[FAILED]} failed"
    if counts[SKIPPED]:
        line += f", {counts[SKIPPED]} skipped"
    print(line)
    return 1 if counts[FAILED] or not counts[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main())
