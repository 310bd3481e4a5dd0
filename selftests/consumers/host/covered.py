#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares a tracefile of lcov with the executed instructions.

usage: covered.py ELF EXECUTED TRACEFILE SOURCE
EXECUTED is the output of executed.py. binutils' addr2line and nm give lines and
inlined functions, objdump the instructions. TRACEFILE must have every line, branch
and function of SOURCE (a part of its path) with the count that follows from
EXECUTED, and no others.
Prints "N lines (N executed), N branches, N functions, N differ", and the differences
on standard error.

"""
import collections
import re
import subprocess
import sys

import brstack

BRANCH = re.compile(r"(c\.)?b(eq|ne|lt|ge|ltu|geu|gt|le|gtu|leu)z?$")


def instructions(elf):
    """[(address, mnemonic)]"""
    found = []
    for line in brstack.Elf.output("objdump", "-d", "--no-show-raw-insn", elf):
        match = re.match(r" *([0-9a-f]+):\t(\S+)", line)
        if match:
            found.append((int(match.group(1), 16), match.group(2)))
    return found


def places(elf, addresses):
    """{address: [(function, file:line) innermost first]}"""
    text = subprocess.run([brstack.TOOLS + "addr2line", "-a", "-f", "-i", "-e", elf], check=True, capture_output=True,
                          text=True, input="".join(f"{address:x}\n" for address in addresses)).stdout
    found, frames, function = {}, None, None
    for line in text.splitlines():
        if re.match(r"0x[0-9a-f]+$", line):
            frames = found.setdefault(int(line, 16), [])
        elif function is None:
            function = line
        else:
            frames.append((function, line.split(" (disc")[0]))
            function = None
    return found


class Executed:
    """Counts of single instructions."""

    def __init__(self, elf, path):
        self.change, self.taken = collections.Counter(), collections.Counter()
        symbols = brstack.Elf(elf)
        number = lambda text: None if text == "-" else symbols.address(int(text, 16))
        for line in open(path):
            word = line.split()
            source, start, end = map(number, word[:3])
            if source is not None:
                self.taken[source] += int(word[3])
            if start is not None:
                self.change[start] += int(word[3])
                self.change[end + 1] -= int(word[3])

    def of(self, addresses):
        """{address: times}"""
        steps, count, found = sorted(self.change), 0, {}
        at = 0
        for address in addresses:
            while at < len(steps) and steps[at] <= address:
                count += self.change[steps[at]]
                at += 1
            found[address] = count
        return found


def expected(elf, path, source):
    code = instructions(elf)
    executed = Executed(elf, path)
    times = executed.of([address for address, _ in code])
    frames = places(elf, [address for address, _ in code])
    copies, branches, functions = collections.Counter(), collections.defaultdict(list), {}
    starts = {start: name for start, _, name in brstack.Elf(elf).functions}
    symbol = None
    for address, mnemonic in code:
        symbol = starts.get(address, symbol)
        name, line = frames[address][0][1].rsplit(":", 1)
        if source not in name or not line.isdigit() or line == "0":
            continue
        copy = int(line), symbol, tuple(frames[address][1:])
        copies[copy] = max(copies[copy], times[address])
        if BRANCH.match(mnemonic):
            taken = executed.taken[address]
            branches[int(line)].append((str(taken), str(times[address] - taken)) if times[address] else ("-", "-"))
        if address in starts:
            functions[symbol] = times[address]
    for line in brstack.Elf.output("nm", "-l", "--defined-only", elf):
        match = re.match(r"([0-9a-f]+) [tT] (\S+)\t(.*):(\d+)$", line)
        if match and source in match.group(3):
            copy = int(match.group(4)), match.group(2), ()
            copies[copy] = max(copies[copy], times[int(match.group(1), 16)])
    lines = collections.Counter()
    for (line, _, _), count in copies.items():
        lines[line] += count
    return dict(lines), {line: sorted(both) for line, both in branches.items()}, functions


def covered(path, source):
    lines, ways, functions, inside = {}, {}, {}, False
    for text in open(path):
        key, _, value = text.rstrip("\n").partition(":")
        word = value.split(",")
        if key == "SF":
            inside = source in value
        if not inside:
            continue
        if key == "DA":
            lines[int(word[0])] = int(word[1])
        elif key == "BRDA":
            ways.setdefault((int(word[0]), word[1]), []).append(word[3])
        elif key == "FNDA":
            functions[word[1]] = int(word[0])
    branches = collections.defaultdict(list)
    for (line, _), both in ways.items():
        branches[line].append(tuple(both))
    return lines, {line: sorted(both) for line, both in branches.items()}, functions


def main():
    elf, executed, tracefile, source = sys.argv[1:]
    want, got, differ = expected(elf, executed, source), covered(tracefile, source), 0
    for what, wanted, found in zip(("line", "branches of line", "function"), want, got):
        for key in sorted({**wanted, **found}):
            if wanted.get(key) != found.get(key):
                differ += 1
                print(f"{what} {key}: executed {wanted.get(key)}, covered {found.get(key)}", file=sys.stderr)
    print(f"{len(want[0])} lines ({sum(map(bool, want[0].values()))} executed), "
          f"{sum(map(len, want[1].values()))} branches, {len(want[2])} functions, {differ} differ")


if __name__ == "__main__":
    main()
