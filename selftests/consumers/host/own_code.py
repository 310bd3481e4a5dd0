#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints what one program executed in user mode, of the witness's log of a hart: own_code.py MAPS COMM <LOG

MAPS: PERF_RECORD_MMAP2 as perf script prints them. Address space layout randomization tells processes apart.
"""
import re
import sys

ranges = []
for line in open(sys.argv[1]):
    fields = re.match(r" *(.*?) +\d+ \[\d+\].*\[0x([0-9a-f]+)\(0x([0-9a-f]+)\).*r-xp", line)
    if fields and fields.group(1) == sys.argv[2]:
        start = int(fields.group(2), 16)
        ranges.append((start, start + int(fields.group(3), 16)))
for line in sys.stdin:
    words = line.split()
    if len(words) == 3 and words[2] == "U" and any(start <= int(words[0], 16) < end for start, end in ranges):
        print("0x" + words[0].lstrip("0"))
