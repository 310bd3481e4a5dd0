#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Evaluates branch stacks of the kernel. No file has its code as it runs.

usage: kernel.py SCRIPT
SCRIPT is the output of perf script -F ip,brstack. Prints these counts, one a line:
  samples
  newest    samples whose youngest entry does not lead to their PC: the PC must follow
            the entry's target within the length of a long run of sequential code
  traps     entries of types that only traps have
  kernel, user    entries with a kernel address, and with user addresses only
"""
import sys

count = dict.fromkeys(("samples", "newest", "traps", "kernel", "user"), 0)
for line in open(sys.argv[1]):
    words = line.split()
    if len(words) < 2:
        continue
    count["samples"] += 1
    fields = [word.split("/") for word in words[1:]]
    count["newest"] += not 0 <= int(words[0], 16) - int(fields[0][1], 16) < 2048
    for field in fields:
        count["traps"] += field[6] in ("SYSCALL", "ERET", "IRQ")
        count["kernel" if any(int(end, 16) >> 63 for end in field[:2]) else "user"] += 1
for name, value in count.items():
    print(name, value)
