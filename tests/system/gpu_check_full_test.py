"""gpu-check's full form, packed and run on softgpu, shortened, as TAP.

Usage: gpu_check_full_test.py PACK_PY BUILD SOFTGPU_FOLDER
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tap

PACK, BUILD, SOFTGPU = sys.argv[1:4]
NEWEST_GLIBC = (2, 35)
THERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "libcuda.so.1",
         "libcudart.so.13"}  # the C library, the driver, and what the pack carries
WANTED = {  # the rows, by section, that must be there and be the same
    "found": 5,
    "doors": 1,
    "examples": 6,
    "frameworks": 1,
}


def run(pack, *arguments, **environment):
    base = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "SOFTGPU_", "LD_"))}
    return subprocess.run([pack / "run", "--short", *arguments], env=base | environment, capture_output=True, text=True, check=False)


def on_softgpu(pack):
    done = run(pack, "--softgpu", SOFTGPU, "--json", pack / "results.json", PYTHONPATH=f"{BUILD}/python")
    results = json.loads((pack / "results.json").read_text(encoding="utf-8"))
    yield "it ends well", done.returncode == 0, done.stdout + done.stderr
    yield "the questions are answered", results["questions"]["device.vmm"] == {"text": "supported"}, str(results["questions"])
    for section, count in WANTED.items():
        rows = [row for row in results["rows"] if row["section"] == section]
        same = [row for row in rows if row["result"] == "same"]
        yield f"{section}: the same {count} times", len(same) == count, json.dumps(rows, indent=1)
    frameworks = {row["name"]: row for row in results["rows"] if row["section"] == "frameworks"}
    absent = [name for name in ("PyTorch", "JAX") if frameworks[name]["result"] == "not here"]
    yield "what is not installed is said", absent == ["PyTorch", "JAX"], str(frameworks)


def elf_files(pack):
    return [path for path in sorted(pack.rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def dynamic(option, path, pattern):
    shown = subprocess.run(["readelf", option, "--wide", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(pattern, shown))


def on_an_older_machine(pack):
    """Ubuntu 22.04 with the driver and Python alone."""
    for path in elf_files(pack):
        name = str(path.relative_to(pack))
        versions = dynamic("--version-info", path, r"Name: GLIBC_([\d.]+)")
        newest = max(tuple(map(int, version.split("."))) for version in versions)
        yield f"{name} loads with an older C library", newest <= NEWEST_GLIBC, f"asks for {newest}"
        foreign = dynamic("--dynamic", path, r"\(NEEDED\).*\[(.*)\]") - THERE
        yield f"{name} needs what is there", not foreign, str(foreign)


def with_a_bare_environment(pack):
    done = subprocess.run(["/usr/bin/env", "-i", "PATH=/usr/bin:/bin", pack / "run", "--short", "--only", "examples", "--softgpu",
                           SOFTGPU], capture_output=True, text=True, check=False)
    yield "it runs with nothing set", done.returncode == 0 and ", 0 differences" in done.stdout, done.stdout + done.stderr


def a_difference(pack):
    """An example that prints its own environment prints another one under tencache."""
    (pack / "bin" / "mlp").write_text("#!/bin/sh\necho ${LD_PRELOAD}\necho peak live bytes 1000000\n", encoding="utf-8")
    done = run(pack, "--only", "examples", "--softgpu", SOFTGPU)
    yield "a difference is a failure", done.returncode == 1 and done.stdout.count("DIFFERENT") == 2, done.stdout + done.stderr


def without_a_gpu(pack):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "libcuda.so.1").write_text("", encoding="utf-8")
        done = run(pack, LD_LIBRARY_PATH=folder)
    said = done.stdout == "gpu-check: no GPU here: no driver (libcuda.so.1) was found\n"
    yield "without a GPU it says so", done.returncode == 0 and said, done.stdout + done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        pack = pathlib.Path(folder, "pack")
        subprocess.run([sys.executable, PACK, BUILD, pack], check=True, stdout=subprocess.DEVNULL)
        cases = [*on_an_older_machine(pack), *on_softgpu(pack), *with_a_bare_environment(pack), *without_a_gpu(pack),
                 *a_difference(pack)]
    print(f"1..{len(cases)}")
    for number, (name, good, said) in enumerate(cases, 1):
        tap.report(number, name, good, said)


if __name__ == "__main__":
    main()
