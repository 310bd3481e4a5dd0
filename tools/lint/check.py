#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs static checkers over the sources. A file that was clean is checked again only when
something that the checker reads has changed (cache.py). JOBS=N runs N processes at a time.

  check.py units               prints the C sources that tidy and cppcheck read
  check.py tidy                clang-tidy: every check of .clang-tidy on every unit, with
                               the static analyzer in its shallow mode; in its full mode
                               on changed units
  check.py tidy --full         clang-tidy with the full analyzer on every unit (make soak)
  check.py cppcheck            cppcheck on every unit
  check.py shellcheck FILE...  shellcheck on scripts and the files they source

The full analyzer takes 95 % of clang-tidy's time. The shallow mode takes a tenth of
that: it inlines tiny functions only and stops after fewer states. Without the callees it
can be wrong, so the full analyzer decides on each unit where the shallow one reports
something.

A unit counts as changed if the file, or the header of the same name, differs between HEAD^
(the first parent of the last commit) and the working tree. If there are more than MOST
changed units, the first MOST by name count. The output ends with a line
"left to make soak: ..." that counts the units whose full analysis was not done.
"""
import os
import re
import subprocess
import sys

import cache

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The kernel build checks the drivers with sparse and W=1; the kernel verifies BPF programs.
UNITS = ["lib/*.c", "tools/ntrace/*.c", "tools/vsoc/model/*.c", ":!tools/ntrace/ctr/bpf"]
HEADERS = ["lib/*.h", "tools/*.h", "kernel/include/*.h"]
INCLUDE = ["-Ilib/include", "-Ilib", "-Ikernel/include", "-Ikernel/include/uapi", "-Itools/vsoc/model",
           "-Itools/ntrace"]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-DNTRACE_BPF=none", *INCLUDE]
SHALLOW = [f"--extra-arg={word}" for setting in ("mode=shallow", "max-nodes=20000")
           for word in ("-Xclang", "-analyzer-config", "-Xclang", setting)]
# Small enough to balance the load of parallel checkers, large enough to share their startup.
BATCH = 6
MOST = 20


def files(*patterns):
    """Tracked files and new ones that are not ignored."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--deduplicate", "--", *patterns],
                         check=True, capture_output=True, text=True).stdout
    return [path for path in out.splitlines() if os.path.isfile(path)]


def changed(units):
    """Returns the changed units, as defined above."""
    names = set(files_of("diff", "--name-only", "HEAD")) | set(files_of("ls-files", "-o", "--exclude-standard"))
    names |= set(files_of("diff", "--name-only", "HEAD^", "HEAD"))
    return [unit for unit in units if unit in names or unit[:-1] + "h" in names]


def files_of(*command):
    """Lines that a git command prints; none if it fails, as HEAD^ does in a clone of one commit."""
    return subprocess.run(["git", *command], capture_output=True, text=True).stdout.splitlines()


