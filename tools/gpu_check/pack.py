"""Puts gpu-check's full form into one folder, to be carried to a machine with a GPU: pack.py BUILD FOLDER

FOLDER/run then needs the CUDA driver, Python and a C library there, and nothing else.
"""

import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FROM_BUILD = {  # in the build folder: in the pack
    "tools/gpu_check/gpu_check": "bin/gpu_check",
    "tools/torture_programs/torture-program": "bin/torture-program",
    "tools/tencache/tencache": "bin/tencache",
    "examples/gpt/gpt": "bin/gpt",
    "examples/mlp/mlp": "bin/mlp",
    "examples/streams/streams": "bin/streams",
    "interpose/libtencache.so": "lib/tencache/libtencache.so",
    "tools/gpu_check/libcudart.so.13": "lib/libcudart.so.13",
    "examples/python_mlp/kernels.ptx": "loops/kernels.ptx",
}
FROM_SOURCE = {
    "examples/python_mlp/train.py": "loops/train.py",
    "tools/gpu_check/full/loops/pytorch_loop.py": "loops/pytorch_loop.py",
    "tools/gpu_check/full/loops/jax_loop.py": "loops/jax_loop.py",
    "tools/gpu_check/full/loops/bindings_loop.py": "loops/bindings_loop.py",
    "tools/gpu_check/full/found.py": "found.py",
    "tools/gpu_check/full/frameworks.py": "frameworks.py",
    "tools/gpu_check/full/machine.py": "machine.py",
    "tools/gpu_check/full/programs.py": "programs.py",
    "tools/gpu_check/full/run.py": "run",
}


def copy(folder, table, pack):
    for name, place in table.items():
        (pack / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / name, pack / place)


def newest_glibc(pack):
    """The newest version of the C library that a program of the pack asks for."""
    versions = set()
    for program in [*(pack / "bin").iterdir(), pack / "lib/tencache/libtencache.so"]:
        needs = subprocess.run(["readelf", "--version-info", "--wide", program], capture_output=True, text=True, check=True).stdout
        versions |= {tuple(map(int, found.split("."))) for found in re.findall(r"Name: GLIBC_([\d.]+)", needs)}
    return ".".join(map(str, max(versions)))


def main():
    build, pack = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    copy(build, FROM_BUILD, pack)
    copy(SOURCE, FROM_SOURCE, pack)
    (pack / "run").chmod(0o755)
    size = sum(path.stat().st_size for path in pack.rglob("*") if path.is_file())
    print(f"{pack}: {size / 1e6:.1f} MB, for glibc {newest_glibc(pack)} and newer; there: {pack.name}/run --json FILE")


if __name__ == "__main__":
    main()
