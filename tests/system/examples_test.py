"""The examples on softgpu, as TAP: they end well, and compute the same whatever the streams.

Usage: examples_test.py LIBRARY_FOLDER GPT MLP STREAMS
"""

import os
import re
import subprocess
import sys

import tap

GPT = "--width 32 --layers 2 --heads 2 --batch 2 --sequence 16 --steps 3".split()
MLP = "--width 32 --layers 16 --batch 8 --steps 3".split()
STREAMS = "--streams 3 --count 1000 --rounds 5 --steps 3".split()


class Examples:
    def __init__(self, folder, programs):
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_PRELOAD"))}
        self.environment["LD_LIBRARY_PATH"] = folder
        self.programs = dict(zip(("gpt", "mlp", "streams"), programs))

    def run(self, name, arguments, **extra):
        return subprocess.run([self.programs[name], *arguments], env=self.environment | extra, capture_output=True,
                              text=True, check=False)


def trains(examples, name, arguments, steps):
    """Losses that fall, a checksum, a peak; the same again and on several streams."""
    first = examples.run(name, arguments)
    losses = [float.fromhex(loss) for loss in re.findall(r"^step \d+ loss [-\d.]+ (0x\S+)$", first.stdout, re.M)]
    same = all(examples.run(name, [*arguments, "--streams", count]).stdout == first.stdout for count in "123")
    ending = re.search(r"^parameters \d+ checksum [0-9a-f]{16}\npeak live bytes \d+$", first.stdout, re.M)
    good = first.returncode == 0 and len(losses) == steps and losses[-1] < losses[0] and same and ending
    return good, first


def gpt_trains(examples):
    return trains(examples, "gpt", GPT, 3)


def mlp_trains(examples):
    return trains(examples, "mlp", MLP, 3)


def another_seed_is_another_training(examples):
    one = examples.run("gpt", [*GPT, "--seed", "1"])
    two = examples.run("gpt", [*GPT, "--seed", "2"])
    return one.returncode == 0 and two.returncode == 0 and one.stdout != two.stdout, two


def streams_overlap(examples):
    done = examples.run("streams", STREAMS)
    lines = "".join(f"stream {i}: 3 steps, 0 wrong values\n" for i in range(3))
    return done.returncode == 0 and done.stdout == lines + "peak live bytes 24000\n", done


def out_of_memory_is_said(examples):
    done = examples.run("gpt", ["--width", "256", "--steps", "1"], SOFTGPU_HBM="16MiB")
    return done.returncode == 2 and done.stderr.startswith("out of memory: cudaMalloc of "), done


def a_wrong_option_is_refused(examples):
    done = examples.run("mlp", ["--breadth", "3"])
    return done.returncode == 1 and done.stderr.startswith("usage: "), done


TESTS = [gpt_trains, mlp_trains, another_seed_is_another_training, streams_overlap, out_of_memory_is_said,
         a_wrong_option_is_refused]


def main():
    examples = Examples(sys.argv[1], sys.argv[2:])
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        good, done = test(examples)
        tap.report(number, test.__name__, good, f"exit code {done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
