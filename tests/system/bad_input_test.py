"""Bad input, as TAP: the program is given the driver's own codes, and what faults faults alike.

Usage: bad_input_test.py PROGRAM LIBRARY PRELOAD
"""

import sys

import tap
from side_by_side import DETACHED, Programs

# What is run, with which options, what is said on standard error.
CASES = {
    "codes, mapped": ("codes", {}),
    "codes, detached": ("codes", DETACHED),
    "a kernel at a wild address, mapped": ("wild_kernel", {}, ["illegal write of address 0x123456000"]),
    "a kernel at a wild address, detached": ("wild_kernel", DETACHED, ["illegal write of address 0x123456000"]),
    "a kernel at freed memory, detached": ("freed_kernel", DETACHED, ["illegal write"]),
    "a kernel at small freed memory, detached": ("freed_kernel small", DETACHED, ["illegal write"]),
    "a wrong value is said and the default kept": ("codes", {"TENCACHE_HBM": "much"}, ["TENCACHE_HBM", "much", "auto"]),
    "an unknown name is said with the nearest": ("codes", {"TENCACHE_HBN": "8MiB"}, ["TENCACHE_HBN", "TENCACHE_HBM"]),
}


def main():
    programs = Programs(*sys.argv[1:])
    print(f"1..{len(CASES)}")
    for number, (name, case) in enumerate(CASES.items(), 1):
        good, (alone, under) = programs.same(*case)
        tap.report(number, name, good,
                   f"alone:\n{alone.stdout}{alone.stderr}\nunder tencache:\n{under.stdout}{under.stderr}")


if __name__ == "__main__":
    main()
