#!/usr/bin/env python3
"""gpu-check, the full form: what tencache does on this machine's GPU, in at most eight minutes.

    run [--short] [--only SECTION] [--json FILE] [--softgpu FOLDER]

Asks the questions of the first form, then runs generated driver programs, the examples, and training loops in Python
frameworks (those that are installed here), each without and with tencache at several budgets, and compares what they
print. Ends on `N rows, D differences`; exit code 1 on a difference. --softgpu: on the software device in that folder.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import frameworks
import programs
from machine import Machine, Row

SECTIONS = [  # name, what makes its rows, the seconds it may take
    ("found", programs.found, 20),
    ("doors", programs.doors, 70),
    ("examples", programs.examples, 110),
    ("frameworks", frameworks.loops, 110),
]
QUESTIONS_SECONDS = 170  # its own limit


def ask_questions(machine):
    """The first form's answers, by name; none where there is no GPU."""
    with tempfile.TemporaryDirectory() as folder:
        answers = pathlib.Path(folder, "answers.json")
        options = ["--quick", "--only", "device"] if machine.short else []
        done = machine.run([machine.program("gpu_check"), *options, "--json", answers], QUESTIONS_SECONDS + 10)
        print(done.stdout, end="", flush=True)
        return json.loads(answers.read_text(encoding="utf-8")) if answers.exists() else None


def show(row):
    print(f"{row.section:11} {row.name:34} {row.result:10} {row.seconds:7.1f} s  {row.detail}", flush=True)


def run_section(machine, name, make_rows, seconds):
    rows, machine.end = [], time.monotonic() + seconds
    try:
        for row in make_rows(machine):
            show(row)
            rows.append(row)
    except TimeoutError:
        rows.append(Row(name, "the rest", "not run", f"its {seconds} s were over", seconds))
        show(rows[-1])
    return rows


def read_arguments():
    parser = argparse.ArgumentParser(prog="run", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--short", action="store_true", help="a few seconds of each")
    parser.add_argument("--only", choices=[section[0] for section in SECTIONS], help="this section alone")
    parser.add_argument("--json", type=pathlib.Path, help="the results as JSON too")
    parser.add_argument("--softgpu", type=pathlib.Path, help="the folder of the software device")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    started = time.monotonic()
    machine = Machine(pathlib.Path(__file__).resolve().parent, arguments.softgpu, arguments.short)
    answers = ask_questions(machine)
    if answers is None:
        return 0
    rows = [row for section in SECTIONS if arguments.only in (None, section[0])
            for row in run_section(machine, *section)]
    different = sum(row.result in ("DIFFERENT", "failed") for row in rows)
    seconds = time.monotonic() - started
    if arguments.json:
        results = {"schema": 1, "seconds": seconds, "questions": answers, "rows": [row._asdict() for row in rows]}
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} rows, {different} differences, {seconds:.0f} s")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
