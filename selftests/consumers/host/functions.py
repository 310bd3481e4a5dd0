#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Executed instructions of each function of a program, from the witness's log.

usage: functions.py EXECUTED ELF
EXECUTED is the output of executed.py. Prints "FUNCTION COUNT".

"""
import collections
import re
import subprocess
import sys


def tool(name, *arguments):
    return subprocess.run([f"riscv64-linux-gnu-{name}", *arguments], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def main():
    places = sorted(int(match.group(1), 16) for match in
                    (re.match(r" *([0-9a-f]+):\t", line) for line in tool("objdump", "-d", sys.argv[2])) if match)
    counts = collections.Counter()
    for line in open(sys.argv[1]):
        _, start, end, count = line.split()
        if start != "-":
            for place in places:
                if int(start, 16) <= place <= int(end, 16):
                    counts[place] += int(count)
    for line in tool("nm", "-S", "--defined-only", sys.argv[2]):
        words = line.split()
        if len(words) == 4 and words[2] in "tT":
            start, size = int(words[0], 16), int(words[1], 16)
            total = sum(count for place, count in counts.items() if start <= place < start + size)
            if total:
                print(words[3], total)


main()
