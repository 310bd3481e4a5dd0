#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the sums of the exports of one recording.

usage: sums.py REPORT.json CSV LCOV GCOV_MESSAGES

The executions of each instruction are added up from the runs of the csv and objdump's addresses. A system call does not retire:
it is in no sum of retired instructions, but it was executed at its place.
"""
import csv
import json
import re
import subprocess
import sys

differ = 0


def same(what, a, b):
    global differ
    if a != b:
        differ += 1
        print(what, a, b, file=sys.stderr)


def objdump(program, *options):
    return subprocess.run(["riscv64-linux-gnu-objdump", *options, program], capture_output=True, text=True, check=True).stdout


retired, placed, calls, most, least = 0, 0, 0, {}, {}
runs = [row for row in csv.DictReader(open(sys.argv[2])) if int(row["instructions"])]
for row in runs:
    retired += int(row["count"]) * int(row["instructions"])
same("report and csv", json.load(open(sys.argv[1]))["instructions"]["selected"], retired)
for program in sorted({row["object"] for row in runs}):
    executed = {int(at, 16): [0, name in ("ecall", "ebreak")]
                for at, name in re.findall(r"^ *([0-9a-f]+):\t(\S+)", objdump(program, "-d", "--no-show-raw-insn"), re.M)}
    order = sorted(executed)
    for row in runs:
        if row["object"] == program:
            for at in range(int(row["start"], 16), int(row["end"], 16) + 1, 2):
                if at in executed:
                    executed[at][0] += int(row["count"])
    placed += sum(count for count, _ in executed.values())
    calls += sum(count for count, trap in executed.values() if trap)
    # A row is valid up to the next one; one of "-" ends a sequence.
    rows = re.findall(r"^(\S+) +(\d+|-) +0x([0-9a-f]+)", objdump(program, "--dwarf=decodedline"), re.M)
    for (file, line, start), (_, _, end) in zip(rows, rows[1:]):
        if line == "-":
            continue
        counts = [executed[at][0] for at in range(int(start, 16), int(end, 16), 2) if at in executed]
        if counts:
            most[file, int(line)] = most.get((file, int(line)), 0) + sum(counts)
            least[file, int(line)] = max(least.get((file, int(line)), 0), *counts)
same("placed, and retired with system calls", placed, retired + calls)

lines = 0
for part in open(sys.argv[3]).read().split("end_of_record"):
    file = re.search(r"^SF:.*?([^/\n]+)$", part, re.M)
    for line, count in re.findall(r"^DA:(\d+),(\d+)", part, re.M):
        at, lines = (file.group(1), int(line)), lines + 1
        # Copies of a line add up: at most all its instructions.
        if at in most and not least[at] <= int(count) <= most[at]:
            same(f"lcov {at}", int(count), (least[at], most[at]))
    entered = dict(re.findall(r"^FNDA:(\d+),(\S+)", part, re.M))
    same("functions of lcov", all(int(count) <= placed for count in entered), True)
unknown = re.search(r"([0-9,]+) of ([0-9,]+) executed instructions", open(sys.argv[4]).read())
if unknown:
    without, whole = (int(text.replace(",", "")) for text in unknown.groups())
    same("gcov: instructions without a line", without <= whole == placed, True)
print(f"{retired} executed, {calls} system calls, {lines} lines, {differ} differ")
