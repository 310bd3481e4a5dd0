#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that the samples in perf's output were executed.

usage: sampled.py ELF EXECUTED SCRIPT
EXECUTED is the output of executed.py. SCRIPT is that of perf script
--show-mmap-events with -F ip,brstack: every transfer, every run between two, and
the run of the sample itself must have been executed. Or with -F ip,addr: every
transfer must occur as often as it was executed.
Prints "N samples, N transfers, N wrong", and the wrong ones on standard error.

"""
import collections
import sys

import brstack


def main():
    elf = brstack.Elf(sys.argv[1])
    want = brstack.Sums(elf, sys.argv[2], 0)
    maps = brstack.Sums(elf, sys.argv[3], 1)
    samples, transfers, wrong, single = 0, 0, [], collections.Counter()
    for line in open(sys.argv[3]):
        word = line.split()
        if "PERF_RECORD" in line or not word:
            continue
        samples += 1
        if len(word) == 3 and word[1] == "=>":
            single[maps.place(elf, word[0]), maps.place(elf, word[2])] += 1
            continue
        newer = None
        for i, entry in enumerate(word[1:]):
            source, target = (maps.place(elf, text) for text in entry.split("/")[:2])
            transfers += 1
            if (source, target) != (None, None) and (source, target) not in want.branches:
                wrong.append((line[:40], "no transfer", entry))
            if i == 0:
                address = maps.place(elf, word[0])
                if target is not None and not any(
                        key[:2] == (source, target) and target <= address <= key[2] for key in want.runs):
                    wrong.append((line[:40], "not in the run of", entry))
            elif target is not None and (source, target, newer) not in want.runs:
                wrong.append((line[:40], "no run", entry))
            newer = source
    if single:
        transfers = sum(single.values())
        for key in {**want.branches, **single}:
            if key != (None, None) and want.branches.get(key) != single.get(key):
                wrong.append((key, want.branches.get(key), single.get(key)))
    print(f"{samples} samples, {transfers} transfers, {len(wrong)} wrong")
    for item in wrong[:10]:
        print(*item, file=sys.stderr)


main()
