"""libcuda.so.1's stand-in exports what the driver exports, and hands out its own even behind a preload. TAP.

Usage: cuda_exports_test.py LIBRARY SYMBOLS COMPILER...
"""

import ctypes
import os
import subprocess
import sys
import tempfile

INTERPOSER = 'extern "C" int cuMemAlloc_v2(void*, unsigned long) { return 999; }\n'


def exported(path):
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def exports_are_the_drivers(library, symbols):
    with open(symbols, encoding="utf-8") as file:
        wanted = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    for name in sorted(exported(library) ^ wanted):
        print(f"# only in one: {name}")
    return exported(library) == wanted


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def hands_out_its_own(library):
    cuda = ctypes.CDLL(library)
    found = ctypes.c_void_p()
    answer = cuda.cuGetProcAddress_v2(b"cuMemAlloc", ctypes.byref(found), 13000, ctypes.c_uint64(0), None)
    return answer == 0 and found.value == address_of(cuda.cuMemAlloc_v2)


def also_behind_a_preload(library, compiler):
    with tempfile.TemporaryDirectory() as folder:
        preload = os.path.join(folder, "preload.so")
        subprocess.run([*compiler, "-shared", "-fPIC", "-x", "c++", "-", "-o", preload], input=INTERPOSER, text=True,
                       check=True)
        command = [sys.executable, __file__, library]
        return subprocess.run(command, env={**os.environ, "LD_PRELOAD": preload}, check=False).returncode == 0


def main():
    library = sys.argv[1]
    if len(sys.argv) == 2:  # the process behind the preload
        sys.exit(0 if hands_out_its_own(library) else 1)
    results = [("exports are the driver's", exports_are_the_drivers(library, sys.argv[2])),
               ("cuGetProcAddress hands out what is exported", hands_out_its_own(library)),
               ("and so behind a preload", also_behind_a_preload(library, sys.argv[3:]))]
    print(f"1..{len(results)}")
    for number, (title, passed) in enumerate(results, 1):
        print(f"{'ok' if passed else 'not ok'} {number} {title}")


if __name__ == "__main__":
    main()
