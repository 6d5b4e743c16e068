"""Run under tencache: by each way to the driver, whose cuMemAlloc a program gets. Usage: found.py PRELOAD"""

import ctypes
import os
import sys

VERSION, DEFAULT_STREAM, PER_THREAD_STREAM = 12000, 1, 2


def mappings():
    """(first address, last, file) of what is mapped from files."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            cells = line.split(maxsplit=5)
            if len(cells) == 6 and cells[5].startswith("/"):
                first, last = (int(end, 16) for end in cells[0].split("-"))
                yield first, last, cells[5].rstrip()


def owner(function):
    address = function if isinstance(function, int) else ctypes.cast(function, ctypes.c_void_p).value
    return next((path for first, last, path in mappings() if first <= address < last), "")


def by_proc_address(library, flags):
    address, status = ctypes.c_void_p(), ctypes.c_int()
    code = library.cuGetProcAddress_v2(b"cuMemAlloc", ctypes.byref(address), VERSION, ctypes.c_uint64(flags), ctypes.byref(status))
    return address.value if code == 0 else 0


def main():
    ours = os.path.realpath(sys.argv[1])
    library = ctypes.CDLL("libcuda.so.1")
    assert library.cuInit(0) == 0, "cuInit fails"
    genuine = next(path for _, _, path in mappings() if "libcuda.so" in path and path != ours)
    ways = {
        "dlopen libcuda.so.1": library.cuMemAlloc_v2,
        f"dlopen {genuine}": ctypes.CDLL(genuine).cuMemAlloc_v2,
        "the global scope": ctypes.CDLL(None).cuMemAlloc_v2,
        "cuGetProcAddress": by_proc_address(library, DEFAULT_STREAM),
        "cuGetProcAddress, per thread": by_proc_address(library, PER_THREAD_STREAM),
    }
    for way, function in ways.items():
        print(f"{way}: {'same' if os.path.realpath(owner(function)) == ours else 'failed'}")


if __name__ == "__main__":
    main()
