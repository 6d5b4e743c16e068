"""Runs generated programs with and without tencache and compares what they saw.

    tools/torture --programs N --seed S [--mode mapped|detached|both] [--budgets 10,12,25,50] [--chaos] [--jobs N]

Ends on `N programs, D differences`; each difference is minimised to the operations it needs. Exit code 1 on a difference.
With --mutants each planted fault of mutants.toml has to be found by the programs; ends on `N of M mutants found`.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

import mutants

LIVE = 2 << 20
BATCH = 20  # programs in one process
GROUP = 5  # so many batches a job before what they found is looked at
LARGEST = 128 << 10
ROOMY = "256MiB"  # a device with room for everything
TIMEOUT = 20  # seconds, and for each program more
TIMEOUT_EACH = 3
TIMES_ROOMY = 60  # and so many times what the roomy device took just before: a machine full of other work is no hang
TRIES = 5  # of what differs not every time
STARVED = 10  # so many times longer for who waits for a processor

Setting = collections.namedtuple("Setting", "mode budget chaos census policy", defaults=("learn", ""))


class Runner:
    def __init__(self, build, inside, without, library=None):
        self.without, self.build = without, build
        self.program = inside or build / "tools" / "torture_programs" / "torture-program"
        self.preload = None if inside else library or build / "interpose" / "libtencache.so"
        self.covered = collections.defaultdict(collections.Counter)  # by kind of call: states of extents met
        self.drivers = build / "tools" / "softgpu" / "lib"
        self.counting = threading.Lock()
        self.roomy_took = 0.0  # seconds, the latest run

    def environment(self, setting):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_"))}
        env.update(LD_LIBRARY_PATH=str(self.drivers), SOFTGPU_HBM=ROOMY, SOFTGPU_GRANULARITY="64KiB")
        if setting is None:
            return env | {"TENCACHE": "off"}
        if self.preload:
            env["LD_PRELOAD"] = str(self.preload)
        env.update(TENCACHE_HBM=f"{LIVE * setting.budget // 100 >> 10}KiB",
                   TENCACHE_HOST="256MiB", TENCACHE_BLOCK_SIZE="128KiB", TENCACHE_SMALL_BLOCK_SIZE="64KiB")
        env["TENCACHE_CENSUS"] = setting.census
        if setting.policy:
            env["TENCACHE_POLICY"] = setting.policy
        if setting.mode == "detached":
            env["TENCACHE_DETACHED"] = "on"
        if setting.chaos:
            env["SOFTGPU_CHAOS"] = str(setting.chaos)
        return env

    def command(self, mode, seed, programs, dropped):
        command = [str(self.program), "--seed", str(seed), "--programs", str(programs), "--live", str(LIVE), "--largest",
                   str(LARGEST)]
        if mode == "detached":  # a kernel's may-touch has to fit
            command += ["--named", str(LIVE // 4)]
        for kinds in self.without:
            command += ["--without", kinds]
        if dropped:
            command += ["--drop", ",".join(map(str, dropped))]
        return command

    def time_limit(self, setting, programs):
        return TIMEOUT + TIMEOUT_EACH * programs + TIMES_ROOMY * (self.roomy_took if setting else programs)

    def run(self, setting, mode, seed, programs=1, dropped=()):
        """With the setting, or on a roomy device; a program of the mode's kind."""
        command = self.command(mode, seed, programs, dropped)
        start = time.monotonic()
        with subprocess.Popen(command, env=self.environment(setting), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            output, errors, in_time = wait_fairly(process, self.time_limit(setting, programs))
        if not in_time:
            return output + "timed out\n", errors
        if setting is None:
            self.roomy_took = time.monotonic() - start
        return output + f"exit {process.returncode}\n", self.take_coverage(errors)

    def take_coverage(self, errors):
        """Keeps the lines `covered KIND STATE TIMES`; the others are errors."""
        rest = []
        for line in errors.splitlines(keepends=True):
            words = line.split()
            if words[:1] == ["covered"]:
                with self.counting:
                    self.covered[words[1]][words[2]] += int(words[3])
            else:
                rest.append(line)
        return "".join(rest)

    def verdict(self, setting, seed, programs, expected):
        """How the output is not the expected one, empty if it is. The run ends at the first line that is not."""
        done = subprocess.Popen(self.command(setting.mode, seed, programs, ()), env=self.environment(setting), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        late = threading.Event()
        watchdog = threading.Timer(self.time_limit(setting, programs), lambda: (late.set(), done.kill()))
        watchdog.start()
        lines = iter(expected.splitlines(keepends=True))
        same = all(next(lines, None) == line for line in done.stdout)
        if not same:
            done.kill()
        done.stdout.close()
        status = done.wait()
        watchdog.cancel()
        if same and list(lines) == [f"exit {status}\n"]:
            return ""
        return "it did not end" if same and late.is_set() else "it differed"

    def operations(self, seed):
        listing = subprocess.run([*self.command("mapped", seed, 1, ()), "--list"], env=self.environment(None), capture_output=True,
                                 text=True, check=True).stdout
        return [line.split() for line in listing.splitlines()]


def waited_for_processors(pid):
    """Seconds that its threads were ready to run and did not."""
    delays = []
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            delays.append(int(thread.read_text(encoding="ascii").split()[1]))
        except OSError:  # it has just ended
            continue
    return sum(delays) * 1e-9


def wait_fairly(process, limit):
    """Its output and errors, and whether it ended within the limit. On a machine full of other work it gets more time."""
    waited = 0.0
    for _ in range(STARVED):
        try:
            return *process.communicate(timeout=limit), True
        except subprocess.TimeoutExpired:
            before, waited = waited, waited_for_processors(process.pid)
            if waited - before < limit / 2:
                break
    process.kill()
    return *process.communicate(), False


def run_both(runner, setting, seed, programs=1, dropped=()):
    """What a roomy device prints, then what the setting does, and its standard error."""
    mode = setting.mode
    return (runner.run(None, mode, seed, programs, dropped)[0], *runner.run(setting, mode, seed, programs, dropped))


class Case:
    """Programs in one process that are to print what they print on a roomy device."""

    def __init__(self, runner, setting, first, last, tries=1):
        self.runner, self.setting, self.first, self.programs, self.tries = runner, setting, first, last - first + 1, tries

    def run(self, dropped=()):
        return run_both(self.runner, self.setting, self.first, self.programs, dropped)

    def differs(self, dropped=()):
        return any(expected != seen for expected, seen, _ in (self.run(dropped) for _ in range(self.tries)))


def smallest_case(runner, setting, first, seed):
    """The program alone, else with as few before it as it takes, each tried again where it differs not every time."""
    for tries in (1, TRIES):
        for company in (0, 1, 3, 7, seed - first):
            case = Case(runner, setting, max(first, seed - company), seed, tries)
            if case.differs():
                return case
    return None


def minimise(case):
    """Drops operations, large groups first, while the difference stays. Returns those that are needed in each program."""
    listings = [case.runner.operations(case.first + p) for p in range(case.programs)]
    numbers = [int(number) for number, _ in max(listings, key=len)]
    kept = list(numbers)
    size = len(kept) // 2
    while size >= 1:
        at = 0
        while at < len(kept):
            trial = kept[:at] + kept[at + size:]
            if case.differs([n for n in numbers if n not in trial]):
                kept = trial
            else:
                at += size
        size //= 2
    return kept, [n for n in numbers if n not in kept]


def show_difference(expected, seen, errors):
    for want, got in itertools.zip_longest(expected.splitlines(), seen.splitlines()):
        if want != got:
            print(f"    without: {want}\n    with:    {got}")
            break
    sys.stdout.write("".join(f"    {line}\n" for line in errors.splitlines()[-8:]))


def report(runner, setting, first, seed):
    case = smallest_case(runner, setting, first, seed)
    if case is None:
        print(f"seed {seed} {setting}: not seen again in {TRIES} runs of {first} to {seed}")
        return
    kept, dropped = minimise(case)
    alone = case.programs == 1
    print(f"seed {case.first}{'' if alone else f' to {seed}'} {setting}: differs with these operations:")
    for program in range(case.first, seed + 1):
        for number, kind in runner.operations(program):
            if int(number) in kept:
                print(f"    {number} {kind}" if alone else f"    program {program}: {number} {kind}")
    show_difference(*case.run(dropped))


def split_programs(output):
    return output.split("program ")[1:]


def compare_batch(runner, setting, seed, programs):
    """Seeds of the batch whose output differs: the first of them, as the others may only follow from it."""
    expected, seen, errors = run_both(runner, setting, seed, programs)
    if expected == seen:
        return []
    print(f"seeds {seed} to {seed + programs - 1}, {setting}:")
    show_difference(expected, seen, errors)
    wanted, got = split_programs(expected), split_programs(seen)
    for index, text in enumerate(wanted):
        if index >= len(got) or got[index] != text:
            return [seed + index]
    return [seed]


def print_coverage(covered):
    """Rows are kinds of calls, columns states of extents: how often a call of that kind came to one in that state."""
    states = list(dict.fromkeys(state for row in covered.values() for state in row))
    if not states:
        return
    print("kind of call".ljust(28) + "".join(state.rjust(13) for state in states))
    for kind in sorted(covered):
        print(kind.ljust(28) + "".join(str(covered[kind][state] or "-").rjust(13) for state in states))
    met = sum(covered[kind][state] > 0 for kind in covered for state in states)
    print(f"{met} of {len(covered) * len(states)} pairs of kind and state covered")


def read_arguments():
    parser = argparse.ArgumentParser(prog="tools/torture")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(os.environ.get("TENCACHE_BUILD", "build")))
    parser.add_argument("--inside", type=pathlib.Path, help="a program that has tencache and softgpu inside, instead")
    parser.add_argument("--coverage", action="store_true",
                        help="what is inside one executable, and a table of the states that calls came to")
    parser.add_argument("--library", type=pathlib.Path, help="a library instead of the build's")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=("mapped", "detached", "both"), default="both")
    parser.add_argument("--budgets", default="10,12,25,50", help="HBM in percent of what is kept allocated (detached: 75 and up)")
    parser.add_argument("--chaos", action="store_true", help="delay operations adversarially, a seed a batch")
    parser.add_argument("--without", action="append", default=[], help="leave out kinds whose names begin so")
    parser.add_argument("--census", choices=("learn", "always"), default="learn", help="TENCACHE_CENSUS")
    parser.add_argument("--policy", default="", help="TENCACHE_POLICY")
    parser.add_argument("--mutants", action="store_true", help="find the planted faults of mutants.toml instead")
    parser.add_argument("--only", action="append", default=[], help="only mutants whose name contains one of these")
    parser.add_argument("--jobs", type=int, default=1,
                        help="so many at a time, each kept to one processor: more programs in less time, fewer at once within one")
    parser.add_argument("--stop", type=int, default=5, help="stop after so many differences")
    return parser.parse_args()


