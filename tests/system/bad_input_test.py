"""Bad input, as TAP: the program is given the driver's own codes, and what faults faults alike.

Usage: bad_input_test.py PROGRAM LIBRARY PRELOAD
"""

import os
import subprocess
import sys

import tap

DEVICE = {"SOFTGPU_HBM": "64MiB", "SOFTGPU_GRANULARITY": "64KiB"}
TENCACHE = {"TENCACHE_HBM": "8MiB", "TENCACHE_HOST": "64MiB", "TENCACHE_BLOCK_SIZE": "256KiB",
            "TENCACHE_SMALL_BLOCK_SIZE": "64KiB"}
DETACHED = {"TENCACHE_DETACHED": "on"}


class Programs:
    def __init__(self, program, library, preload):
        self.program, self.preload = program, {"LD_PRELOAD": preload}
        self.base = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_PRELOAD"))}
        self.base |= DEVICE | {"LD_LIBRARY_PATH": library}

    def execute(self, what, extra):
        return subprocess.run([self.program, *what.split()], env=self.base | extra, capture_output=True, text=True,
                              check=False, timeout=60)

    def same(self, what, options, said=()):
        alone = self.execute(what, {})
        under = self.execute(what, TENCACHE | options | self.preload)
        good = alone.returncode == under.returncode == 0 and alone.stdout == under.stdout
        return good and all(text in under.stderr for text in said), (alone, under)


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
