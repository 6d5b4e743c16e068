"""The library built with each planted fault of mutants.toml, and the torture that has to find it.

Called by torture.py --mutants. A mutant is one source file compiled anew, linked in front of the build's own archives; nothing in
the build folder changes. Ends on `N of M mutants found`.
"""

import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("mutants.toml")
LIBRARY = "interpose/libtencache.so"
CONTROL = 100  # programs that the library without a fault has to pass first


def read_table():
    """The mutants; those whose text is not in the tree exactly once end the run."""
    mutants = tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]
    for mutant in mutants:
        times = (ROOT / mutant["file"]).read_text(encoding="utf-8").count(mutant["old"])
        if times != 1:
            sys.exit(f"mutants: `{mutant['name']}`: its text is {times} times in {mutant['file']}: mend {TABLE.name}")
    return mutants


class Workshop:
    """Compiles as the build does, with one file in another's place."""

    def __init__(self, build, folder):
        self.build, self.folder = build, pathlib.Path(folder)
        listing = subprocess.run(["ninja", "-C", str(build), "-t", "commands", LIBRARY], capture_output=True, text=True,
                                 check=True)
        self.commands = [shlex.split(line) for line in listing.stdout.splitlines() if " -o " in line]

    def command_of(self, source):
        for command in self.commands:
            if "-c" in command and (self.build / command[-1]).resolve() == ROOT / source:
                return list(command)
        sys.exit(f"mutants: {LIBRARY} is not built from {source}")

    def make(self, mutant):
        """The library with the fault in it."""
        source = ROOT / mutant["file"]
        text = source.read_text(encoding="utf-8").replace(mutant["old"], mutant["new"])
        changed, made, library = self.folder / source.name, self.folder / "mutant.o", self.folder / "libtencache.so"
        changed.write_text(text, encoding="utf-8")
        compile_it = self.command_of(mutant["file"])
        compile_it[compile_it.index("-o") + 1] = str(made)
        compile_it[compile_it.index("-MF") + 1] = str(self.folder / "mutant.d")
        compile_it[-1] = str(changed)
        compile_it.append("-w")  # a fault may leave a parameter unused
        link_it = list(self.commands[-1])
        link_it[link_it.index("-o") + 1] = str(library)
        link_it.insert(link_it.index("-o") + 2, str(made))
        for command in (compile_it, link_it):
            subprocess.run(command, cwd=self.build, check=True)
        return library


def programs_until_found(compare, settings, seed, programs, batch):
    """How many programs it took, 0 if none of them found it, and how it showed."""
    for number, first in enumerate(range(seed, seed + programs, batch)):
        if how := compare(settings[number % len(settings)], first, batch):
            return first - seed + batch, how
    return 0, ""


def hunt(build, compare_with, settings, seed, programs, batch, only):
    """`compare_with(library)` gives a comparison of a batch in a setting: how it is not as it should be, or an empty text."""
    mutants = [mutant for mutant in read_table() if not only or any(text in mutant["name"] for text in only)]
    if programs_until_found(compare_with(build / LIBRARY), settings, seed, min(programs, CONTROL), batch)[0]:
        sys.exit("mutants: the library as it is differs already: see torture without --mutants")
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(build, folder)
        for mutant in mutants:
            start = time.monotonic()
            took, how = programs_until_found(compare_with(workshop.make(mutant)), settings, seed, programs, batch)
            found += took > 0
            verdict = f"found within {took} programs, {how}" if took else f"NOT FOUND in {programs} programs"
            print(f"{mutant['name']}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{found} of {len(mutants)} mutants found")
    return 0 if found == len(mutants) else 1
