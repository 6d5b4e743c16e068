"""What tools/count_cases.py counts, as TAP. Usage: count_cases_test.py COUNT_CASES."""

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
    ("nothing ran", "<testsuites></testsuites>", "0 passed, 0 failed", 1),
    ("no results", None, "", 1),
]


def run(script, text):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(text or "")
        file.flush()
        done = subprocess.run([sys.executable, script, file.name], capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.returncode


def main():
    print(f"1..{len(CASES)}")
    for number, (title, text, line, code) in enumerate(CASES, 1):
        seen = run(sys.argv[1], text)
        print(f"{'ok' if seen == (line, code) else 'not ok'} {number} {title}")


if __name__ == "__main__":
    main()
