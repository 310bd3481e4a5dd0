#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Adds up branch stacks, and compares profiles of other programs with the sums.

usage: brstack.py FORMAT ELF SCRIPT PROFILE [drop=N] [returns=known]
SCRIPT is the output of perf script -F ip,brstack --show-mmap-events, or that of
executed.py; PROFILE was made from the same recording:
  fdata    by perf2bolt: transfers, and conditional branches not taken
  profgen  by llvm-profgen, as text
  autofdo  by create_llvm_prof, as text: without calls from other objects
drop=N leaves out every N-th sample, which the caller expects as a difference.
returns=known: the input of the profile marks returns.

Prints "name value" lines:
  samples equal   samples read; counts that are in the profile and equal
  wrong           counts that are missing or different; some on stderr
  hot             the most frequently called functions that are in the profile

"""
import collections
import re
import subprocess
import sys

TOOLS = "riscv64-linux-gnu-"


class Elf:
    """Functions, and the memory addresses of file offsets."""

    def __init__(self, path):
        self.name = path.rsplit("/", 1)[-1]
        self.functions = []
        for line in self.output("nm", "-S", "--defined-only", path):
            word = line.split()
            if len(word) == 4 and word[2] in "tT":
                self.functions.append((int(word[0], 16), int(word[1], 16), word[3]))
        self.segments = []
        for line in self.output("readelf", "-lW", path):
            word = line.split()
            if word and word[0] == "LOAD" and "E" in word[6:-1]:
                self.segments.append((int(word[1], 16), int(word[2], 16), int(word[4], 16)))
        self.returns, code = set(), []
        for line in self.output("objdump", "-d", "--no-show-raw-insn", path):
            match = re.match(r"([0-9a-f]+) <(.*@)plt>:", line)
            if match:
                self.functions.append((int(match.group(1), 16), 16, match.group(2) + "PLT"))
            match = re.match(r" *([0-9a-f]+):\t(\w*)", line)
            if match:
                code.append(int(match.group(1), 16))
                if match.group(2) == "ret":
                    self.returns.add(code[-1])
        self.after = dict(zip(code, code[1:]))

    @staticmethod
    def output(tool, *arguments):
        return subprocess.run([TOOLS + tool, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()

    def address(self, offset):
        for start, address, size in self.segments:
            if start <= offset < start + size:
                return offset - start + address
        return None

    def function(self, address):
        """(name, offset) of an address, or None."""
        if address is not None:
            for start, size, name in self.functions:
                if start <= address < start + size:
                    return name, address - start
        return None

    def nameless(self, address):
        return address is not None and not self.function(address)

    def name_at(self, address):
        where = self.function(address)
        return where[0] if where else None


class Sums:
    """Transfers and straight runs by address; addresses outside the program are None."""

    def __init__(self, elf, script, drop):
        self.samples, self.maps = 0, []
        self.branches, self.missed = collections.Counter(), collections.Counter()
        self.runs = collections.Counter()
        for line in open(script):
            match = re.match(r"PERF_RECORD_MMAP2 .*\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*\]: r.xp (.*)", line)
            if match:
                if match.group(4).rsplit("/", 1)[-1] == elf.name:
                    self.maps.append([int(match.group(i), 16) for i in (1, 2, 3)])
                continue
            word = line.split()
            if len(word) < 2 or line.startswith("PERF_RECORD_"):
                continue
            if len(word) == 4 and "/" not in line:
                self.add_trace(elf, [None if item == "-" else elf.address(int(item, 16)) for item in word[:3]],
                               int(word[3]), drop)
                continue
            self.samples += 1
            if drop and self.samples % drop == 0:
                continue
            self.add(elf, word[1:])

    def add(self, elf, entries):
        newer = None  # the source of the entry before, where a run ends
        for entry in entries:
            field = entry.split("/")
            source, target = self.place(elf, field[0]), self.place(elf, field[1])
            if source is not None or target is not None:
                self.branches[source, target] += 1
                self.missed[source, target] += field[2] == "M"
            if newer is not None and target is not None:
                self.runs[source, target, newer] += 1
            newer = source

    def add_trace(self, elf, addresses, count, drop):
        source, target, end = addresses
        self.samples += count
        count -= count // drop if drop else 0
        if source is not None or target is not None:
            self.branches[source, target] += count
        if target is not None:
            self.runs[source, target, end] += count

    def place(self, elf, text):
        address = int(text, 16)
        for start, size, offset in self.maps:
            if start <= address < start + size:
                return elf.address(address - start + offset)
        return None

    def passed(self, elf, source, target):
        """How often execution went from one to the next without a transfer, or returned to it from a call,
        in runs that end in the same function."""
        where, total = elf.name_at(source), 0
        for (before, start, end), count in self.runs.items():
            if end < target or elf.name_at(end) != where or elf.name_at(start) != where:
                continue
            if start <= source or (start == target and elf.name_at(before) != where):
                total += count
        return total


def fdata(elf, sums, path, returns):
    """Expected and found counts of perf2bolt's format, by name and offset."""
    start = {name: address for address, _, name in elf.functions}
    got = {}
    for line in open(path):
        word = line.split()
        if len(word) == 8:
            ends = [(name.split("/")[0], int(offset, 16)) if known != "0" else None
                    for known, name, offset in (word[0:3], word[3:6])]
            got[tuple(ends)] = (int(word[7]), int(word[6]))
    want = collections.Counter()
    missed = collections.Counter()
    for (source, target), count in sums.branches.items():
        ends = elf.function(source), elf.function(target)
        # perf2bolt has its own name for the first part of the procedure linkage table.
        if elf.nameless(source) or elf.nameless(target):
            continue
        # It leaves out returns, because it has the calls. It recognizes returns from other objects only with returns=known.
        back = source in elf.returns or (returns and ends[0] is None and ends[1] and ends[1][1] != 0)
        if ends != (None, None) and not back:
            want[ends] += count
            missed[ends] += sums.missed[source, target]
    got = {ends: counts for ends, counts in got.items() if {end[0] for end in ends if end} <= set(start)}
    for ends in got:
        if None in ends or ends in want:
            continue
        source, target = (start[name] + offset for name, offset in ends)
        if target == elf.after.get(source):
            want[ends] = sums.passed(elf, source, target)
    return {ends: (count, missed[ends]) for ends, count in want.items()}, got


