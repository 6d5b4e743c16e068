"""The GPT example with less memory than it wants, on softgpu's device clock: how near to the bound its steps are,
how much faster than without a plan, and whether the simulator says the same.

The lane rate is low, so that the device clock is not overrun where several share the machine; the link is as much
slower, so that the bound is 1.1 to 1.3 times what the kernels take. The step that tencache records (TENCACHE_TRACE)
gives the kernels' times and, by `tencache simulate`, the bound and the prediction.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

GPT = ("--layers", "4", "--width", "128", "--batch", "4", "--sequence", "64")
LANE_RATE = 5e8
LINK_RATE, DUPLEX = 4.5e6, 0.8
BLOCK = "64KiB"
STEADY_FROM = 4  # the first step that counts


class Run:
    """One run of the example: seconds of each step, and what it printed."""

    def __init__(self, bench, steps, settings, preload):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU", "LD_"))}
        environment |= {
            "LD_LIBRARY_PATH": str(bench.softgpu), "SOFTGPU_STATS": "1", "SOFTGPU_HBM": "1GiB",
            "SOFTGPU_GRANULARITY": "64KiB", "SOFTGPU_LANE_RATE": f"{LANE_RATE / 1e6:.0f}M/s",
            "SOFTGPU_KERNEL_TIME": "500us", "SOFTGPU_H2D": f"{LINK_RATE / 1e3:.0f}KB/s",
            "SOFTGPU_D2H": f"{LINK_RATE / 1e3:.0f}KB/s", "SOFTGPU_DUPLEX": f"{DUPLEX:.0%}",
        } | ({"LD_PRELOAD": str(bench.preload)} if preload else {}) | settings
        command = [str(bench.build / "examples" / "gpt" / "gpt"), *GPT, "--steps", str(steps)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as process:
            lines, times = [], [time.monotonic()]
            for line in process.stdout:
                lines.append(line)
                if line.startswith("step "):
                    times.append(time.monotonic())
        self.text = "".join(lines)
        self.failed = process.returncode != 0
        self.steps = [after - before for before, after in zip(times, times[1:])]

    def number(self, pattern):
        return int(re.search(pattern, self.text)[1])

    @property
    def checksum(self):
        return re.search(r"checksum (\w+)", self.text)[1]

    @property
    def median(self):
        return statistics.median(self.steps[STEADY_FROM - 1:])


class Gpt:
    """Runs what the figures need, each run once."""

    def __init__(self, bench, not_measured):
        self.bench = bench
        self.not_measured = not_measured
        self.known = {}
        self.folder = tempfile.TemporaryDirectory()

    def run(self, share, policy):
        key = (share, policy)
        if key not in self.known:
            steps = 4 if self.bench.quick else 8
            settings = {}
            if share is not None:
                settings = {"TENCACHE_HBM": f"{self.hbm(share) // 1024}KiB", "TENCACHE_BLOCK_SIZE": BLOCK,
                            "TENCACHE_POLICY": policy}
            if policy == "learn":
                settings["TENCACHE_TRACE"] = str(self.trace(share))
            run = Run(self.bench, steps, settings, preload=share is not None)
            if run.failed:
                raise self.not_measured("the example failed")
            self.known[key] = run
            overruns = run.number(r"(\d+) operations that took longer")
            launches = run.number(r"(\d+) kernel launches")
            print(f"# gpt {share or 'all'} % {policy or ''}: steps {' '.join(f'{step:.2f}' for step in run.steps)} s; "
                  f"{overruns} overruns of the device clock, {launches} launches", flush=True)
            if share is not None and run.checksum != self.run(None, None).checksum:
                raise self.not_measured("the checksum differs from that without tencache")
        return self.known[key]

    def wanted(self):
        return self.run(None, None).number(r"peak live bytes (\d+)")

    def hbm(self, share):
        return self.wanted() * share // 100

    def trace(self, share):
        return pathlib.Path(self.folder.name, f"gpt_{share}.trace")

    def simulated(self, share):
        self.run(share, "learn")
        if not self.trace(share).exists():
            raise self.not_measured("no step was recorded")
        duplex = f"{LINK_RATE * DUPLEX:.0f}"
        command = [self.bench.build / "tools" / "tencache" / "tencache", "simulate", self.trace(share), "--json",
                   "--policy", "learn", "--hbm", self.hbm(share), "--h2d", f"{LINK_RATE:.0f}",
                   "--d2h", f"{LINK_RATE:.0f}", "--h2d-duplex", duplex, "--d2h-duplex", duplex, "--block", BLOCK,
                   "--run-ahead", "4ms", "--writes", "every"]
        answer = json.loads(subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                           check=True).stdout)
        print(f"# gpt {share} %: bound {answer['bound']:.3f} s, {answer['bound'] / answer['ideal']:.3f} times the "
              f"kernels; simulated {answer['policies'][0]['step']:.3f} s", flush=True)
        return answer

    def eta(self, share):
        return self.simulated(share)["bound"] / self.run(share, "learn").median

    def over_lru(self, share):
        return self.run(share, "lru").median / self.run(share, "learn").median

    def simulate_error(self):
        """The worse of the two shares."""
        def error(share):
            real = self.run(share, "learn").median
            return abs(self.simulated(share)["policies"][0]["step"] - real) / real
        return max(error(50), error(35))


def figures(bench, not_measured):
    gpt = Gpt(bench, not_measured)
    return [
        ("softgpu.eta.gpt_50", "of the bound", 0.9, False, lambda _: gpt.eta(50)),
        ("softgpu.eta.gpt_35", "of the bound", 0.9, False, lambda _: gpt.eta(35)),
        ("softgpu.vs_lru.gpt_35", "times", 1.5, False, lambda _: gpt.over_lru(35)),
        ("simulate.error", "of the step", 0.1, True, lambda _: gpt.simulate_error()),
    ]
