"""gpu-check where there is no GPU, a driver that fails, or softgpu, as TAP.

Usage: gpu_check_test.py GPU_CHECK FAILING_DRIVER SOFTGPU_FOLDER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

GPU_CHECK, FAILING_DRIVER, SOFTGPU = (os.path.abspath(path) for path in sys.argv[1:4])


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


ON_SOFTGPU = {
    "device.vmm": "supported",
    "remap.unrelated_kernel": "runs to its end without a fault",
    "alias.bytes": "are seen through both addresses",
    "alias.kernel_on_the_other": "runs to its end without a fault",
    "waits.cuMemFree": "waits for the running kernel",
    "host.HOST.kernel.atomics": "exact",
    "host.HOST_NUMA0.copy.bytes": "right",
    "host.HOST_NUMA1.stopped": "cuMemCreate: CUDA_ERROR_INVALID_VALUE",
    "unmapped.htod_async.at_call": "CUDA_ERROR_INVALID_VALUE",
    "unmapped.kernel.at_call": "succeeds",
    "unmapped.kernel.at_synchronize": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "mixed.bytes": "right",
}
MEASURED_ON_SOFTGPU = ["mapping.2MiB.create", "mapping.32MiB.unmap_over_4", "launch.while_mapping.p99", "stream.event_record",
                       "host.HOST.kernel.read_all", "link.duplex_sum.256MiB", "hbm.fingerprint"]


def softgpu_answers_every_question():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "answers.json")
        run = ask(SOFTGPU, "--quick", "--json", str(path))
        answers = json.loads(path.read_text(encoding="utf-8"))
    assert run.returncode == 0
    assert len(answers) == len(set(run.stdout.splitlines())) + 1, "two answers of one name"
    stopped = [name for name in answers if name.endswith(".stopped")]
    assert stopped == ["host.HOST_NUMA1.stopped"], [(name, answers[name]) for name in stopped]
    for name, text in ON_SOFTGPU.items():
        assert answers[name] == {"text": text}, (name, answers[name])
    for name in MEASURED_ON_SOFTGPU:
        assert answers[name]["value"] > 0, (name, answers[name])


def wrong_use_is_said():
    assert ask("", "--fast").returncode == 2


TESTS = [no_driver_is_no_failure, a_hang_is_an_answer, a_crash_is_an_answer, a_refusal_is_an_answer,
         softgpu_answers_every_question, wrong_use_is_said]


def main():
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        try:
            test()
            print(f"ok {number} {test.__name__}")
        except (AssertionError, KeyError, ValueError, OSError) as problem:
            print(f"# {type(problem).__name__}: {problem}")
            print(f"not ok {number} {test.__name__}")


if __name__ == "__main__":
    main()
