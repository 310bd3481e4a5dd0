#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what programs executed in user space in three recordings of the demo: FIRST and SECOND
differ by as much as two runs do, OTHER may differ from FIRST by no more. The files are those of
`ntrace report --user --by-process --json --limit 0`.
   same_work.py [--mix] FIRST SECOND OTHER
--mix attributes a function of OTHER to another process first: a comparison that must fail."""
import collections
import json
import sys

# How often sort reads its pipe depends on when bash writes to it. The demo executes 170 million.
FEW = 20000
# Two runs are one sample of what differs between runs.
MARGIN = 3
# The programs of the demo: which execute what words.sh needs, and nothing else.
PROGRAMS = {"bash", "sort", "head"}


def read(path):
    """Returns the instructions of each (process, object, function) of the demo's programs, and the
    names of these processes. A process is its place in the order of pids: before its exec, it has
    the name of the program that started it."""
    with open(path) as file:
        report = json.load(file)
    if report["errors"] or report.get("gaps"):
        sys.exit(f"{path}: {report['gaps']} gaps, errors {report['errors']}")
    names = collections.defaultdict(set)
    for row in report["functions"]:
        names[row["pid"]].add(row["process"])
    pids = sorted(pid for pid in names if names[pid] & PROGRAMS)
    counts = collections.Counter()
    for row in report["functions"]:
        if row["pid"] in pids:
            name = row["function"] or "?"
            name = "?" if name.startswith("sub_") else name
            counts[pids.index(row["pid"]), row["object"], name] += row["instructions"]
    return counts, [sorted(names[pid]) for pid in pids]


def main():
    mix = sys.argv[1] == "--mix"
    (first, processes), (second, _), (other, others) = map(read, sys.argv[-3:])
    if mix:
        key = max((key for key in other if key[0] == 2), key=other.get)
        other[1, *key[1:]] += other.pop(key)
    bad = []
    if processes != others:
        bad.append(f"processes: {others}, in the first run {processes}")
    for key in sorted(first.keys() | other.keys(), key=str):
        allowed = max(FEW, MARGIN * abs(first[key] - second[key]))
        if abs(first[key] - other[key]) > allowed:
            bad.append(f"{' '.join(map(str, key))}: executes {other[key]} instructions, "
                       f"in the first run {first[key]}, in the second {second[key]}")
    print(*bad, sep="\n")
    print(f"{len(other)} functions, {sum(other.values())} instructions; "
          f"first run {sum(first.values())}, second {sum(second.values())}")
    sys.exit(bool(bad))


main()
