"""Counts the cases of a Meson test run: `count_cases.py testlog.junit.xml`.

Prints `N passed, N failed[, N skipped]` on one line and exits 1 when a case failed, an executable broke off, or none ran.
"""

import sys
import xml.etree.ElementTree as xml

FAILED, SKIPPED, PASSED = "failed", "skipped", "passed"


def verdict(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return FAILED
    return SKIPPED if case.find("skipped") is not None else PASSED


def count(path):
    counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
    for suite in xml.parse(path).getroot().iter("testsuite"):
        verdicts = [verdict(case) for case in suite.iter("testcase")]
        for found in verdicts:
            counts[found] += 1
        # A suite may fail as a whole (a crash, a time-out) with no case of its own to blame.
        broken = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        counts[FAILED] += max(0, broken - verdicts.count(FAILED))
    return counts


def main():
    try:
        counts = count(sys.argv[1])
    except (OSError, xml.ParseError) as error:
        print(f"count_cases: no test results: {error}", file=sys.stderr)
        return 1
    line = f"{counts[PASSED]} passed, {counts[FAILED]} failed"
    if counts[SKIPPED]:
        line += f", {counts[SKIPPED]} skipped"
    print(line)
    return 1 if counts[FAILED] or not counts[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main())
