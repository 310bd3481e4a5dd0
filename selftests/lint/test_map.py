#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that Documentation/trace/test-map.md names each file of the library and of the kernel
modules, and only tests that exist, for files and situations."""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "selftests"))
from tap import done, ok  # noqa: E402

rows = re.findall(r"^\| (.*) \| (.*) \|$", (TOP / "Documentation/trace/test-map.md").read_text(), re.M)
rows = [row for row in rows if row[1] != "tests"]
named = [file[1:-1] for file, _ in rows if file.startswith("`")]
files = sorted(str(path.relative_to(TOP)) for folder in ("lib", "kernel") for path in (TOP / folder).glob("*/*.c")
               if not path.name.endswith(".mod.c"))
ok(sorted(named) == files, f"each of {len(files)} files has one row", sorted(set(files) - set(named)),
   sorted(set(named) - set(files)), [file for file in set(named) if named.count(file) > 1])
lost = [f"{file}: {test}" for file, tests in rows for test in tests.split(", ")
        if not any((TOP / "selftests" / name).is_file() for name in (test, test + ".c"))]
ok(not lost, "each test exists", *lost)
done()
