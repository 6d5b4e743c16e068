"""gpu-check where there is no GPU or a driver that fails, as TAP.

Usage: gpu_check_test.py GPU_CHECK FAILING_DRIVER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

GPU_CHECK, FAILING_DRIVER = (os.path.abspath(path) for path in sys.argv[1:3])


def ask(library_folder, *arguments, **environment):
    environment = os.environ | {"LD_LIBRARY_PATH": library_folder} | environment
    return subprocess.run([GPU_CHECK, *arguments], env=environment, capture_output=True, text=True, check=False)


def with_failing_driver(how, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "libcuda.so.1").symlink_to(FAILING_DRIVER)
        return ask(folder, "--only", "device", *arguments, FAILING_DRIVER=how)


def no_driver_is_no_failure():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "libcuda.so.1").write_text("")
        run = ask(folder)
    assert run.returncode == 0
    assert run.stdout == "gpu-check: no GPU here: no driver (libcuda.so.1) was found\n", run.stdout


def a_hang_is_an_answer():
    run = with_failing_driver("hang", "--limit", "1")
    assert run.returncode == 0
    assert run.stdout.split() == "device.stopped no answer within 1 s".split(), run.stdout


def a_crash_is_an_answer():
    assert with_failing_driver("crash").stdout.split() == "device.stopped Segmentation fault".split()


def a_refusal_is_an_answer():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "answers.json")
        with_failing_driver("refuse", "--json", str(path))
        answers = json.loads(path.read_text(encoding="utf-8"))
    assert answers == {"schema": 1, "device.stopped": {"text": "cuDevicePrimaryCtxRetain: error 2"}}, answers


def wrong_use_is_said():
    assert ask("", "--fast").returncode == 2


TESTS = [no_driver_is_no_failure, a_hang_is_an_answer, a_crash_is_an_answer, a_refusal_is_an_answer, wrong_use_is_said]


def main():
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        try:
            test()
            print(f"ok {number} {test.__name__}")
        except AssertionError as problem:
            print(f"# {problem}")
            print(f"not ok {number} {test.__name__}")


if __name__ == "__main__":
    main()
