"""What tools/count_cases.py counts, as TAP. Usage: count_cases_test.py COUNT_CASES."""

import json
import subprocess
import sys
import tempfile

CASES = [
    ("all pass", "<testsuites><testsuite><testcase name='a'/><testcase name='b'/></testsuite></testsuites>",
     "2 passed, 0 failed", 0),
    ("one fails", "<testsuites><testsuite failures='1'><testcase name='a'/><testcase name='b'><failure/></testcase>"
     "</testsuite></testsuites>", "1 passed, 1 failed", 1),
    ("an error fails", "<testsuites><testsuite errors='1'><testcase name='a'><error/></testcase></testsuite></testsuites>",
     "0 passed, 1 failed", 1),
    ("a skipped case is not passed", "<testsuites><testsuite><testcase name='a'><skipped/></testcase><testcase name='b'/>"
     "</testsuite></testsuites>", "1 passed, 0 failed, 1 skipped", 0),
    ("a suite that breaks off", "<testsuites><testsuite errors='1'><testcase name='a'/></testsuite></testsuites>",
     "1 passed, 1 failed", 1),
    ("an executable is stopped before it writes", "<testsuites><testsuite name='p'><testcase name='p:unit / a'/>"
     "<testcase name='p:unit / b'/></testsuite></testsuites>", "1 passed, 1 failed", 1, {"p:unit / a": "TIMEOUT"}),
    ("an executable is stopped, its cases are an earlier run's", "<testsuites><testsuite name='p.p:unit / a.S'>"
     "<testcase name='x'/></testsuite></testsuites>", "1 passed, 1 failed", 1, {"p:unit / a": "TIMEOUT"}),
    ("a failed executable is counted by its case", "<testsuites><testsuite name='p.p:unit / a.S' failures='1'>"
     "<testcase name='x'><failure/></testcase></testsuite></testsuites>", "0 passed, 1 failed", 1, {"p:unit / a": "FAIL"}),
    ("nothing ran", "<testsuites></testsuites>", "0 passed, 0 failed", 1),
    ("no results", None, "", 1),
]


def run(script, text, ends):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as cases, tempfile.NamedTemporaryFile("w") as log:
        cases.write(text or "")
        cases.flush()
        log.writelines(json.dumps({"name": name, "result": result}) + "\n" for name, result in ends.items())
        log.flush()
        command = [sys.executable, script, cases.name, log.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.returncode


def main():
    print(f"1..{len(CASES)}")
    for number, (title, text, line, code, *ends) in enumerate(CASES, 1):
        seen = run(sys.argv[1], text, ends[0] if ends else {})
        print(f"{'ok' if seen == (line, code) else 'not ok'} {number} {title}")


if __name__ == "__main__":
    main()
