"""clang-tidy over the compile database: every .cpp of ours once, in parallel.

A file found clean leaves a mark named by a hash of all that its verdict depends on: its command, the checks, and the
contents of what it includes, as the build knows it. While the mark stands the file is not looked at again.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of gcc's warnings clang does not know all.
TIDY = ["clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option"]


def sources(build, prefixes):
    """Path in the tree -> its entry of the compile database. A file built twice is looked at once."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.suffix != ".cpp" or not path.is_relative_to(ROOT) or path.is_relative_to(build):
            continue
        name = str(path.relative_to(ROOT))
        if not prefixes or name.startswith(tuple(prefixes)):
            found.setdefault(name, entry)
    return found


def dependencies(build):
    """Object -> the files that it was made of."""
    listing = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found, files = {}, []
    for line in listing.split("\n"):
        if line.startswith(" "):
            files.append(build / line.strip())
        elif ": #deps" in line:
            files = found.setdefault(line.split(": #deps")[0], [])
    return found


class Hashes:
    """Of files' contents; the toolchain's own headers count by their names."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        path = os.path.realpath(path)
        if path not in self.known:
            ours = path.startswith(str(ROOT)) and os.path.exists(path)
            self.known[path] = hashlib.sha256(pathlib.Path(path).read_bytes() if ours else path.encode()).hexdigest()
        return self.known[path]


def verdict_hash(entry, files, hashes):
    parts = [entry["command"], hashes.of(ROOT / ".clang-tidy"), hashes.of(__file__), " ".join(TIDY)]
    return hashlib.sha256("\n".join(parts + sorted(map(hashes.of, files))).encode()).hexdigest()


def look_at(build, name):
    """What clang-tidy complains about; empty: the file is clean."""
    run = subprocess.run(TIDY + ["-p", str(build), name], cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser(prog="tools/tidy", description="clang-tidy over all of our own C++.")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("prefixes", nargs="*", help="only files whose paths begin so")
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build).resolve()
    marks = build / "tidy"
    marks.mkdir(exist_ok=True)
    made_of, hashes = dependencies(build), Hashes()
    found = sources(build, arguments.prefixes)
    mark_of = {name: marks / verdict_hash(entry, made_of.get(entry["output"], []), hashes)
               for name, entry in found.items()}
    due = [name for name, entry in found.items() if entry["output"] not in made_of or not mark_of[name].exists()]
    faulty = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, complaint in zip(due, pool.map(lambda name: look_at(build, name), due)):
            if complaint:
                faulty += 1
                print(complaint.strip(), flush=True)
            else:
                mark_of[name].touch()
    print(f"{len(found)} files, {len(due)} of them looked at, {faulty} with complaints")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
