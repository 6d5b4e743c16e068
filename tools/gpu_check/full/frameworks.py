"""The rows of training loops in Python frameworks: the losses with and without tencache. What is not installed is said."""

import collections
import re
import sys

from machine import Row, compared, last_line
from programs import budgets

NOT_HERE = 77  # a loop's exit code: no framework or no GPU for it, and why is its last line
Loop = collections.namedtuple("Loop", "name script arguments environment")


def loops(machine):
    size = ("--width 128 --layers 8" if machine.softgpu else "--width 1024 --layers 8").split() + ["--steps", "3"]
    yield from rows_of(machine, Loop("PyTorch", "pytorch_loop.py", [], {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}))
    yield from rows_of(machine, Loop("JAX", "jax_loop.py", [], {
        "XLA_FLAGS": "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}))
    yield from rows_of(machine, Loop("cuda.bindings", "bindings_loop.py", [*size, "--kernels", machine.pack / "loops/kernels.ptx"], {}))


def rows_of(machine, loop):
    command = [sys.executable, machine.pack / "loops" / loop.script, *loop.arguments]
    expected = machine.run(command, 90, loop.environment)
    if expected.returncode == NOT_HERE:
        yield Row("frameworks", loop.name, "not here", last_line(expected), expected.seconds)
        return
    peak = re.search(r"^peak live bytes (\d+)\n", expected.stdout, re.M)
    if expected.returncode != 0 or not peak:
        yield Row("frameworks", loop.name, "failed", f"without tencache: {last_line(expected)}", expected.seconds)
        return
    # What a framework counts depends on its allocator.
    expected.stdout = without_peak(expected.stdout)
    yield from budgets(LossesOnly(machine), "frameworks", loop.name, command, expected, int(peak.group(1)), loop.environment)


def without_peak(text):
    return re.sub(r"^peak live bytes .*\n", "", text, flags=re.M)


class LossesOnly:
    """The machine, with the peak taken out of what its programs print."""

    def __init__(self, machine):
        self.machine = machine

    def __getattr__(self, name):
        return getattr(self.machine, name)

    def run(self, *arguments):
        done = self.machine.run(*arguments)
        done.stdout = without_peak(done.stdout)
        return done
