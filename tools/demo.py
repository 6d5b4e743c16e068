"""The three runs of tools/demo and their comparison: demo.py BUILD [--gpu]."""

import os
import pathlib
import re
import subprocess
import sys

SHAPE = {
    "software": "--width 128 --layers 4 --heads 4 --batch 4 --sequence 64 --steps 6",
    "gpu": "--width 2048 --layers 16 --heads 16 --batch 8 --sequence 1024 --steps 10",
}
ROOMY = 1 << 30
CONTEXT = 256 << 20  # what a real context takes for itself, beside the quarter


class Demo:
    def __init__(self, build, gpu):
        self.build = build
        self.gpu = gpu
        self.program = build / "examples" / "gpt" / ("gpt-static" if gpu else "gpt")
        self.arguments = SHAPE["gpu" if gpu else "software"].split()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_"))}
        if not gpu:
            self.env["LD_LIBRARY_PATH"] = str(build / "tools" / "softgpu" / "lib")
            self.env["SOFTGPU_GRANULARITY"] = "64KiB"
            self.env["SOFTGPU_CONTEXT"] = "0B"

    def command(self, under_tencache):
        program = [str(self.program), *self.arguments]
        if not under_tencache:
            return program
        options = ["TENCACHE_SUMMARY=on"]
        if not self.gpu:
            options += ["TENCACHE_BLOCK_SIZE=256KiB"]
        return ["env", *options, str(self.build / "tools" / "tencache" / "tencache"), "run", "--", *program]

    def run(self, title, memory, under_tencache=False):
        """Runs the GPT on a device with `memory` bytes; None: as much as there is."""
        print(f"\n== {title}", flush=True)
        env, ballast = dict(self.env), None
        if not self.gpu:
            env["SOFTGPU_HBM"] = f"{(memory or ROOMY) >> 10}KiB"
        elif memory:
            ballast = subprocess.Popen([str(self.build / "tools" / "ballast"), str(memory + CONTEXT)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            print(f"   ballast: {ballast.stdout.readline().strip()}")
        done = subprocess.run(self.command(under_tencache), env=env, capture_output=True, text=True, check=False)
        if ballast:
            ballast.stdin.close()
            ballast.wait()
        for line in (done.stdout + done.stderr).splitlines():
            print(f"   {line}")
        return done


def results(output):
    """The lines that must be the same: losses and the checksum."""
    return [line for line in output.splitlines() if re.match(r"step \d+ loss|parameters \d+ checksum", line)]


def main():
    demo = Demo(pathlib.Path(sys.argv[1]).resolve(), "--gpu" in sys.argv[2:])
    first = demo.run("with room for everything", None)
    peak = re.search(r"peak live bytes (\d+)", first.stdout)
    if first.returncode != 0 or not peak:
        sys.exit("demo: the GPT does not run here even with room for everything")
    quarter = int(peak.group(1)) // 4
    second = demo.run(f"with a quarter of the memory ({quarter >> 20} MiB)", quarter)
    third = demo.run(f"with the same quarter, under tencache ({quarter >> 20} MiB)", quarter, under_tencache=True)

    failed_cleanly = second.returncode != 0 and "out of memory" in (second.stdout + second.stderr)
    same = third.returncode == 0 and results(first.stdout) == results(third.stdout)
    print("\n== compared")
    print(f"   a quarter, without tencache: {'out of memory, as expected' if failed_cleanly else 'did NOT run out of memory'}")
    print(f"   losses and checksum, all memory against a quarter under tencache: {'identical' if same else 'DIFFERENT'}")
    return 0 if failed_cleanly and same else 1


if __name__ == "__main__":
    sys.exit(main())
