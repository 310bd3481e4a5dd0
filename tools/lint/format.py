#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds C files to .clang-format: format.py [--fix] FILE...

Blanks inside a line stay the author's: clang-format collapses the tabs that
align the values of macros and comments behind code, the kernel's way of writing
tables. So does the layout of macros, where clang-format 14 and 19 disagree.
Everything else is compared line by line.
"""
import difflib
import re
import subprocess
import sys


def normal(line):
    indent = re.match(r"[ \t]*", line).group()
    return indent + re.sub(r"[ \t]+", " ", line[len(indent):].rstrip())


def macro_lines(lines):
    """Which lines belong to a preprocessor directive."""
    marks, inside = [], False
    for line in lines:
        inside = inside or line.lstrip().startswith("#")
        marks.append(inside)
        inside = inside and line.rstrip().endswith("\\")
    return marks


def formatted(path, before):
    out = subprocess.run(["clang-format", path], check=True, capture_output=True, text=True)
    after = out.stdout.splitlines(keepends=True)
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
    bad = 0
    for path in sys.argv[2 if fix else 1:]:
        with open(path) as file:
            before = file.readlines()
        after = formatted(path, before)
        if after == before:
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
