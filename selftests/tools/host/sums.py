#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the sums of the outputs for one recording.

usage: sums.py NTRACE DIRECTORY HOW OPTION... RECORDING

Each output that has instructions must have as many as report. OPTIONs are those of all outputs (--user, --sysroot DIR). The
executions of each place are added up from the runs of the csv and objdump's addresses. An instruction that traps does not
retire: its place has no executions, and a line of ecall or ebreak alone is none of lcov. DIRECTORY takes the outputs. HOW: annotate = annotates each
function, plain = does not, falsify = adds one to a count.
"""
import csv
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys

ntrace, directory, how = sys.argv[1:4]
options = sys.argv[4:]
differ = 0


def same(what, a, b):
    global differ
    if a != b:
        differ += 1
        print(what, a, b, file=sys.stderr)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True)


def export(form):
    path = f"{directory}/sums.{form}"
    return path, run(ntrace, "export", "-f", form, "-o", path, *options).stderr


def read(form):
    with open(export(form)[0], encoding="utf-8") as file:
        return file.read()


def file_of(program):
    """Where the file is that the recorded machine had as @program; a relative path is one in the recording."""
    root = options[options.index("--sysroot") + 1] if "--sysroot" in options else f"{options[-1]}/archive"
    if program.startswith("/"):
        return root + program if os.path.exists(root + program) else program
    return f"{options[-1]}/{program}"


def objdump(program, *flags):
    return run("riscv64-linux-gnu-objdump", *flags, file_of(program)).stdout


def is_elf(program):
    if program.startswith("["):
        return False
    with open(file_of(program), "rb") as file:
        return file.read(4) == b"\x7fELF"


def fields(data):
    """The fields of a message of protocol buffers: number and value."""
    at = 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            value |= (data[at] & 0x7f) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value
    while at < len(data):
        key = number()
        if key & 7:
            size = number()
            at += size
            yield key >> 3, data[at - size:at]
        else:
            yield key >> 3, number()


def first_value(sample):
    """The first value of a sample, in pprof's instructions."""
    value = next(value for field, value in fields(sample) if field == 2)
    return next(number for _, number in fields(b"\x08" + value)) if isinstance(value, bytes) else value


def executed_places(rows, program):
    """Executions of each instruction of @program that can retire, and transfers to instructions that trapped."""
    names = {int(at, 16): name for at, name in
             re.findall(r"^ *([0-9a-f]+):\t(\S+)", objdump(program, "-d", "--no-show-raw-insn"), re.M)}
    executed, trapped = dict.fromkeys((at for at in names if names[at] not in ("ecall", "ebreak")), 0), 0
    for row in rows:
        if row["object"] != program:
            continue
        first, last, count = int(row["start"], 16), int(row["end"], 16), int(row["count"])
        if not int(row["instructions"]) and first in names:
            trapped += count
            continue
        for at in range(first, last + 1, 2):
            if at in executed:
                executed[at] += count
    return executed, trapped


report = json.loads(run(ntrace, "report", "--json", "--limit", "0", *options).stdout)
selected = report["instructions"]["selected"]
same("report: functions", sum(function["instructions"] for function in report["functions"]), selected)
rows = list(csv.DictReader(read("csv").splitlines()))
if how == "falsify":
    row = next(row for row in rows if int(row["instructions"]))
    row["count"] = int(row["count"]) + 1
same("csv", sum(int(row["count"]) * int(row["instructions"]) for row in rows), selected)
same("json", sum(row["count"] * row["instructions"] for row in json.loads(read("json"))), selected)
same("folded", sum(int(line.rsplit(" ", 1)[1]) for line in read("folded").splitlines()), selected)
same("speedscope", sum(sum(profile["weights"]) for profile in json.loads(read("speedscope"))["profiles"]), selected)
callgrind = read("callgrind")
same("callgrind: totals", re.findall(r"^(?:summary|totals): (\d+)", callgrind, re.M), [str(selected)] * 2)
with gzip.open(export("pprof")[0]) as file:
    same("pprof", sum(first_value(value) for field, value in fields(file.read()) if field == 2), selected)
with sqlite3.connect(export("sqlite")[0]) as database:
    same("sqlite", database.execute("SELECT sum(instructions) FROM functions").fetchone()[0], selected)

placed, calls, unread, most, least, lines = 0, 0, 0, {}, {}, 0
places = set()
for program in sorted({row["object"] for row in rows if int(row["instructions"])}):
    if not is_elf(program):
        unread += sum(int(row["count"]) * int(row["instructions"]) for row in rows if row["object"] == program)
        continue
    executed, trapped = executed_places(rows, program)
    placed, calls = placed + sum(executed.values()), calls + trapped
    # A row is valid up to the next one; one of "-" ends a sequence.
    table = re.findall(r"^(\S+) +(\d+|-) +0x([0-9a-f]+)", objdump(program, "--dwarf=decodedline"), re.M)
    for (name, line, start), (_, _, end) in zip(table, table[1:]):
        counts = [executed[at] for at in range(int(start, 16), int(end, 16), 2) if at in executed]
        if line != "-":
            places.add((name, int(line)))
        if line != "-" and counts:
            place = name, int(line)
            most[place] = most.get(place, 0) + sum(counts)
            least[place] = max(least.get(place, 0), *counts)
same("executions of all places", placed + unread, selected)
for part in read("lcov").split("end_of_record"):
    name = re.search(r"^SF:.*?([^/\n]+)$", part, re.M)
    for line, count in re.findall(r"^DA:(\d+),(\d+)", part, re.M):
        place, lines = (name.group(1), int(line)), lines + 1
        # The declaration of a function has a count, too, and often no code.
        if place in places - set(most) and int(count):
            same(f"lcov {place}", int(count), 0)
        # Copies of a line add up: at most all its instructions.
        if place in most and not least[place] <= int(count) <= most[place]:
            same(f"lcov {place}", int(count), (least[place], most[place]))
without = re.search(r"([0-9,]+) of ([0-9,]+) executed instructions", export("gcov")[1])
if without:
    some, whole = (int(text.replace(",", "")) for text in without.groups())
    same("gcov: instructions without a line", some <= whole <= selected, True)
if how == "annotate":
    texts = [run(ntrace, "report", "--annotate", function["function"], *options).stdout for function in report["functions"]]
    counts = re.findall(r"^ +([0-9,]+)(?: +[0-9,]+)? +[0-9a-f]+:", "\n".join(texts), re.M)
    same("annotate: all functions", sum(int(count.replace(",", "")) for count in counts), selected)
print(f"{selected} executed, {calls} trapped, {lines} lines, {differ} differ")
