"""Runs a program on softgpu alone and under tencache: the program is to be told the same."""

import os
import subprocess

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
