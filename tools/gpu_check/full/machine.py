"""Where the pack lies, how a program of it is run, and what a row of the table is."""

import collections
import os
import re
import subprocess
import time

Row = collections.namedtuple("Row", "section name result detail seconds")  # result: same, DIFFERENT, failed, ...


class Machine:
    def __init__(self, pack, softgpu, short):
        self.pack, self.softgpu, self.short = pack, softgpu, short
        self.end = float("inf")  # of the section under way
        self.preload = pack / "lib" / "tencache" / "libtencache.so"
        self.base = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_PRELOAD"))}
        if softgpu:
            self.base |= {"LD_LIBRARY_PATH": str(softgpu), "SOFTGPU_GRANULARITY": "64KiB", "SOFTGPU_HBM": "512MiB"}

    def program(self, name):
        return self.pack / "bin" / name

    def run(self, command, seconds, environment=None):
        """Runs it in no more than the seconds that are left to the section; TimeoutError where none are."""
        seconds = min(seconds, self.end - time.monotonic())
        if seconds <= 0:
            raise TimeoutError
        started = time.monotonic()
        try:
            done = subprocess.run([str(word) for word in command], env=self.base | (environment or {}), capture_output=True,
                                  text=True, check=False, timeout=seconds)
        except subprocess.TimeoutExpired as expired:
            done = subprocess.CompletedProcess(command, -1, "", f"no end within {expired.timeout:.0f} s\n")
        done.seconds = time.monotonic() - started
        return done

    def under_tencache(self, hbm=None, smallest_block=None):
        """The environment with so many bytes of HBM; None: all there are."""
        environment = {"LD_PRELOAD": str(self.preload), "TENCACHE_SUMMARY": "on"}
        if hbm:
            environment["TENCACHE_HBM"] = f"{hbm >> 10}KiB"
        if smallest_block:
            environment["TENCACHE_BLOCK_SIZE"] = f"{smallest_block >> 10}KiB"
        return environment


def compared(section, name, expected, seen):
    """The row of a run under tencache, beside the same run without."""
    moved = re.search(r"moved +in (.*?), out (.*?), dropped", seen.stderr)
    detail = f"without {expected.seconds:.1f} s" + (f"; in {moved.group(1)}, out {moved.group(2)}" if moved else "")
    if seen.returncode != 0:
        return Row(section, name, "failed", f"exit {seen.returncode}: {last_line(seen)}", seen.seconds)
    return Row(section, name, "same" if seen.stdout == expected.stdout else "DIFFERENT", detail, seen.seconds)


def last_line(done):
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "summary" not in line and "tencache:   " not in line]
    return lines[-1] if lines else "no output"
