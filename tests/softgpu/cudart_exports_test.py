"""The runtime stand-in exports what the genuine runtime exports, under the same version. TAP.

Usage: cudart_exports_test.py OURS GENUINE
"""

import subprocess
import sys


def exports(path):
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if "@@" in line}


def main():
    ours, genuine = map(exports, sys.argv[1:3])
    print("1..2")
    for number, (title, names) in enumerate((("nothing is missing", genuine - ours), ("nothing is added", ours - genuine)), 1):
        for name in sorted(names):
            print(f"# {name}")
        print(f"{'not ok' if names else 'ok'} {number} {title}")


if __name__ == "__main__":
    main()
