"""The command `tencache` as its users run it, as TAP.

Usage: tencache_command_test.py TENCACHE LIBRARY SOURCE_ROOT SOFTGPU_FOLDER
TENCACHE is copied into an installation of its own, with LIBRARY in the place of libtencache.so.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

BUILT, LIBRARY, SOURCE_ROOT = sys.argv[1:4]
SOFTGPU = os.path.abspath(sys.argv[4])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("TENCACHE", "LD_"))}


class Installation:
    def __init__(self, folder):
        self.program = pathlib.Path(folder) / "bin" / "tencache"
        self.library = pathlib.Path(folder) / "lib" / "tencache" / "libtencache.so"
        self.program.parent.mkdir(parents=True)
        self.library.parent.mkdir(parents=True)
        shutil.copy(BUILT, self.program)
        shutil.copy(LIBRARY, self.library)

    def __call__(self, *arguments, **environment):
        return subprocess.run([self.program, *arguments], env=CLEAN | environment, capture_output=True, text=True, check=False)

    def environment_under(self, *arguments, **environment):
        out = self("run", *arguments, "/usr/bin/env", **environment).stdout
        return dict(line.split("=", 1) for line in out.splitlines() if "=" in line)


def run_becomes_the_program(tencache):
    assert tencache("run", "--", "/bin/sh", "-c", "exit 37").returncode == 37
    assert tencache("run", "/bin/sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM
    assert tencache("run", "--", "/bin/echo", "--hbm", "-x").stdout == "--hbm -x\n"


def refuses(tencache, code, said, *arguments, **environment):
    """One line: why, that nothing was started, and what to do."""
    done = tencache("run", *arguments, **environment)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"tencache: {said}\n"), done


def run_fails_as_env_does(tencache):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "train.py")
        script.write_text("#!/no/such/interpreter\n", encoding="utf-8")
        executable = "make it executable with chmod +x, or run what reads it: tencache run -- python train.py"
        refuses(tencache, 126, f"cannot run {script}: Permission denied; nothing was started; {executable}", script)
        refuses(tencache, 126, f"cannot run {folder}: Permission denied; nothing was started; {executable}", folder)
        script.chmod(0o755)
        refuses(tencache, 127, f"cannot run {script}: No such file or directory; nothing was started; the file is there, "
                "what its first line or its loader names is not: install that", script)
    refuses(tencache, 127, "cannot run no-such-program: No such file or directory; nothing was started; "
            "it is in no folder of PATH: give its whole path", "--", "no-such-program")
    refuses(tencache, 127, "cannot run /no/such/program: No such file or directory; nothing was started; check its path",
            "/no/such/program")


def run_wants_a_program(tencache):
    said = "run wants a program; nothing was started; try: tencache run -- python train.py"
    for arguments in [(), ("--",), ("--hbm", "8GiB"), ("--detached", "--")]:
        refuses(tencache, 125, said, *arguments)


def run_knows_its_options(tencache):
    listed = "nothing was started; `tencache run --help` lists them"
    refuses(tencache, 125, f"run has no option --no-such-option; {listed}", "--no-such-option", "/bin/true")
    refuses(tencache, 125, f"run has no option --hb=8GiB; {listed}", "--hb=8GiB", "/bin/true")
    refuses(tencache, 125, f"run has no option -; {listed}", "-", "/bin/true")
    refuses(tencache, 125, "--hbm wants a value; nothing was started; `tencache run --help` says which", "--hbm")


def run_sets_the_preload(tencache):
    ours = str(tencache.library)
    assert tencache.environment_under()["LD_PRELOAD"] == ours
    libc = next(line.split()[2] for line in subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=True)
                .stdout.splitlines() if "libc.so.6" in line)
    assert tencache.environment_under(LD_PRELOAD=libc)["LD_PRELOAD"] == f"{ours}:{libc}"


def run_sets_the_preload_once(tencache):
    ours = str(tencache.library)
    assert tencache.environment_under(LD_PRELOAD=ours)["LD_PRELOAD"] == ours
    again = tencache("run", str(tencache.program), "run", "/usr/bin/env")
    assert f"LD_PRELOAD={ours}\n" in again.stdout


def run_is_loaded_into_the_program(tencache):
    assert str(tencache.library) in tencache("run", "/bin/cat", "/proc/self/maps").stdout


def run_turns_options_into_variables(tencache):
    got = tencache.environment_under("--hbm", "8GiB", "--host=75%", "--detached", "--summary=/tmp/x.%p", "--")
    assert got["TENCACHE_HBM"] == "8GiB"
    assert got["TENCACHE_HOST"] == "75%"
    assert got["TENCACHE_DETACHED"] == "on"
    assert got["TENCACHE_SUMMARY"] == "/tmp/x.%p"


def run_refuses_a_wrong_value(tencache):
    refuses(tencache, 125, "--hbm 8 is wrong: a size needs a unit, such as 8GiB or 512M; nothing was started",
            "--hbm", "8", "/bin/true")


def run_refuses_the_environment_only_when_strict(tencache):
    assert tencache("run", "/bin/true", TENCACHE_HBN="8GiB").returncode == 0
    strict = tencache("run", "/bin/true", TENCACHE_HBN="8GiB", TENCACHE_STRICT="1")
    assert strict.returncode == 125
    assert "did you mean TENCACHE_HBM?" in strict.stderr


def run_wants_a_library_it_can_preload(tencache):
    with tempfile.TemporaryDirectory(prefix="with blank ") as folder:
        assert "has a blank or colon" in Installation(folder)("run", "/bin/true").stderr
    with tempfile.TemporaryDirectory() as folder:
        bare = Installation(folder)
        bare.library.unlink()
        refuses(bare, 125, "libtencache.so is not where this program looks for it, in ../lib/tencache; nothing was started; "
                "install both together", "/bin/true")


def options_page_is_the_table(tencache):
    printed = tencache("options", "--markdown").stdout
    page = pathlib.Path(SOURCE_ROOT, "docs", "options.md").read_text(encoding="utf-8")
    assert page == printed, "write it anew: tencache options --markdown > docs/options.md"


def options_say_where_a_value_is_from(tencache):
    out = tencache("options", TENCACHE_HBM="8192MiB").stdout
    assert "TENCACHE_HBM               8GiB (environment)\n" in out
    assert "TENCACHE_HOST              50% (default)\n" in out


def doctor_answers_in_json(tencache):
    answer = tencache("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(answer.stdout)["checks"]}
    assert answer.returncode == (1 if any(c["level"] == "FAIL" for c in checks.values()) else 0)
    assert checks["tencache library"]["level"] == "OK"
    assert checks["ldconfig trap"]["level"] == "OK"


def doctor_counts_the_doors(tencache):
    answer = tencache("doctor", "--doors")
    rows = [line.rsplit(None, 3) for line in answer.stdout.splitlines()[1:]]
    sums = [sum(int(row[column]) for row in rows[:-1]) for column in (1, 2, 3)]
    assert answer.returncode == 0
    assert list(map(int, rows[-1][1:])) == sums
    assert sum(sums) == 637


def doctor_finds_a_link_made_by_ldconfig(tencache):
    link = tencache.library.parent / "libcuda.so.1"
    link.symlink_to("libtencache.so")
    checks = {c["name"]: c for c in json.loads(tencache("doctor", "--json").stdout)["checks"]}
    link.unlink()
    assert checks["ldconfig trap"]["level"] == "FAIL"


def doctor_names_other_preloads(tencache):
    out = tencache("doctor", LD_PRELOAD=f"{tencache.library}").stdout
    assert "OK    other preloads    none" in out, out


def doctor_is_content_on_softgpu(tencache):
    answer = tencache("doctor", "--json", LD_LIBRARY_PATH=SOFTGPU)
    checks = {check["name"]: check for check in json.loads(answer.stdout)["checks"]}
    assert answer.returncode == 0, answer.stdout
    assert checks["host blocks"]["detail"] == "HOST works; HOST_NUMA 0 works", checks["host blocks"]


def doctor_says_what_softgpu_lacks(tencache):
    answer = tencache("doctor", "--json", LD_LIBRARY_PATH=SOFTGPU, SOFTGPU_HOST_VMM="")
    failed = [check["name"] for check in json.loads(answer.stdout)["checks"] if check["level"] == "FAIL"]
    assert (answer.returncode, failed) == (1, ["host blocks"]), answer.stdout


def wrong_use_is_said(tencache):
    assert tencache().returncode == 2
    wrong = tencache("runn")
    assert wrong.returncode == 2
    assert wrong.stderr == "tencache: no command is named runn; `tencache help` lists them\n"
    assert tencache("help").returncode == 0
    assert tencache("--version").stdout.startswith("tencache ")


TESTS = [
    run_becomes_the_program,
    run_fails_as_env_does,
    run_wants_a_program,
    run_knows_its_options,
    run_sets_the_preload,
    run_sets_the_preload_once,
    run_is_loaded_into_the_program,
    run_turns_options_into_variables,
    run_refuses_a_wrong_value,
    run_refuses_the_environment_only_when_strict,
    run_wants_a_library_it_can_preload,
    options_page_is_the_table,
    options_say_where_a_value_is_from,
    doctor_answers_in_json,
    doctor_counts_the_doors,
    doctor_finds_a_link_made_by_ldconfig,
    doctor_names_other_preloads,
    doctor_is_content_on_softgpu,
    doctor_says_what_softgpu_lacks,
    wrong_use_is_said,
]


def main():
    print(f"1..{len(TESTS)}")
    with tempfile.TemporaryDirectory() as folder:
        tencache = Installation(folder)
        for number, test in enumerate(TESTS, 1):
            try:
                test(tencache)
                print(f"ok {number} {test.__name__}")
            except (AssertionError, KeyError, ValueError) as problem:
                print(f"# {type(problem).__name__}: {problem}")
                print(f"not ok {number} {test.__name__}")


if __name__ == "__main__":
    main()
