#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the traces of ntrace export with the executed ones.

usage: same_traces.py EXECUTED CSV JSON
EXECUTED is the output of executed.py, CSV and JSON the exports of that program.
Prints "N traces, executed N times, N differ", and the differences on standard error.

"""
import collections
import csv
import json
import sys


def executed(path):
    return {tuple(line.split()[:3]): int(line.split()[3]) for line in open(path)}


def exported(rows, program):
    def own(name):
        return bool(name) and name.rsplit("/", 1)[-1] == program

    traces = collections.Counter()
    for row in rows:
        source = row["from"][2:] if own(row["from_object"]) else "-"
        ends = (row["start"][2:], row["end"][2:]) if own(row["object"]) else ("-", "-")
        traces[source, *ends] += int(row["count"])
    return traces


def main():
    want = executed(sys.argv[1])
    differ = set()
    for rows in (csv.DictReader(open(sys.argv[2])), json.load(open(sys.argv[3]))):
        got = exported(rows, "calculator")
        for key in {**want, **got}:
            if want.get(key) != got.get(key):
                differ.add((key, want.get(key), got.get(key)))
    print(f"{len(want)} traces, executed {sum(want.values())} times, {len(differ)} differ")
    for item in sorted(differ, key=str)[:10]:
        print(*item, file=sys.stderr)


main()
