"""Rules of the source tree, as TAP: one test a rule, each failure with the file and line that breaks it.

Usage: tree.py SOURCE_ROOT
"""

import pathlib
import re
import subprocess
import sys
import tomllib

CODE = (".cpp", ".hpp", ".cu", ".c", ".h", ".S")
MAX_LINES = 400
MAX_README = 40
MAX_FUNCTION = 70
USUAL_FUNCTION = 30  # nine in ten are shorter

# Which part of the house may include which (docs/architecture.md). Keys are path prefixes, longest match first.
MAY_INCLUDE = {
    "src/base": ["src/base"],
    "src/driver": ["src/base", "src/driver"],
    "src/runtime": ["src/base", "src/driver", "src/runtime", "vmm", "policy"],
    "interpose": ["src/base", "src/driver", "src/runtime/runtime.hpp", "interpose"],
    "vmm": ["src/base", "src/driver", "vmm"],
    "policy": ["src/base/units.hpp", "src/base/status.hpp", "policy"],
    "tools/softgpu": ["tools/softgpu", "interpose/gen"],
    "tools": ["src/base", "src/driver", "policy", "tools"],
    "examples": ["examples"],
}


def tracked(root):
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.split("\n")
    else:  # an exported tree without its history
        names = [str(p.relative_to(root)) for p in pathlib.Path(root).rglob("*") if p.is_file()]
    skipped = ("build", ".git/")
    return [n for n in names if n and not n.startswith(skipped) and (pathlib.Path(root) / n).is_file()]


def read(root, name):
    return (pathlib.Path(root) / name).read_text(encoding="utf-8", errors="replace")


def code_files(root):
    return [n for n in tracked(root) if n.endswith(CODE)]


def part_of(name):
    prefixes = [p for p in MAY_INCLUDE if name.startswith(p + "/")]
    return max(prefixes, key=len) if prefixes else None


def allowed(part, target):
    return any(target == a or target.startswith(a + "/") for a in MAY_INCLUDE[part])


