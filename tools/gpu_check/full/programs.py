"""The rows of programs in the pack: how the doors are found, generated driver programs, the examples."""

import os
import re
import sys

from machine import Row, compared, last_line

SHARES = (50, 25, 12)  # of a program's peak, in percent
EXAMPLES = {  # on a GPU: some GiB each, so that moving costs what it costs; short: as on softgpu in tests
    "gpt": ("--width 1024 --layers 12 --heads 16 --batch 8 --sequence 512 --steps 5",
            "--width 64 --layers 2 --heads 4 --batch 2 --sequence 32 --steps 2"),
    "mlp": ("--width 2048 --layers 32 --batch 256 --steps 5 --streams 3", "--width 128 --layers 8 --steps 2"),
    "streams": ("--streams 4 --count 4000000 --rounds 5 --steps 10", "--streams 3 --count 20000 --rounds 3 --steps 2"),
}


def found(machine):
    """Whether the driver's functions are tencache's, whichever way a program comes by them."""
    done = machine.run([sys.executable, machine.pack / "found.py", machine.preload], 20, machine.under_tencache())
    if done.returncode != 0:
        yield Row("found", "all ways", "failed", last_line(done), done.seconds)
        return
    for line in done.stdout.splitlines():
        way, answer = line.split(": ")
        yield Row("found", way, answer, "", done.seconds)


def doors(machine):
    """Generated programs of all kinds of driver calls: every byte and every error code compared."""
    live, largest, block = (2 << 20, 128 << 10, 128 << 10) if machine.softgpu else (128 << 20, 8 << 20, 4 << 20)
    shares, batches, programs = ((25,), 1, 5) if machine.short else ((50, 25, 10), 4, 20)
    for seed in range(1, 1 + programs * batches, programs):
        command = [machine.program("torture-program"), "--seed", seed, "--programs", programs, "--live", live, "--largest", largest]
        expected = machine.run(command, 60)
        if expected.returncode != 0:
            yield Row("doors", f"programs from {seed}", "failed", f"without tencache: {last_line(expected)}", expected.seconds)
            continue
        for share in shares:
            seen = machine.run(command, 60, machine.under_tencache(live * share // 100, block))
            yield compared("doors", f"{programs} programs from {seed}, {share} %", expected, seen)


def examples(machine):
    libraries = [str(machine.softgpu)] if machine.softgpu else [str(machine.pack / "lib")]
    place = {"LD_LIBRARY_PATH": ":".join(libraries + [os.environ.get("LD_LIBRARY_PATH", "")])}
    for name, (full, short) in EXAMPLES.items():
        command = [machine.program(name), *(short if machine.short or machine.softgpu else full).split()]
        expected = machine.run(command, 60, place)
        peak = re.search(r"peak live bytes (\d+)", expected.stdout)
        if expected.returncode != 0 or not peak:
            yield Row("examples", name, "failed", f"without tencache: {last_line(expected)}", expected.seconds)
            continue
        yield compared("examples", f"{name}, all memory", expected, machine.run(command, 60, place | machine.under_tencache()))
        yield from budgets(machine, "examples", name, command, expected, int(peak.group(1)), place)


def budgets(machine, section, name, command, expected, peak, environment):
    block = max(64 << 10, peak // 64 >> 16 << 16) if machine.softgpu else None
    for share in SHARES[1:2] if machine.short else SHARES:
        seen = machine.run(command, 60, environment | machine.under_tencache(peak * share // 100, block))
        yield compared(section, f"{name}, {share} % of {peak >> 20} MiB", expected, seen)
