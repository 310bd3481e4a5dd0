#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=20
"""Tests the runner: every way in which a suite could pass by accident must count as a failure.

Each case is a small tree of its own with a copy of selftests/run and tests that are scripts
of a few lines.

"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SELFTESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SELFTESTS))
from tap import done, ok  # noqa: E402

GOOD = 'echo "ok 1 - one"; echo "ok 2 - two"; echo 1..2'


class Tree:
    """Makes a project with the group "lib", in which each test is a shell script."""

    def __init__(self, folder, tests, **files):
        self.top = pathlib.Path(folder)
        shutil.rmtree(self.top, ignore_errors=True)
        (self.top / "selftests/lib").mkdir(parents=True)
        shutil.copy(SELFTESTS / "run", self.top / "selftests/run")
        for name in ("skips", "floors"):
            (self.top / "selftests" / name).write_text(files.pop(name, ""))
        for name, text in tests.items():
            self.write(f"selftests/lib/{name}", f"#!/bin/bash\n{text}\n").chmod(0o755)
        for name, text in files.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *arguments, **environment):
        variables = {key: value for key, value in os.environ.items()
                     if key not in ("TEST", "SEED", "JOBS", "MAKEFLAGS", "MAKELEVEL", "NTRACE_PATIENCE")}
        result = subprocess.run([self.top / "selftests/run", *(arguments or ("lib",))], capture_output=True,
                                text=True, env={**variables, **environment})
        self.said, self.status = result.stderr + result.stdout, result.returncode
        return self.said

    def last(self):
        return self.said.strip().splitlines()[-1]


def main(folder):
    def green(text, tests, line, *patterns, **more):
        judge(text, tests, 0, line, patterns, more)

    def red(text, tests, line, *patterns, **more):
        judge(text, tests, 1, line, patterns, more)

    def judge(text, tests, status, line, patterns, more):
        environment = more.pop("environment", {})
        tree = Tree(folder, tests, **more)
        tree.run(**environment)
        missing = [pattern for pattern in patterns if not re.search(pattern, tree.said)]
        ok(tree.status == status and tree.last() == line and not missing, text,
           f"status {tree.status}, expected {status}; last line '{tree.last()}', expected '{line}'",
           f"not found: {missing}", tree.said)

    green("results are counted", {"a.sh": GOOD, "b.sh": GOOD}, "4 passed, 0 failed", r"check-lib: a\.sh: 2 passed, 0 failed in ")
    green("KTAP: version, plan first, no dash", {"a.sh": "echo KTAP version 1; echo 1..1; echo ok 1 one"}, "1 passed, 0 failed")
    red("a failed result", {"a.sh": 'echo "not ok 1 - one"; echo 1..1; exit 1'}, "0 passed, 1 failed", "not ok 1 - one",
        r"to repeat it: SEED=\d+ make check-lib TEST=a\n")

    red("TEST=typo: no test matches", {"a.sh": GOOD}, "0 passed, 1 failed", "no test file of lib matches TEST=typo",
        environment={"TEST": "typo"})
    green("TEST= chooses by name", {"a.sh": GOOD, "b.sh": "exit 1"}, "2 passed, 0 failed", environment={"TEST": "a"})
    red("a group without tests", {}, "0 passed, 1 failed", "selftests/lib has no test")
    red("1..0 without SKIP", {"a.sh": "echo 1..0"}, "0 passed, 1 failed", "a test that tests nothing")
    red("no plan", {"a.sh": 'echo "ok 1 - one"'}, "1 passed, 1 failed", "no plan, status 0")
    red("fewer results than planned", {"a.sh": 'echo 1..2; echo "ok 1 - one"'}, "1 passed, 1 failed", "planned 2 tests, ran 1")
    red("two plans", {"a.sh": 'echo 1..1; echo "ok 1 - one"; echo 1..1'}, "1 passed, 1 failed", "more than one plan")
    red("numbers that are not in order", {"a.sh": 'echo "ok 1 - one"; echo "ok 3 - two"; echo 1..2'}, "2 passed, 1 failed",
        "result 2 has the number 3")
    red("a status without a failed result", {"a.sh": f"{GOOD}; exit 3"}, "2 passed, 1 failed", "ended with status 3")
    red("a failed result without a status", {"a.sh": 'echo "not ok 1 - one"; echo 1..1'}, "0 passed, 2 failed",
        "has failed, but ended with status 0")
    red("death by a signal", {"a.sh": f"{GOOD}; kill -SEGV $$"}, "2 passed, 1 failed", "died of signal 11")
    red("Bail out!", {"a.sh": f"{GOOD}; echo 'Bail out! no disk'"}, "2 passed, 1 failed", "Bail out! no disk")
    red("a test that hangs", {"a.sh": "sleep 600"}, "0 passed, 1 failed", "too long", environment={"NTRACE_PATIENCE": "0.0004"})
    red("processes that are left behind", {"a.sh": f"{GOOD}; setsid -f true; sleep 600 >/dev/null 2>&1 & until read -r name </proc/$!/comm && [ $name = sleep ]; do :; done"}, "2 passed, 1 failed",
        "left processes behind: sleep")
    red("a script that has lost its mode", {"a.sh": GOOD}, "2 passed, 1 failed", r"lib/b\.sh has '#!', but is not executable",
        **{"selftests/lib/b.sh": "#!/bin/bash\nexit 1\n"})
    red("a program that was not built", {"a.sh": GOOD}, "2 passed, 1 failed", "build/selftests/lib/test_b was not built",
        **{"selftests/lib/test_b.c": "int main(void) {}\n"})

    skip = 'echo "ok 1 - one"; echo "ok 2 - two # SKIP no disk"; echo 1..2'
    red("a skip that is not allowed", {"a.sh": skip}, "1 passed, 1 failed", "selftests/skips does not allow: two: no disk")
    green("a skip that is", {"a.sh": skip}, "1 passed, 0 failed, 1 skipped", r"skipped: two: no disk \(disks are dear\)",
          skips="lib/a\\.sh: two\tdisks are dear\n")
    red("the same skip elsewhere", {"a.sh": skip, "b.sh": skip}, "2 passed, 1 failed, 1 skipped",
        skips="lib/a\\.sh: two\tdisks are dear\n")
    red("a whole test that is skipped", {"a.sh": "echo '1..0 # SKIP no disk'; exit 4", "b.sh": GOOD}, "2 passed, 1 failed",
        "does not allow: all of it: no disk")
    green("the same, allowed", {"a.sh": "echo '1..0 # SKIP no disk'; exit 4", "b.sh": GOOD}, "2 passed, 0 failed, 1 skipped",
          skips="lib/a\\.sh: all of it\tdisks are dear\n")
    red("nothing but skips", {"a.sh": "echo '1..0 # SKIP no disk'; exit 4"}, "0 passed, 0 failed, 1 skipped",
        skips="lib/a\\.sh: all of it\tdisks are dear\n")
    tree = Tree(folder, {"a.sh": skip}, skips="lib/a\\.sh: two\n")
    tree.run()
    ok(tree.status and "no reason" in tree.said, "a skip is allowed with a reason only", tree.said)

    red("a floor that is not reached", {"a.sh": GOOD}, "2 passed, 1 failed", "2 results, selftests/floors demands 3", floors="lib 3\n")
    green("a floor that is", {"a.sh": GOOD}, "2 passed, 0 failed", floors="# remark\nlib 2\n")
    green("no floor for a choice", {"a.sh": GOOD}, "2 passed, 0 failed", floors="lib 3\n", environment={"TEST": "a"})

    green("a retry is printed and counted", {"a.sh": f"{GOOD}; echo '# RETRY the net'"}, "2 passed, 0 failed", "retried: the net",
          r"check: 1 retries, in lib/a\.sh")
    red("two in a test", {"a.sh": f"{GOOD}; echo '# RETRY the net'; echo '# RETRY the net'"}, "2 passed, 1 failed",
        "2 retries, at most 1 allowed")
    red("four in a run", {f"{name}.sh": f"{GOOD}; echo '# RETRY the net'" for name in "abcd"}, "8 passed, 1 failed",
        "4 retries, at most 3 allowed")

    # Each run has a new seed, which it prints; a given seed is used as is.
    seeds = []
    for given in ({}, {}, {"SEED": "17"}):
        tree = Tree(folder, {"a.sh": f'echo "# $SEED" >seed; {GOOD}'})
        printed = re.search(r"test files, SEED=(\d+)", tree.run(**given))[1]
        seeds.append((printed, (tree.top / "seed").read_text().strip("# \n")))
    ok(all(printed == seen for printed, seen in seeds), "tests have the seed that is printed", seeds)
    ok(seeds[0] != seeds[1] and seeds[2][0] == "17", "a new one for each run, or the one that is given", seeds)

    # One queue: on two processors, a test that needs both runs alone, and the longest test starts
    # first.
    def logged(work):
        return f'echo "begin $0" >>log; {work}; echo "end $0" >>log; {GOOD}'

    def until_begins(name):
        """Waits for the other test; gives up, so that the check below fails, if the runner does not start it."""
        return f"for _ in {{1..300}}; do grep -q 'begin .*{name}.sh' log && break; sleep 0.1; done"

    tree = Tree(folder, {"a.sh": logged(until_begins("b")), "b.sh": logged(until_begins("a")),
                         "c.sh": "# runner: cpus=64 seconds=100\n" + logged("sleep 0.5")})
    tree.run(JOBS="2")
    lines = [re.sub(r"/.*/", "", line) for line in (tree.top / "log").read_text().split("\n")]
    ok(lines[:2] == ["begin c.sh", "end c.sh"], "the longest begins first, and alone if it wants all processors", lines)
    ok(lines[2].startswith("begin") and lines[3].startswith("begin"), "JOBS=2: two at the same time", lines)
    tree = Tree(folder, {f"{name}.sh": logged("sleep 0.1") for name in "abc"})
    tree.run(JOBS="1")
    lines = [line.split()[0] for line in (tree.top / "log").read_text().split("\n") if line]
    ok(lines == ["begin", "end"] * 3, "JOBS=1: one after the other", lines)
    tree = Tree(folder, {f"{name}.sh": f"# runner: {options}\n" + logged(work) for name, options, work in
                         (("a", "seconds=90", "true"), ("b", "seconds=80", until_begins("c")),
                          ("c", "cpus=2 seconds=70", "true"), ("d", "seconds=60", "true"))})
    tree.run(JOBS="3")
    lines = [re.sub(r"/.*/", "", line) for line in (tree.top / "log").read_text().split("\n") if line.startswith("begin")]
    ok(lines[2:] == ["begin c.sh", "begin d.sh"], "shorter tests do not keep a test from two processors", lines)
    tree = Tree(folder, {"a.sh": f"# runner: cups=2\n{GOOD}"})
    ok("'cups=2' is not guest, cpus=N or seconds=N" in tree.run() and tree.status, "an unknown word in a header", tree.said)
    last = Tree(folder, {"a.sh": GOOD})
    last.run()
    kept = json.loads((last.top / "build/results/last.json").read_text())
    ok(kept["tests"]["lib/a.sh"]["passed"] == 2, "what was measured is kept", kept)

    # Builds: a group whose build fails has failed, and the other groups run.
    def project(**targets):
        tree = Tree(folder, {"a.sh": GOOD})
        groups = re.search(r"GROUPS = \[(.*)\]", (SELFTESTS / "run").read_text())[1].replace('"', "").split(", ")
        for group in groups:
            tree.write(f"selftests/{group}/x.sh", f"#!/bin/bash\n{GOOD}\n").chmod(0o755)
        tree.write("Makefile", "".join(f"build-{group}:\n\t@{targets.get(group, 'true')}\n" for group in groups))
        return tree, len(groups)

    tree, count = project()
    tree.run("--all")
    # "lib" has two tests.
    ok(tree.last() == f"{2 * count + 2} passed, 0 failed" and not tree.status, "--all: every group", tree.said)
    tree, count = project(lib="false")
    tree.run("--all")
    ok(tree.last() == f"{2 * count - 2} passed, 1 failed" and tree.status == 1 and "could not be built: make build-lib" in tree.said,
       "--all: a group that cannot be built", tree.said)
    tree, count = project()
    tree.run("--repeat", "2")
    ok(tree.last() == "2 passed, 0 failed" and not tree.status, "--repeat: all runs are green", tree.said)
    tree.write("selftests/lib/a.sh", f"#!/bin/bash\n{GOOD}; echo '# RETRY the net'\n")
    tree.run("--repeat", "2")
    ok(tree.status == 1 and "lib/a.sh needed a retry in 2 of 2 runs" in tree.said, "--repeat: a test that passes on retry too often",
       tree.said)
    ok(Tree(folder, {}).run("--al") and "is not a use of it" in Tree(folder, {}).run("--al"), "an unknown option")
    tree = Tree(folder, {})
    ok("no group lob" in tree.run("lob") and tree.status, "an unknown group", tree.said)

    # An interrupt ends the tests, too.
    tree = Tree(folder, {"a.sh": "sleep 600 & echo $! >pid; wait"})
    process = subprocess.Popen([tree.top / "selftests/run", "lib"], stdout=subprocess.DEVNULL)
    while not (tree.top / "pid").exists() or not (tree.top / "pid").read_text():
        time.sleep(0.05)
    process.terminate()
    status = process.wait()
    child = int((tree.top / "pid").read_text())
    for _ in range(100):
        if not pathlib.Path(f"/proc/{child}").exists() or "(sleep) Z" in pathlib.Path(f"/proc/{child}/stat").read_text():
            break
        time.sleep(0.1)
    else:
        status = "still there"
    ok(status == 143, "an interrupt ends the tests, too", status)
    done()


with tempfile.TemporaryDirectory() as scratch:
    main(scratch + "/tree")