def settings_of(arguments):
    """The mapped mode takes any budget; in the detached one a single kernel's memory must fit."""
    budgets = [int(b) for b in arguments.budgets.split(",")]
    settings = []
    if arguments.mode != "detached":
        settings += [("mapped", budget) for budget in budgets]
    if arguments.mode != "mapped":
        settings += [("detached", max(75, budget)) for budget in budgets]
    return list(dict.fromkeys(settings))


def hunt_mutants(arguments, runner):
    settings = [Setting(mode, budget, chaos) for chaos in (0, 1, 2) for mode, budget in settings_of(arguments)]
    settings += [Setting(mode, budget, 3, "always") for mode, budget in settings_of(arguments)]
    expected = {}

    def compare_with(library):
        runner.preload = library

        def compare(setting, seed, programs):
            key = (seed, setting.mode)
            if key not in expected:
                expected[key] = runner.run(None, setting.mode, seed, programs)[0]
            return runner.verdict(setting, seed, programs, expected[key])

        return compare

    return mutants.hunt(runner.build, compare_with, settings, arguments.seed, arguments.programs, BATCH, arguments.only)


def batches(arguments):
    """First seed, number of programs and setting of each."""
    settings = settings_of(arguments)
    draws = random.Random(arguments.seed)
    for done in range(0, arguments.programs, BATCH):
        mode, budget = settings[done // BATCH % len(settings)]
        chaos = draws.randrange(1, 1 << 30) if arguments.chaos else 0
        yield (arguments.seed + done, min(BATCH, arguments.programs - done),
               Setting(mode, budget, chaos, arguments.census, arguments.policy))


def keep_to_one_processor(processors):
    """The thread that calls, and what it starts."""
    os.sched_setaffinity(0, {next(processors)})


def compare_all(arguments, runner):
    """How many programs differed, and how many were run."""
    different, done = 0, 0
    processors = itertools.cycle(sorted(os.sched_getaffinity(0)))
    pin = {"initializer": keep_to_one_processor, "initargs": (processors,)} if arguments.jobs > 1 else {}
    rest = batches(arguments)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs, **pin) as pool:
        while different < arguments.stop and (group := list(itertools.islice(rest, arguments.jobs * GROUP))):
            found = pool.map(lambda batch: compare_batch(runner, batch[2], batch[0], batch[1]), group)
            for (first, programs, setting), seeds in zip(group, found):
                done += programs
                for seed in seeds:
                    different += 1
                    report(runner, setting, first, seed)
    return different, done


def main():
    arguments = read_arguments()
    if arguments.coverage:
        arguments.inside = arguments.build / "tests" / "system" / "torture-inside"
    if not arguments.inside and not (arguments.build / "build.ninja").is_file():
        sys.exit(f"torture: {arguments.build} is no build folder: run tools/setup and ninja first, or give --build")
    runner = Runner(arguments.build.resolve(), arguments.inside and arguments.inside.resolve(), arguments.without,
                    arguments.library and arguments.library.resolve())
    if arguments.mutants:
        return hunt_mutants(arguments, runner)
    different, done = compare_all(arguments, runner)
    print_coverage(runner.covered)
    print(f"{done} programs, {different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
