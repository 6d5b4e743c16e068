"""Figures of tencache on softgpu, as a table and as JSON: figure's name -> {"value", "unit", "aim"}.

What tencache adds is measured in pairs, the same with it and without it one after the other, and the median of
the pairs is the figure: the machine's moods strike both halves alike.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import bench_gpt


class NotMeasured(Exception):
    """Why there is no figure."""


class Bench:
    def __init__(self, build, pairs, quick):
        self.build = pathlib.Path(build).absolute()
        self.pairs = 1 if quick else pairs
        self.quick = quick
        self.preload = self.build / "interpose" / "libtencache.so"
        self.softgpu = self.build / "tools" / "softgpu" / "lib"

    def times(self, many, few):
        return str(few if self.quick else many)

    def case(self, name):
        return self.build / "tools" / "bench_cases" / f"bench_{name}"

    def run(self, *command, preload=False, **settings):
        """Runs on softgpu; gives what it printed on both outputs."""
        if not pathlib.Path(command[0]).exists():
            raise NotMeasured(f"{command[0]} is not built")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU", "LD_"))}
        environment |= {"LD_LIBRARY_PATH": str(self.softgpu)} | settings
        if preload:
            environment["LD_PRELOAD"] = str(self.preload)
        done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True,
                              timeout=600, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
            raise NotMeasured(f"{pathlib.Path(command[0]).name} ended with {done.returncode}: {last}")
        return done.stdout + done.stderr

    def answers(self, *command, **settings):
        """The numbers a case printed, by name."""
        lines = [line.split("\t") for line in self.run(*command, **settings).splitlines() if "\t" in line]
        stopped = [line[3] for line in lines if line[0].endswith(".stopped")]
        if stopped:
            raise NotMeasured(stopped[0])
        return {line[0]: float(line[1]) for line in lines if line[2]}


def launch_added(bench):
    """A process compares both ways itself; several of them, as each lies differently in memory."""
    command = (bench.case("launch"), bench.times(200000, 1000), bench.preload)
    return statistics.median(bench.answers(*command, SOFTGPU_CALL_COSTS="real")["launch.added"]
                             for _ in range(bench.pairs))


def graph_launch(bench, what):
    command = (bench.case("graph_launch"), bench.times(1000, 32), bench.preload)
    return statistics.median(bench.answers(*command, SOFTGPU_CALL_COSTS="real")[f"graph_launch.{what}"]
                             for _ in range(bench.pairs))


def allocation_pair(bench):
    command = (bench.case("allocate"), bench.times(200000, 2000))
    return statistics.median(bench.answers(*command, preload=True)["alloc.pair"] for _ in range(bench.pairs))


VMM_CALLS = re.compile(r"softgpu: (\d+) cuMem(?:Create|Map|Unmap|SetAccess) calls")
GPT = ("--layers", "2", "--width", "64", "--batch", "2")


def vmm_calls_per_step(bench):
    """Steps beyond the first few are steady: the calls of a long run less those of a short one."""
    def calls(steps):
        out = bench.run(bench.build / "examples" / "gpt" / "gpt", *GPT, "--steps", str(steps), preload=True,
                        SOFTGPU_STATS="1", SOFTGPU_HBM="1GiB")
        counted = VMM_CALLS.findall(out)
        if not counted:
            raise NotMeasured("softgpu printed no counters")
        return sum(map(int, counted))
    return (calls(8) - calls(4)) / 4


def exec_added(bench):
    command = (bench.case("exec"), bench.times(400, 20), "/bin/true")
    differences = []
    for _ in range(bench.pairs):
        without = bench.answers(*command)["exec.median"]
        differences.append(bench.answers(*command, bench.preload)["exec.median"] - without)
    return statistics.median(differences)


LINK_RATE, DUPLEX = 5e8, 0.8  # slow enough that a busy machine's own copies keep up
LINK_BUFFERS, LINK_MIB = 16, 16


def link_share(bench, direction):
    """Bytes moved that way over what the link, busy both ways, could have moved in the time. Half of the buffers
    fit. What many rounds add to few: the start is in both."""
    rate = f"{LINK_RATE / 1e6:.0f}MB/s"

    def moved_and_time(rounds):
        out = bench.run(bench.case("link"), LINK_BUFFERS, LINK_MIB, rounds, preload=True, SOFTGPU_STATS="1",
                        SOFTGPU_HBM="1GiB", SOFTGPU_H2D=rate, SOFTGPU_D2H=rate, SOFTGPU_DUPLEX=f"{DUPLEX:.0%}",
                        TENCACHE_HBM=f"{LINK_BUFFERS * LINK_MIB // 2}MiB", TENCACHE_BLOCK_SIZE=f"{LINK_MIB}MiB")
        moved = re.search(rf"softgpu: (\d+) bytes copied {direction}", out)
        elapsed = re.search(r"link.elapsed\t([\d.e+]+)", out)
        if not moved or not elapsed:
            raise NotMeasured("the case printed no figures")
        return int(moved[1]), float(elapsed[1]) * 1e-9
    few, many = moved_and_time(1), moved_and_time(bench.times(6, 2))
    return (many[0] - few[0]) / (many[1] - few[1]) / (LINK_RATE * DUPLEX)


def lane_instructions(bench):
    """PTX instructions on single lanes, a second of one core, on the best of the matrix products."""
    folder = bench.build / "tools" / "softgpu" / "engine"
    out = bench.run(folder / "engine-bench", folder / "engine-bench.ptx", "1")
    found = re.findall(r"^matmul\S+ .*?([\d.]+) G lane-instructions/s", out, re.MULTILINE)
    if not found:
        raise NotMeasured("engine-bench printed no rate")
    return max(map(float, found)) * 1e9


# Figure, unit, aim, whether less is better, how it is measured.
FIGURES = [
    ("launch.added_ns", "ns", 100, True, launch_added),
    ("graph_launch.added_ns", "ns", 1000, True, lambda bench: graph_launch(bench, "added")),
    ("graph_launch.per_node_ns", "ns", 20, True, lambda bench: graph_launch(bench, "per_node")),
    ("alloc.pair_ns", "ns", 500, True, allocation_pair),
    ("alloc.vmm_calls_per_step", "calls", 0, True, vmm_calls_per_step),
    ("exec.added_us", "us", 700, True, exec_added),
    ("link.h2d_share", "of the duplex rate", 0.95, False, lambda bench: link_share(bench, "host to device")),
    ("link.d2h_share", "of the duplex rate", 0.95, False, lambda bench: link_share(bench, "device to host")),
    ("softgpu.lane_instr_per_s", "1/s", 1e10, False, lane_instructions),
]


def policy_figures(bench, only, traces):
    """What policy-bench measures, all in one run: it prints its table itself."""
    program = bench.build / "tools" / "policy_bench" / "policy-bench"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "figures.json")
        command = [program, "--json", path] + (["--only", only] if only else []) + (["--traces", traces] if traces else [])
        solver = bench.build / "highs"
        if (solver / "complete").exists():
            script = pathlib.Path(__file__).resolve().parent / "policy_bench" / "solve_prices.py"
            command += ["--solver", f"env PYTHONPATH={solver} python3 {script}"]
        else:
            print("policy: HiGHS could not be installed; the bounds are looser and every eta is lower", flush=True)
        subprocess.run([str(word) for word in command], check=True)
        return json.loads(path.read_text(encoding="utf-8"))


def measure(bench, only):
    """Prints the table line by line; gives the figures."""
    figures = {}
    print(f"{'figure':<28} {'value':>12}  {'aim':>12}  unit")
    for name, unit, aim, less_is_better, how in FIGURES + bench_gpt.figures(bench, NotMeasured):
        if not name.startswith(only):
            continue
        try:
            value = how(bench)
        except (NotMeasured, subprocess.TimeoutExpired) as reason:
            print(f"{name:<28} {'-':>12}  {'':>12}  not measured: {reason}", flush=True)
            continue
        reached = value <= aim if less_is_better else value >= aim
        print(f"{name:<28} {value:>12.4g}  {'<=' if less_is_better else '>='} {aim:>9.4g}  {unit}"
              f"{'' if reached else '   (missed)'}", flush=True)
        figures[name] = {"value": value, "unit": unit, "aim": aim}
    return figures


def main():
    parser = argparse.ArgumentParser(prog="tools/bench", description="What tencache costs and achieves, on softgpu.")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", metavar="PREFIX", help="only figures whose name begins so")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--traces", metavar="DIR", help="recorded steps, for the policy's figures")
    parser.add_argument("--pairs", type=int, default=5, help="how many pairs a difference is the median of")
    parser.add_argument("--quick", action="store_true", help="one short run each, to see that it works")
    arguments = parser.parse_args()
    bench = Bench(arguments.build, arguments.pairs, arguments.quick)
    figures = measure(bench, arguments.only)
    if arguments.only.startswith("policy") or "policy".startswith(arguments.only):
        figures |= policy_figures(bench, arguments.only, arguments.traces)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if figures else 1


if __name__ == "__main__":
    sys.exit(main())
