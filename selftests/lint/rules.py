#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that everything named in Documentation/trace/rules.md exists, and that no topic is missing.

Code is `file: name, name`, a function, macro or table defined there. A test is
`file: "words"`, found in that file, or `file: name`.

"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import done, ok  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = "Documentation/trace/rules.md"
SECTIONS = [f"P{n}" for n in range(1, 15)] + [f"I{n}" for n in range(1, 5)] + [f"C{n}" for n in range(1, 7)] + ["K5"] + \
    [f"R{n}" for n in range(1, 10)] + [f"T{n}" for n in range(1, 5)]
# Registers of the Trace Control Interface: macros of an offset, or of one in a filter or comparator.
REGISTERS = "kernel/include/ntrace/trace_control.h"
REGISTER = re.compile(r"^#define TR_((?:TE|TS|FUNNEL|RAM|PIB|ATB)_\w+?)(?:\([ij]\))?\s+(?:0x[0-9a-f]{3}\b|\()", re.M)


def registers():
    """Yields the specification's name of each register, in lower-case letters."""
    for name in REGISTER.findall(source(REGISTERS)):
        if not name.endswith(("_BASE", "_STRIDE")):
            yield "tr" + name.replace("_", "").replace("ATB", "ATBBRIDGE").lower()


def source(path):
    """Returns the text of a file with C's adjacent strings joined, as the compiler does; None if
    absent."""
    try:
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            return re.sub(r'"\s*\n\s*"', "", file.read())
    except OSError:
        return None


def mentions(cell):
    """Yields (file, name or quoted words) of a cell."""
    for part in re.split(r";\s+(?=[a-z_/0-9]+\.[a-z]+: )", cell.strip()):
        file, _, names = part.partition(": ")
        if names.startswith('"'):
            yield file, names
        else:
            for name in names.split(","):
                yield file, name.strip()


def fault(file, name):
    text = source(file)
    if text is None:
        return f"{file}: no such file"
    if name.startswith('"'):
        return None if name in text else f"{file}: {name} does not exist"
    # Defined at the start of a line, or an enumerator or macro.
    pattern = r"^(?:#define |[A-Za-z}].*\b)" + re.escape(name) + r"\b" if file.endswith((".c", ".h")) else re.escape(name)
    if not re.match(r"\w+$", name):
        return f"{file}: '{name}' is no name"
    # A test may be named by a function that it calls.
    if file.startswith("selftests/") and re.search(rf"\b{name}\(", text):
        return None
    return None if re.search(pattern, text, re.M) else f"{file}: {name} is not defined"


def main():
    rows = [line for line in source(TABLE).splitlines() if re.match(r"\| \*?\*?[PICKRT]\d", line)]
    faults, seen, bare, halves = [], set(), [], []
    for row in rows:
        cells = [cell.strip() for cell in row.strip("| ").split(" | ")]
        section = re.match(r"\**([PICKRT]\d+)", cells[0]).group(1)
        if cells[0].startswith("**"):
            continue
        seen.add(section)
        cells += [""] * (3 - len(cells))
        if re.search(r"\btr[A-Z]", cells[0]) and "no part of" not in cells[0]:
            halves += [f"{cells[0][:60]}: no test in {half}" for half in ("kernel/", "vsoc/") if half not in cells[2]]
        for cell, prefix in ((cells[1], ""), (cells[2], "selftests/")):
            if not cell:
                if "no part of" not in cells[0]:
                    bare.append(cells[0])
                continue
            for file, name in mentions(cell):
                why = fault(prefix + file, name)
                if why:
                    faults.append(f"{cells[0][:60]}: {why}")
    ok(not faults, f"what the {len(rows)} rows of {TABLE} name exists", *faults)
    ok(not bare, "each rule has code and a test", *bare)
    ok(not halves, "each register has a test of the driver and one of the virtual SoC", *halves)
    missing = [section for section in SECTIONS if section not in seen]
    ok(not missing, "every section has rules", *missing)
    # The table has all rules of the checker.
    with open(os.path.join(TOP, TABLE), encoding="utf-8") as file:
        table = file.read()
    ids = re.findall(r'^RULE\(\w+, "([a-z-]+)"', source("lib/check/rules.h"), re.M)
    absent = [name for name in ids if f'"{name}"' not in table]
    ok(ids and not absent, f"and the {len(ids)} rules of ntrace check are among them", *absent)
    # Of each rule of the checker of the ingress port and of each register, too.
    ids = re.findall(r'^\tRULE\(\w+, "([a-z-]+)"', source("lib/ingress/rules.h"), re.M)
    absent = [name for name in ids if f'"{name}"' not in table]
    ok(ids and not absent, f"and the {len(ids)} rules of ntrace ingress check", *absent)
    # Rules of the verification are named at the beginning of a row.
    ids = re.findall(r'\[NTRACE_TANDEM_RULE_\w+\] = \{\s*"([a-z-]+)"', source("lib/tandem/names.c"))
    named = {word for row in rows if row.startswith("| T") for word in re.split(r"[ ,:]+", row.split(" | ")[0])}
    absent = [name for name in ids if name not in named]
    ok(ids and not absent, f"and the {len(ids)} rules of ntrace tandem verify", *absent)
    words = set(re.findall(r"\btr[A-Z]\w+", "\n".join(row for row in rows if row.startswith("| R"))))
    names = list(registers())
    absent = sorted(set(names) - {word.lower() for word in words})
    ok(len(names) > 30 and not absent, f"and the {len(names)} registers of the Trace Control Interface", *absent)
    done()


main()