def include_directions(root):
    for name in code_files(root):
        part = part_of(name)
        if part is None:
            continue
        for number, line in enumerate(read(root, name).split("\n"), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match or "/" not in match.group(1):
                continue
            if not allowed(part, match.group(1)):
                yield f"{name}:{number}: {part} may not include {match.group(1)}"


def policy_is_pure(root):
    banned = re.compile(r"#\s*include\s*<(cuda\w*\.h|thread|mutex|condition_variable|chrono|ctime|time\.h|unistd\.h|fstream"
                        r"|iostream|sys/.*)>"
                        r"|\b(fopen|printf|fprintf|puts|fputs|fread|fwrite|getenv)\s*\(")
    for name in code_files(root):
        if name.startswith("policy/"):
            for number, line in enumerate(read(root, name).split("\n"), 1):
                if banned.search(line):
                    yield f"{name}:{number}: {line.strip()}"


def system_headers_in_their_place(root):
    places = {
        "liburing.h": ("vmm/", "tests/"),
        "numa.h": ("vmm/", "tests/"),
        "regex": (),
        "iostream": (),
    }
    for name in code_files(root):
        for number, line in enumerate(read(root, name).split("\n"), 1):
            match = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            if match and match.group(1) in places and not name.startswith(places[match.group(1)]):
                if match.group(1) == "iostream" and name.startswith("examples/"):
                    continue
                yield f"{name}:{number}: <{match.group(1)}> does not belong here"


def files_are_short(root):
    for name in code_files(root) + [n for n in tracked(root) if n.endswith(".py")]:
        lines = read(root, name).count("\n")
        if lines > MAX_LINES:
            yield f"{name}: {lines} lines, at most {MAX_LINES}"


RAW_STRING = re.compile(r'R"(\w*)\((.*?)\)\1"', re.DOTALL)
NO_FUNCTION = re.compile(r"(template <.*?> )?(namespace|class|struct|enum|union|if|for|while|switch|else|do|try|case|extern)\b"
                         r"|[^(]*$|.*= *\{$")


def head_begins(lines, at):
    """The first line of what ends with `{` in line `at`."""
    while at > 0:
        before = lines[at - 1].strip()
        if not before or before.startswith(("//", "#")) or before.endswith((";", "{", "}", ":", "*/", "\\")):
            break
        at -= 1
    return at


def functions(text):
    """Name line and length in lines of each function of formatted code: it ends where a brace closes at the depth it began."""
    lines = RAW_STRING.sub(lambda raw: '""' + "\n" * raw.group().count("\n"), text).split("\n")
    at = 0
    while at < len(lines):
        if lines[at].endswith("{") and not lines[at].lstrip().startswith(("#", "//")):
            first = head_begins(lines, at)
            indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
            if not NO_FUNCTION.match(" ".join(line.strip() for line in lines[first : at + 1])):
                while at < len(lines) and not lines[at].startswith(indent + "}"):
                    at += 1
                yield first + 1, at - first + 1
        at += 1


def functions_are_small(root):
    lengths = []
    for name in code_files(root):
        if name.endswith((".cpp", ".hpp", ".cu")):
            for line, length in functions(read(root, name)):
                lengths.append(length)
                if length > MAX_FUNCTION:
                    yield f"{name}:{line}: a function of {length} lines, at most {MAX_FUNCTION}"
    longer = sum(length >= USUAL_FUNCTION for length in lengths)
    if longer * 10 > len(lengths):
        yield f"{longer} of {len(lengths)} functions have {USUAL_FUNCTION} lines or more, at most one in ten may"


def headers_open_with_their_purpose(root):
    for name in code_files(root):
        if name.endswith(".hpp"):
            text = read(root, name)
            if not text.startswith("//"):
                yield f"{name}: does not open with what it is for"
            if "#pragma once" not in text:
                yield f"{name}: no #pragma once"


def folders_have_a_readme(root):
    for folder in ("src", "interpose", "vmm", "policy", "tests", "examples", "tools", "tools/softgpu", "docs"):
        path = pathlib.Path(root) / folder / "README.md"
        if not path.is_file():
            yield f"{folder}: no README.md"
        elif path.read_text(encoding="utf-8").count("\n") > MAX_README:
            yield f"{folder}/README.md: longer than {MAX_README} lines"


def nothing_is_left_undone(root):
    words = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    for name in tracked(root):
        if name.endswith(CODE + (".py", ".build", ".md", ".sh")):
            for number, line in enumerate(read(root, name).split("\n"), 1):
                if words.search(line):
                    yield f"{name}:{number}: {line.strip()[:80]}"


def planted_faults_fit(root):
    """Each mutant of the torture replaces a text that is in its file exactly once."""
    for mutant in tomllib.loads(read(root, "tools/torture_programs/mutants.toml"))["mutant"]:
        times = read(root, mutant["file"]).count(mutant["old"])
        if times != 1:
            yield f"{mutant['file']}: the text of the mutant `{mutant['name']}` is there {times} times"


def pitfalls_have_tests(root):
    """Each name in the last column of docs/pitfalls.md is that of a test, or of a planted fault."""
    places = [name for name in tracked(root) if name.startswith("tests/") or name.endswith("mutants.toml")]
    text = "".join(read(root, name) for name in places if name.endswith((".cpp", ".py", ".build", ".toml")))
    for row in read(root, "docs/pitfalls.md").splitlines():
        for name in re.findall(r"`([^`]+)`", row.rstrip("| ").rpartition("|")[2]) if row.startswith("|") else ():
            if not re.search(rf"\b{re.escape(name)}\b", text):
                yield f"docs/pitfalls.md: `{name}` is no test"


def code_is_formatted(root):
    files = [n for n in code_files(root) if n.endswith((".cpp", ".hpp"))]
    run = subprocess.run(["clang-format", "--dry-run", "--ferror-limit=1"] + files, cwd=root, capture_output=True, text=True,
                         check=False)
    for line in run.stderr.split("\n"):
        if "code should be clang-formatted" in line:
            yield line


RULES = [
    include_directions,
    policy_is_pure,
    system_headers_in_their_place,
    files_are_short,
    functions_are_small,
    headers_open_with_their_purpose,
    folders_have_a_readme,
    nothing_is_left_undone,
    planted_faults_fit,
    pitfalls_have_tests,
    code_is_formatted,
]


def main():
    root = sys.argv[1]
    print(f"1..{len(RULES)}")
    for number, rule in enumerate(RULES, 1):
        broken = list(rule(root))
        for line in broken:
            print(f"# {line}")
        print(f"{'not ok' if broken else 'ok'} {number} {rule.__name__}")


if __name__ == "__main__":
    main()
