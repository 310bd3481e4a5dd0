#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares a CSV file with the sums over branch stacks.

usage: branch_sums.py ELF SCRIPT CSV [DROP]
SCRIPT is the output of perf script -F ip,brstack --show-mmap-events, CSV that of ntrace
export -f csv of the same samples, for the program ELF alone. Leaves out every DROP-th
sample, which the caller expects as a difference. Prints "N traces, N times,
N differ", and the differences on standard error.

"""
import collections
import csv
import sys

import brstack


def main():
    elf = brstack.Elf(sys.argv[1])
    sums = brstack.Sums(elf, sys.argv[2], int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    # The run after the newest transfer is unknown: the remaining branches are of such runs.
    want = collections.Counter({key: count for key, count in sums.runs.items() if None not in key[1:]})
    rest = collections.Counter({key: count for key, count in sums.branches.items() if key[1] is not None})
    for (source, start, _), count in want.items():
        rest[source, start] -= count
    want.update({(*key, None): count for key, count in rest.items() if count})
    got = collections.Counter()
    for row in csv.DictReader(open(sys.argv[3])):
        if row["object"].rsplit("/", 1)[-1] != elf.name:
            continue
        source = int(row["from"], 16) if row["from_object"].rsplit("/", 1)[-1] == elf.name else None
        end = int(row["end"], 16) if int(row["instructions"]) else None
        got[source, int(row["start"], 16), end] += int(row["count"])
    wrong = [key for key in {**want, **got} if want[key] != got[key]]
    for key in wrong[:10]:
        print(f"{key}: {got[key]}, expected {want[key]}", file=sys.stderr)
    print(f"{len(got)} traces, {sum(got.values())} times, {len(wrong)} differ")


if __name__ == "__main__":
    main()