def profile(elf, sums, path, elsewhere):
    """Calls of functions, and calls between functions, in LLVM's text format."""
    got, function, bodies = collections.Counter(), None, collections.Counter()
    for line in open(path):
        match = re.match(r"(\w+):(\d+):(\d+)$", line)
        if match:
            function = match.group(1)
            got["head", function] = int(match.group(3))
            bodies[function] = int(match.group(2))
        # Calls by inlined code are indented deeper than the caller's.
        elif re.match(r" +[\d.]+: \d+ ", line):
            for name, count in re.findall(r" (\w+):(\d+)", line):
                got[function, name] += int(count)
    want = collections.Counter()
    for (source, target), count in sums.branches.items():
        caller, callee = elf.function(source), elf.function(target)
        if callee and callee[1] == 0 and callee[0] in bodies and (caller or elsewhere):
            want["head", callee[0]] += count
            if caller and caller[0] in bodies:
                want[caller[0], callee[0]] += count
    return want, {key: count for key, count in got.items() if count or key in want}


def main():
    kind, elf, script, path = sys.argv[1], Elf(sys.argv[2]), sys.argv[3], sys.argv[4]
    option = dict(item.split("=") for item in sys.argv[5:])
    sums = Sums(elf, script, int(option.get("drop", 0)))
    if kind == "fdata":
        want, got = fdata(elf, sums, path, "returns" in option)
    else:
        want, got = profile(elf, sums, path, kind == "profgen")
    wrong = [(key, want.get(key), got.get(key)) for key in {**want, **got} if want.get(key) != got.get(key)]
    calls = collections.Counter()
    for (_, target), count in sums.branches.items():
        where = elf.function(target)
        if where and where[1] == 0:
            calls[where[0]] += count
    text = open(path).read()
    hot = [name for name, _ in calls.most_common(4) if re.search(rf"\b{name}\b", text)]
    print("samples", sums.samples)
    print("equal", sum(want.get(key) == count for key, count in got.items()))
    print("wrong", len(wrong))
    print("hot", ",".join(sorted(hot)))
    for key, expected, actual in wrong[:10]:
        print(f"{key}: {actual}, expected {expected}", file=sys.stderr)


if __name__ == "__main__":
    main()
