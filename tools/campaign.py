"""Trains the examples with a part of the memory they need and compares every loss and checksum.

    tools/campaign [--seeds N] [--tap] [--only TEXT]

A cell is a program, a share of its peak live bytes, mapped or detached, one or several streams. Each cell runs once as it is, then
N seeds of the adversary (SOFTGPU_CHAOS) are spread over the cells. Ends on `N runs, D differences`; --tap prints a test per run.
"""

import argparse
import collections
import itertools
import os
import pathlib
import re
import subprocess
import sys

Program = collections.namedtuple("Program", "name arguments")
Cell = collections.namedtuple("Cell", "program share mode streams")

PROGRAMS = [
    Program("gpt", "--width 64 --layers 4 --heads 4 --batch 2 --sequence 32 --steps 4"),
    Program("mlp", "--steps 3"),
]
SHARES = (100, 50, 25, 12)
MODES = ("mapped", "detached")
STREAMS = (1, 3)
ROOMY = 1 << 30
SMALLEST_BLOCK = 64 << 10
BLOCKS = 64  # a program's peak in so many blocks
TIMEOUT = 300


def kib(size):
    return f"{size >> 10}KiB"


class Bench:
    def __init__(self, build):
        self.build = build
        self.base = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_PRELOAD"))}
        self.base["LD_LIBRARY_PATH"] = str(build / "tools" / "softgpu" / "lib")
        self.expected = {}

    def execute(self, program, streams, extra):
        command = [str(self.build / "examples" / program.name / program.name), *program.arguments.split(), "--streams",
                   str(streams)]
        try:
            return subprocess.run(command, env=self.base | extra, capture_output=True, text=True, timeout=TIMEOUT,
                                  check=False, cwd=self.build)
        except subprocess.TimeoutExpired as expired:
            return subprocess.CompletedProcess(command, -1, "", f"timed out after {expired.timeout} s\n")

    def without(self, program, streams):
        """What the program prints with room for everything, and its peak live bytes."""
        key = program.name, streams
        if key not in self.expected:
            done = self.execute(program, streams, {"SOFTGPU_HBM": kib(ROOMY), "SOFTGPU_GRANULARITY": kib(SMALLEST_BLOCK)})
            peak = re.search(r"peak live bytes:? (\d+)", done.stdout)
            if done.returncode != 0 or not peak:
                sys.exit(f"campaign: {program.name} fails without tencache:\n{done.stdout}{done.stderr}")
            self.expected[key] = done.stdout, int(peak.group(1))
        return self.expected[key]

    def run(self, cell, seed):
        """None when the cell's output is the same, else what differs."""
        expected, peak = self.without(cell.program, cell.streams)
        block = max(SMALLEST_BLOCK, peak // BLOCKS // SMALLEST_BLOCK * SMALLEST_BLOCK)
        extra = {
            "SOFTGPU_HBM": kib(ROOMY),
            "SOFTGPU_GRANULARITY": kib(SMALLEST_BLOCK),
            "LD_PRELOAD": str(self.build / "interpose" / "libtencache.so"),
            "TENCACHE_HBM": kib(peak * cell.share // 100),
            "TENCACHE_HOST": kib(ROOMY),
            "TENCACHE_BLOCK_SIZE": kib(block),
            "TENCACHE_SMALL_BLOCK_SIZE": kib(SMALLEST_BLOCK),
        }
        if cell.mode == "detached":
            extra["TENCACHE_DETACHED"] = "on"
        if seed:
            extra["SOFTGPU_CHAOS"] = str(seed)
        done = self.execute(cell.program, cell.streams, extra)
        if done.returncode == 0 and done.stdout == expected:
            return None
        return first_difference(expected, done)


def first_difference(expected, done):
    lines = [f"exit code {done.returncode}"]
    for want, got in itertools.zip_longest(expected.splitlines(), done.stdout.splitlines()):
        if want != got:
            lines += [f"without: {want}", f"with:    {got}"]
            break
    return lines + done.stderr.splitlines()[-5:]


def cells(only):
    chosen = [Cell(*parts) for parts in itertools.product(PROGRAMS, SHARES, MODES, STREAMS)]
    return [cell for cell in chosen if only in name(cell, 0)]


def name(cell, seed):
    return f"{cell.program.name} {cell.share}% {cell.mode} streams={cell.streams} chaos={seed or 'off'}"


def main():
    parser = argparse.ArgumentParser(prog="tools/campaign")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(os.environ.get("TENCACHE_BUILD", "build")))
    parser.add_argument("--seeds", type=int, default=200, help="seeds of the adversary, spread over the cells")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only cells whose name contains this")
    parser.add_argument("--tap", action="store_true")
    arguments = parser.parse_args()
    if not (arguments.build / "build.ninja").is_file():
        sys.exit(f"campaign: {arguments.build} is no build folder: run tools/setup and ninja first, or give --build")
    bench = Bench(arguments.build.resolve())
    chosen = cells(arguments.only)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    runs = [(cell, 0) for cell in chosen] + list(zip(itertools.cycle(chosen), seeds))
    if arguments.tap:
        print(f"1..{len(runs)}")
    differences = 0
    for number, (cell, seed) in enumerate(runs, 1):
        difference = bench.run(cell, seed)
        differences += difference is not None
        for line in difference or []:
            print(f"# {line}")
        if arguments.tap or difference:
            print(f"{'not ok' if difference else 'ok'} {number} {name(cell, seed)}", flush=True)
    if not arguments.tap:
        print(f"{len(runs)} runs, {differences} differences")
        return 1 if differences else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
