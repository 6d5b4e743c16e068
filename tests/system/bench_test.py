"""tools/bench in a short run, as TAP. Usage: bench_test.py BENCH_PY BUILD"""

import json
import pathlib
import subprocess
import sys
import tempfile

BENCH, BUILD = sys.argv[1:3]


def bench(build, only):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "figures.json")
        run = subprocess.run([sys.executable, BENCH, "--build", build, "--quick", "--only", only, "--json", str(path)],
                             capture_output=True, text=True, check=False)
        return run, json.loads(path.read_text(encoding="utf-8"))


def a_figure_has_value_unit_and_aim():
    run, figures = bench(BUILD, "alloc.pair")
    assert run.returncode == 0, run.stdout + run.stderr
    assert list(figures) == ["alloc.pair_ns"]
    assert sorted(figures["alloc.pair_ns"]) == ["aim", "unit", "value"]
    assert figures["alloc.pair_ns"]["value"] > 0


def what_a_launch_costs_more_is_measured_in_one_process():
    run, figures = bench(BUILD, "launch.")
    assert run.returncode == 0, run.stdout + run.stderr
    assert figures["launch.added_ns"]["unit"] == "ns"


def a_graphs_launch_is_measured_whole_and_by_the_node():
    run, figures = bench(BUILD, "graph_launch")
    assert run.returncode == 0, run.stdout + run.stderr
    assert list(figures) == ["graph_launch.added_ns", "graph_launch.per_node_ns"]


def what_cannot_be_measured_is_no_figure():
    with tempfile.TemporaryDirectory() as nothing_built:
        run, figures = bench(nothing_built, "alloc.pair")
    assert (run.returncode, figures) == (1, {})
    assert "not measured: " in run.stdout and "is not built" in run.stdout, run.stdout


TESTS = [a_figure_has_value_unit_and_aim, what_a_launch_costs_more_is_measured_in_one_process,
         a_graphs_launch_is_measured_whole_and_by_the_node,
         what_cannot_be_measured_is_no_figure]


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
