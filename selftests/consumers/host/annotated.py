#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares ntrace report --annotate with the executed instructions.

usage: annotated.py ELF EXECUTED FUNCTION <ANNOTATION
       annotated.py ELF EXECUTED CALLER CALLEE
EXECUTED is the output of executed.py. The first prints "N instructions, N lines,
N differ": each instruction that objdump finds in FUNCTION with its number of
executions, the number of times it transferred control, and its line by addr2line.
The second prints how often CALLER went to the first instruction of CALLEE.

"""
import re
import sys

import brstack
import covered


def number(text):
    return int(text.replace(",", "") or 0)


def annotation(program):
    """{address: (executed, taken, line)}; other programs may have a function of the same name."""
    found, line, inside = {}, None, False
    for text in sys.stdin:
        head = re.match(r"\S+ of (.*): entered [\d,]+ times", text)
        if head:
            inside = head.group(1).endswith("/" + program)
        if not inside:
            continue
        source = re.match(r"(\S+\.c:[\d?]+)  ", text)
        instruction = re.match(r"([ \d,]{16})  ([ \d,]{13})  ([ 0-9a-f]{8}):  \S", text)
        if source:
            line = source.group(1)
        elif instruction:
            executed, taken, address = instruction.groups()
            found[int(address, 16)] = number(executed.strip()), number(taken.strip()), line
    return found


def main():
    elf, path, name = sys.argv[1:4]
    symbols, executed = brstack.Elf(elf), covered.Executed(elf, path)
    bounds = {function: (start, start + size) for start, size, function in symbols.functions}
    start, end = bounds[name]
    if len(sys.argv) > 4:
        target = bounds[sys.argv[4]][0]
        print(sum(count for (source, to), count in transfers(symbols, path).items() if to == target and start <= source < end))
        return
    code = [address for address, _ in covered.instructions(elf) if start <= address < end]
    times, frames, got, differ = executed.of(code), covered.places(elf, code), annotation(symbols.name), 0
    for address in sorted({*code, *got}):
        line = frames[address][0][1].rsplit("/", 1)[-1] if address in frames else None
        want = times.get(address), executed.taken[address], line
        if got.get(address) != want:
            differ += 1
            print(f"{address:x}: executed {want}, annotated {got.get(address)}", file=sys.stderr)
    print(f"{len(code)} instructions, {len({frames[address][0][1] for address in code})} lines, {differ} differ")


def transfers(symbols, path):
    found = {}
    for text in open(path):
        source, start, _, count = text.split()
        if "-" not in (source, start):
            key = symbols.address(int(source, 16)), symbols.address(int(start, 16))
            found[key] = found.get(key, 0) + int(count)
    return found


main()