def findings(command):
    """Runs a checker and returns (is clean, its lines), with paths relative to the tree."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    lines = run.stdout.replace(TOP + "/", "").splitlines()
    if run.returncode and not lines:
        lines = run.stderr.replace(TOP + "/", "").splitlines()[-60:] or [f"{command[0]}: status {run.returncode}"]
    return run.returncode == 0, lines


def check_all(clean, keys, command, size=BATCH):
    """Runs command(files) over the files whose key is not clean; returns {file: findings}."""
    found = {}

    def check(batch):
        good, lines = findings(command(batch))
        if not good and len(batch) > 1:
            for name in batch:
                check([name])
        elif not good:
            found[batch[0]] = lines
        else:
            for name in batch:
                if keys[name]:
                    clean.add(keys[name])

    todo = [name for name in keys if not keys[name] or keys[name] not in clean]
    cache.parallel(check, [todo[at:at + size] for at in range(0, len(todo), size)])
    return found


def show(found):
    for line in sorted({line for lines in found.values() for line in lines}):
        print(line)
    return bool(found)


def tidy(arguments):
    full = arguments == ["--full"]
    units = files(*UNITS)
    version = cache.version("clang-tidy")
    config = cache.read(".clang-tidy")
    clean = cache.Clean("tidy")

    def seen(unit):
        """The preprocessed unit with its comments (NOLINT); a file that fails has no key."""
        run = subprocess.run(["gcc", "-E", "-C", *FLAGS, unit], capture_output=True)
        return unit, None if run.returncode else cache.key(version, config, FLAGS, unit, run.stdout)

    keys = dict(cache.parallel(seen, units))
    full_keys = {unit: keys[unit] and cache.key("full", keys[unit]) for unit in units}

    def analyze(some):
        return check_all(clean, {unit: full_keys[unit] for unit in some},
                         lambda batch: ["clang-tidy", "--quiet", *batch, "--", *FLAGS], 1)

    deep = units if full else changed(units)[:MOST]
    found = analyze(deep)
    known = {unit for unit in units if full_keys[unit] and full_keys[unit] in clean}
    shallow = {unit: keys[unit] and cache.key(SHALLOW, keys[unit]) for unit in units
               if unit not in known and unit not in deep}
    found |= analyze(check_all(clean, shallow, lambda batch: ["clang-tidy", "--quiet", *SHALLOW, *batch, "--", *FLAGS]))
    show({unit: [line for line in lines if re.search(r"(warning|error): ", line)] or lines
          for unit, lines in found.items()})
    known |= set(found) | {unit for unit in units if full_keys[unit] and full_keys[unit] in clean}
    left = len(units) - len(known)
    if left:
        print(f"left to make soak: clang-tidy's full analyzer on {left} of {len(units)} units "
              f"({len(deep)} changed units were checked with it)")
    return bool(found)


def cppcheck(_):
    """A unit's key covers all headers: cppcheck is fast, and its own preprocessor picks them."""
    units = files(*UNITS)
    command = ["cppcheck", "--quiet", "--enable=warning,portability,performance", "--inline-suppr",
               "--error-exitcode=1", "--suppress=missingIncludeSystem", "--suppress=unknownMacro",
               "--suppress=normalCheckLevelMaxBranches", "--std=c11", "-D_GNU_SOURCE", "-D__x86_64__", *FLAGS[2:]]
    common = cache.key(cache.version("cppcheck"), command,
                       [part for path in files(*HEADERS) for part in (path, cache.read(path))])
    keys = {unit: cache.key(common, unit, cache.read(unit)) for unit in units}
    return show(check_all(cache.Clean("cppcheck"), keys, lambda batch: [*command, *batch]))


def sourced(path):
    """Returns the files that a script sources, directly or not, and the script itself; sorted."""
    found, todo = {path}, [path]
    while todo:
        text = cache.read(todo.pop()).decode(errors="replace")
        for word in re.findall(r"shellcheck source=(\S+)|^\s*(?:\.|source)\s+(\S+)", text, re.M):
            name = os.path.normpath(word[0] or word[1].strip("\"'"))
            if os.path.isfile(name) and name not in found:
                found.add(name)
                todo.append(name)
    return sorted(found)


def shellcheck(scripts):
    common = cache.key(cache.version("shellcheck"), cache.read(".shellcheckrc"))
    keys = {path: cache.key(common, path, [part for name in sourced(path) for part in (name, cache.read(name))])
            for path in scripts}
    return show(check_all(cache.Clean("shellcheck"), keys, lambda batch: ["shellcheck", "-x", *batch]))


def main():
    os.chdir(TOP)
    os.environ["LC_ALL"] = "C.UTF-8"
    what = sys.argv[1:2]
    if what == ["units"]:
        print("\n".join(files(*UNITS)))
        return 0
    kinds = {"tidy": tidy, "cppcheck": cppcheck, "shellcheck": shellcheck}
    if len(what) != 1 or what[0] not in kinds:
        sys.exit(__doc__)
    return kinds[what[0]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
