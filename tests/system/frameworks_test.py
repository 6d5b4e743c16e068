"""The ways in of Python's frameworks, as TAP: what a real Python process sees in its environment, and what is said.

Usage: frameworks_test.py PRELOAD SOFTGPU_FOLDER
"""

import json
import os
import subprocess
import sys

import tap

PRELOAD, SOFTGPU = sys.argv[1:3]
SHOW = "import json, os; print(json.dumps(dict(os.environ)))"
START = "import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); assert cuda.cuInit(0) == 0"
# Two allocations that do not fit together: the second is refused (2) unless they are managed.
ASK = START + """
def good(code):
    assert code == 0, code
device, context = ctypes.c_int(), ctypes.c_void_p()
good(cuda.cuDeviceGet(ctypes.byref(device), 0))
good(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
good(cuda.cuCtxSetCurrent(context))
print([cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(40 << 20)) for _ in range(2)])
"""
BASE = {"PATH": os.environ["PATH"], "LD_PRELOAD": PRELOAD, "LD_LIBRARY_PATH": SOFTGPU, "SOFTGPU_HBM": "64MiB",
        "TENCACHE_HOST": "128MiB"}
ASYNC = "backend:cudaMallocAsync"
PYTORCH, OLD_PYTORCH = "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"
JAX, JAX_AHEAD, TENSORFLOW = "XLA_PYTHON_CLIENT_ALLOCATOR", "XLA_PYTHON_CLIENT_PREALLOCATE", "TF_GPU_ALLOCATOR"
ALL = {PYTORCH: ASYNC, OLD_PYTORCH: ASYNC, JAX: "cuda_async", JAX_AHEAD: "false", TENSORFLOW: "cuda_malloc_async"}
NONE = dict.fromkeys(ALL)


def run(code, environment, *before):
    return subprocess.run([*before, sys.executable, "-c", code], env=BASE | environment, capture_output=True, text=True,
                          check=False, timeout=60)


def expect(name, wanted, got):
    good = wanted == got
    return name, good, f"wanted {wanted}\ngot    {got}"


def seen(environment, *before, code=SHOW):
    done = run(code, environment, *before)
    if done.returncode or done.stderr:
        return done
    shown = json.loads(done.stdout)
    return {variable: shown.get(variable) for variable in ALL}


SWITCHES = [
    ("all are set where the user has set none", {}, ALL),
    ("an empty value is none", dict.fromkeys(ALL, ""), ALL),
    ("the backend is appended to the user's settings", {OLD_PYTORCH: "max_split_size_mb:64"},
     ALL | {PYTORCH: None, OLD_PYTORCH: "max_split_size_mb:64," + ASYNC}),
    ("a list among the settings stays whole", {PYTORCH: "roundup_power2_divisions:[256:1,>:4] , "},
     ALL | {PYTORCH: "roundup_power2_divisions:[256:1,>:4]," + ASYNC, OLD_PYTORCH: None}),
    ("both variables are appended to", {PYTORCH: "expandable_segments:False", OLD_PYTORCH: "max_split_size_mb:64"},
     ALL | {PYTORCH: "expandable_segments:False," + ASYNC, OLD_PYTORCH: "max_split_size_mb:64," + ASYNC}),
    ("the user's backend wins", {OLD_PYTORCH: "max_split_size_mb:64, backend : native"},
     ALL | {PYTORCH: None, OLD_PYTORCH: "max_split_size_mb:64, backend : native"}),
    ("the user's allocator of JAX wins", {JAX: "platform"}, ALL | {JAX: "platform", JAX_AHEAD: None}),
    ("the user's preallocation of JAX wins", {JAX_AHEAD: "true"}, ALL | {JAX_AHEAD: "true"}),
    ("the user's allocator of TensorFlow wins", {TENSORFLOW: "bfc"}, ALL | {TENSORFLOW: "bfc"}),
    ("TENCACHE=off leaves all alone", {"TENCACHE": "off"}, NONE),
    ("several ranks are left alone", {"WORLD_SIZE": "2"}, NONE),
    ("one rank is not several", {"WORLD_SIZE": "1"}, ALL),
]


def switches():
    for name, environment, wanted in SWITCHES:
        yield expect(name, wanted, seen(environment))
    again = f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {SHOW!r}])"
    yield expect("nothing is appended twice along a chain of exec", ALL | {PYTORCH: None, OLD_PYTORCH: "a:1," + ASYNC},
                 seen({OLD_PYTORCH: "a:1"}, "sh", "-c", 'exec "$@"', "sh", code=again))
    done = subprocess.run(["env"], env=BASE, capture_output=True, text=True, check=True)
    yield "other programs are left alone", not any(f"{name}=" in done.stdout for name in ALL), done.stdout


def lines(name, environment, *words, code=START):
    """One line with each of the words; none where there are no words."""
    said = run(code, environment)
    good = said.returncode == 0 and said.stderr.count("\n") == bool(words) and all(word in said.stderr for word in words)
    return name, good, str(said)


def expandable_segments():
    yield lines("expandable segments that PyTorch ignores are said", {PYTORCH: "expandable_segments:True"},
                "expandable_segments has no effect")
    yield lines("expandable segments that are not managed are said",
                {OLD_PYTORCH: "backend:native,expandable_segments:True"}, "expandable_segments makes memory that is not managed")
    yield lines("expandable segments turned off are not", {PYTORCH: "expandable_segments:False"})
    yield lines("nothing is said before a CUDA call", {PYTORCH: "expandable_segments:True"}, code="")
    yield lines("nothing is said with TENCACHE=off", {PYTORCH: "expandable_segments:True", "TENCACHE": "off"})


RANKS = [
    ("one process is managed", {}, "[0, 0]", ()),
    ("a job of one rank is managed", {"WORLD_SIZE": "1", "OMPI_COMM_WORLD_SIZE": "1"}, "[0, 0]", ()),
    ("what is no number is no rank", {"WORLD_SIZE": "2x"}, "[0, 0]", ()),
    ("several ranks of torchrun pass through with a line", {"WORLD_SIZE": "4", "RANK": "0"}, "[0, 2]", ("WORLD_SIZE=4",)),
    ("the other ranks say nothing", {"WORLD_SIZE": "4", "RANK": "3"}, "[0, 2]", ()),
    ("several ranks of MPI pass through with a line", {"OMPI_COMM_WORLD_SIZE": "2"}, "[0, 2]", ("OMPI_COMM_WORLD_SIZE=2",)),
]


def ranks():
    for name, environment, answers, words in RANKS:
        said = run(ASK, environment)
        good = said.returncode == 0 and said.stdout.strip() == answers and said.stderr.count("\n") == len(words)
        yield name, good and all(word in said.stderr for word in words), str(said)


def main():
    cases = [*switches(), *expandable_segments(), *ranks()]
    print(f"1..{len(cases)}")
    for number, (name, good, said) in enumerate(cases, 1):
        tap.report(number, name, good, said)


if __name__ == "__main__":
    main()
