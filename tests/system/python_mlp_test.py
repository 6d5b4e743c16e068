"""A training loop in Python with cuda.bindings.driver on softgpu, as TAP: alone with room, alone with a quarter of the
memory, and with that quarter under tencache.

Usage: python_mlp_test.py PRELOAD SOFTGPU_FOLDER BINDINGS_FOLDER TRAIN_PY KERNELS_PTX
"""

import os
import pathlib
import re
import subprocess
import sys

import tap

PRELOAD, SOFTGPU, BINDINGS, TRAIN, KERNELS = sys.argv[1:6]
SHAPE = "--width 128 --layers 8 --batch 16 --steps 3".split()
BASE = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_PRELOAD", "PYTHON"))} | {
    "PYTHONPATH": BINDINGS, "LD_LIBRARY_PATH": SOFTGPU, "SOFTGPU_GRANULARITY": "64KiB", "SOFTGPU_CONTEXT": "0B"}
UNDER = {"LD_PRELOAD": PRELOAD, "TENCACHE_SUMMARY": "on", "TENCACHE_BLOCK_SIZE": "64KiB"}


def train(hbm, **extra):
    return subprocess.run([sys.executable, TRAIN, "--kernels", KERNELS, *SHAPE], capture_output=True, text=True, check=False,
                          env=BASE | {"SOFTGPU_HBM": hbm} | extra, timeout=120)


def main():
    if not pathlib.Path(BINDINGS, "complete").exists():
        print("Bail out! cuda.bindings is not there: run tools/setup where PyPI can be reached")
        return
    print("1..5")
    roomy = train("64MiB")
    losses = [float.fromhex(loss) for loss in re.findall(r"^step \d+ loss [-\d.]+ (\S+)$", roomy.stdout, re.M)]
    peak = re.search(r"^parameters \d+ checksum [0-9a-f]{16}\npeak live bytes (\d+)$", roomy.stdout, re.M)
    tap.report(1, "with room it trains", roomy.returncode == 0 and len(losses) == 3 and losses[-1] < losses[0] and peak, str(roomy))
    quarter = f"{int(peak.group(1)) // 4 >> 10 if peak else 0}KiB"
    alone = train(quarter)
    tap.report(2, "a quarter is not enough alone",
               alone.returncode == 2 and alone.stderr.startswith("out of memory: cuMemAlloc of "), str(alone))
    loaded = train("64MiB", **UNDER)
    tap.report(3, "with room it computes the same under tencache", loaded.returncode == 0 and loaded.stdout == roomy.stdout, str(loaded))
    under = train(quarter, **UNDER)
    tap.report(4, "with a quarter it computes the same under tencache", under.returncode == 0 and under.stdout == roomy.stdout,
               f"{roomy}\n{under}")
    moved = re.search(r"out ([\d.]+) ", under.stderr)
    tap.report(5, "its memory moved", moved and float(moved.group(1)) > 0, under.stderr)


if __name__ == "__main__":
    main()
