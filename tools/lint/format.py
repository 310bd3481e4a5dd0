#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks C files against .clang-format: format.py [--fix] FILE...

Blanks inside a line are exempt: clang-format collapses the tabs that align macro values and
trailing comments, as the kernel's style has them. The layout of macros is exempt, too, because
clang-format 14 and 19 disagree about it. Everything else is compared line by line. Files that were
well formatted are not checked again (cache.py).
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cache

STYLE = ".clang-format"
# Files per start of clang-format.
BATCH = 60


def normal(line):
    indent = re.match(r"[ \t]*", line).group()
    return indent + re.sub(r"[ \t]+", " ", line[len(indent):].rstrip())


def macro_lines(lines):
    """Tells for each line whether it belongs to a preprocessor directive."""
    marks, inside = [], False
    for line in lines:
        inside = inside or line.lstrip().startswith("#")
        marks.append(inside)
        inside = inside and line.rstrip().endswith("\\")
    return marks


def clang_formatted(paths):
    """Returns {path: formatted lines}. It formats copies, so that one start serves many files."""
    with tempfile.TemporaryDirectory() as copies:
        shutil.copy(STYLE, copies)
        for path in paths:
            os.makedirs(os.path.dirname(os.path.join(copies, path)), exist_ok=True)
            shutil.copy(path, os.path.join(copies, path))
        subprocess.run(["clang-format", "-i", *paths], check=True, cwd=copies)
        return {path: lines_of(os.path.join(copies, path)) for path in paths}


def lines_of(path):
    with open(path) as file:
        return file.readlines()


def merged(before, after):
    """Returns @before with the changes of @after, except in exempt places."""
    if before == after:
        return before
    matcher = difflib.SequenceMatcher(None, list(map(normal, before)), list(map(normal, after)),
                                      autojunk=False)
    macro = macro_lines(before)
    result = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        keep = kind == "equal" or (i1 < i2 and all(macro[i1:i2]))
        result += before[i1:i2] if keep else after[j1:j2]
    return result


def main():
    fix = sys.argv[1:2] == ["--fix"]
    clean = cache.Clean("format")
    common = cache.key(cache.version("clang-format"), cache.read(STYLE), cache.read(__file__))
    keys = {path: cache.key(common, path, cache.read(path)) for path in sys.argv[2 if fix else 1:]}
    todo = [path for path in keys if keys[path] not in clean]
    wanted = {}
    for part in cache.parallel(clang_formatted, [todo[at:at + BATCH] for at in range(0, len(todo), BATCH)]):
        wanted.update(part)
    bad = 0
    for path in todo:
        before = lines_of(path)
        after = merged(before, wanted[path])
        if after == before:
            clean.add(keys[path])
            continue
        bad += 1
        if fix:
            with open(path, "w") as file:
                file.writelines(after)
            print(f"formatted {path}")
        else:
            sys.stdout.writelines(difflib.unified_diff(before, after, path, path + " (formatted)"))
    return 1 if bad and not fix else 0


if __name__ == "__main__":
    sys.exit(main())
