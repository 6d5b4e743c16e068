"""Builds and runs some of NVIDIA's public cuda-samples on softgpu, alone and under tencache.

    tools/samples DIR [--only NAME]

DIR is a checkout of https://github.com/NVIDIA/cuda-samples of yours. One line a run, then `N passed, N failed`.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import time

# A sample's own sources, and the one that its program loads as a fat binary at run time.
Sample = collections.namedtuple("Sample", "name sources fatbin", defaults=("",))

SAMPLES = [
    Sample("vectorAdd", "vectorAdd.cu"),
    Sample("vectorAddDrv", "vectorAddDrv.cpp", "vectorAdd_kernel"),
    Sample("vectorAddMMAP", "vectorAddMMAP.cpp multidevicealloc_memmap.cpp", "vectorAdd_kernel"),
    Sample("matrixMul", "matrixMul.cu"),
    Sample("matrixMulDrv", "matrixMulDrv.cpp", "matrixMul_kernel"),
    Sample("simpleStreams", "simpleStreams.cu"),
    Sample("simpleMultiCopy", "simpleMultiCopy.cu"),
    Sample("asyncAPI", "asyncAPI.cu"),
    Sample("simpleCallback", "simpleCallback.cu multithreading.cpp"),
    Sample("simpleAtomicIntrinsics", "simpleAtomicIntrinsics.cu simpleAtomicIntrinsics_cpu.cpp"),
    Sample("simpleVoteIntrinsics", "simpleVoteIntrinsics.cu"),
    Sample("simpleCooperativeGroups", "simpleCooperativeGroups.cu"),
    Sample("simpleOccupancy", "simpleOccupancy.cu"),
    Sample("simplePrintf", "simplePrintf.cu"),
    Sample("clock", "clock.cu"),
]
PTX_ALONE = ["-arch=compute_75", "-code=compute_75"]
TIMEOUT = 900
DEFAULT_BUILD = pathlib.Path(__file__).resolve().parent.parent / os.environ.get("TENCACHE_BUILD", "build")


class Builder:
    def __init__(self, checkout, out):
        toolkit = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
        self.nvcc = str(toolkit / "bin" / "nvcc")
        self.stubs = str(toolkit / "lib64" / "stubs") if (toolkit / "lib64" / "stubs").exists() else str(toolkit / "lib" / "stubs")
        self.checkout = checkout
        self.out = out

    def build(self, sample):
        """The program's path; what the compiler said, if it failed."""
        folder = self.checkout / "Samples" / "0_Introduction" / sample.name
        place = self.out / sample.name
        place.mkdir(parents=True, exist_ok=True)
        common = [self.nvcc, *PTX_ALONE, "-std=c++17", "-I", str(self.checkout / "Common")]
        program = place / sample.name
        sources = [folder / name for name in sample.sources.split()]
        link = ["-cudart", "shared", "-L", self.stubs, "-lcuda"] if sample.fatbin else ["-cudart", "shared"]
        said = self.make(program, sources, [*common, *map(str, sources), *link])
        if said is None and sample.fatbin:
            kernel = folder / f"{sample.fatbin}.cu"
            said = self.make(place / f"{sample.fatbin}64.fatbin", [kernel], [*common, "-fatbin", str(kernel)])
        return program, said

    def make(self, target, sources, command):
        if target.exists() and all(target.stat().st_mtime > source.stat().st_mtime for source in sources if source.exists()):
            return None
        done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True, check=False)
        return None if done.returncode == 0 else done.stdout + done.stderr


def environments(build):
    """The ways to run a program: name and environment."""
    base = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_PRELOAD"))}
    base["LD_LIBRARY_PATH"] = str(build / "tools" / "softgpu" / "lib")
    yield "alone", base
    preload = build / "interpose" / "libtencache.so"
    if preload.exists():
        yield "under tencache", base | {"LD_PRELOAD": str(preload)}


def run(program, environment):
    """None if the program ended well, else what it said."""
    try:
        done = subprocess.run([str(program)], env=environment, cwd=program.parent, capture_output=True, text=True,
                              errors="replace", timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return f"still running after {TIMEOUT} s"
    return None if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


def report(title, said, seconds):
    print(f"{'FAILED' if said is not None else 'passed'} {title} ({seconds:.1f} s)", flush=True)
    for line in (said or "").splitlines()[-12:]:
        print(f"    {line}")
    return said is None


def main():
    parser = argparse.ArgumentParser(prog="tools/samples")
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=DEFAULT_BUILD)
    parser.add_argument("--only", default="", help="only samples whose name contains this")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    builder = Builder(arguments.checkout.resolve(), build / "samples")
    results = []
    for sample in [sample for sample in SAMPLES if arguments.only in sample.name]:
        program, said = builder.build(sample)
        if said is not None:
            results.append(report(f"{sample.name} does not build", said, 0))
            continue
        for how, environment in environments(build):
            start = time.monotonic()
            said = run(program, environment)
            results.append(report(f"{sample.name} {how}", said, time.monotonic() - start))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
