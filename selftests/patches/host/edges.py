# SPDX-License-Identifier: GPL-2.0-only
"""Compares the branches that perf has with those that `ntrace export -f csv` counted.

usage: edges.py MMAPS CSV PROGRAM branches|stacks <TEXT

MMAPS   perf script --show-mmap-events -F pid,ip (other lines are skipped)
CSV     the export of PROGRAM, whose path ends in this
branches: TEXT is perf script --itrace=b -F pid,ip,addr; each branch has the same count
stacks:   TEXT is perf script -F pid,brstack; each branch is in the CSV, and most of those are in the stacks
Prints what differs, and the number of different branches at the end.
"""
import collections
import csv
import re
import sys

MAP = re.compile(r"PERF_RECORD_MMAP2 (\d+)/\d+: \[(0x\w+)\((0x\w+)\) @ (\w+) .*r-xp (.*)")


def read_maps(path, program):
    """Ranges of the program by process: start, end, offset. An exec of the same file has another range."""
    maps = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = MAP.search(line)
            if found and found.group(5).endswith(program):
                start, size, offset = (int(found.group(i), 16) for i in (2, 3, 4))
                maps[int(found.group(1))].append((start, start + size, offset))
            # A child has the maps of its parent.
            found = re.search(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)", line)
            if found:
                maps[int(found.group(1))] += maps[int(found.group(2))]
    return maps


def main():
    maps = read_maps(sys.argv[1], sys.argv[3])

    def place(pid, address):
        for start, end, offset in maps[pid]:
            if start <= address < end:
                return address - start + offset
        return None
    want = collections.Counter()
    with open(sys.argv[2], encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["from"] and row["from_object"] == row["object"] and row["taken"] == "1":
                want[int(row["from"], 0), int(row["start"], 0)] += int(row["count"])
    got = collections.Counter()
    for line in sys.stdin:
        words = line.split()
        if not words or not words[0].isdigit():
            continue
        pid, text = int(words[0]), " ".join(words[1:])
        pairs = re.findall(r"(\w+) => +(\w+)", text) if sys.argv[4] == "branches" else re.findall(r"0x(\w+)/0x(\w+)/", text)
        for pair in pairs:
            edge = tuple(place(pid, int(address, 16)) for address in pair)
            if None not in edge:
                got[edge] += 1
    wrong = 0
    for edge in sorted(set(want) | set(got)):
        exact = want[edge] == got[edge] if sys.argv[4] == "branches" else edge in want
        if not exact:
            wrong += 1
            print(f"{edge[0]:#x} -> {edge[1]:#x}: {want[edge]} in the export, {got[edge]} from perf")
    missing = len(set(want) - set(got))
    print(f"{len(want)} branches, {missing} missing")
    return wrong or not want or missing > len(want) // 10


sys.exit(main())
