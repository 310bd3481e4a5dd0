#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the report of branch stacks with sums over the output of perf.

usage: sample_report.py ELF SCRIPT REPORT [DROP]
SCRIPT is the output of perf script -F ip,brstack --show-mmap-events, REPORT that of ntrace report
--json --limit 0 of the same samples. For the program ELF alone: instructions, branches and calls of
each function, and how often each branch was taken. Leaves out every DROP-th sample, which the caller
expects as a difference. Prints "N functions, N branches, N differ", and the differences on standard
error.

"""
import collections
import json
import sys

import brstack


def functions_of(elf, sums):
    """(instructions, branches, calls) by the name of the function."""
    count = collections.defaultdict(lambda: [0, 0, 0])
    for (source, target), times in sums.branches.items():
        if elf.name_at(source):
            count[elf.name_at(source)][1] += times
        where = elf.function(target)
        # Only calls and jumps lead from one function to the start of another.
        if where and where[1] == 0 and source not in elf.returns and elf.name_at(source) != where[0]:
            count[where[0]][2] += times
    for (_, start, end), times in sums.runs.items():
        while end is not None and start is not None and start <= end:
            if elf.name_at(start):
                count[elf.name_at(start)][0] += times
            start = elf.after.get(start)
    return {name: tuple(numbers) for name, numbers in count.items()}


def main():
    elf = brstack.Elf(sys.argv[1])
    elf.functions = [item for item in elf.functions if not item[2].endswith("PLT")]
    sums = brstack.Sums(elf, sys.argv[2], int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    report = json.load(open(sys.argv[3]))
    names = {start: name for start, _, name in elf.functions}

    def ours(item):
        return (item["object"] or "").rsplit("/", 1)[-1] == elf.name
    got = {names[int(item["address"], 16)]: (item["instructions"], item["branches"], item["calls"])
           for item in report["functions"] if ours(item) and int(item["address"], 16) in names}
    want = functions_of(elf, sums)
    edges = {(int(item["from"]["address"], 16), int(item["to"]["address"], 16)): item["count"]
             for item in report["branches"] if ours(item["from"]) and ours(item["to"])}
    taken = {key: count for key, count in sums.branches.items() if None not in key}
    wrong = [(key, found.get(key), expected.get(key)) for found, expected in ((got, want), (edges, taken))
             for key in {**found, **expected} if found.get(key) != expected.get(key)]
    print(f"{len(got)} functions, {len(edges)} branches, {len(wrong)} differ")
    for item in wrong[:10]:
        print(*item, file=sys.stderr)


main()
