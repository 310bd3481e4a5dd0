# SPDX-License-Identifier: GPL-2.0-only
"""Compares two AutoFDO profiles in text: that of a whole trace, and that of samples of the same trace.

usage: profiles.py WHOLE SAMPLED
A line of the source, with the functions that it is inlined into, has a share of all counts. Each line with a share of at
least a hundredth in one file must be in the other one, with at least half of this share. Prints what is missing or differs.
"""
import collections
import re
import sys

LEAST, FACTOR = 0.01, 2


def shares(path):
    """Share of each line by function, lines that functions are inlined into, and line."""
    counts, stack = collections.Counter(), []
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    depths = [len(line) - len(line.lstrip(b" ")) for line in lines]
    for line, depth, below in zip(lines, depths, [*depths[1:], 0]):
        if depth == 0:
            stack = [line.split(b":")[0].decode()]
            continue
        del stack[depth:]
        where, _, rest = line.strip(b" ").partition(b": ")
        if below > depth:
            # An inlined function, whose name create_llvm_prof 0.19 writes from memory that it has freed.
            stack.append(where.decode())
        elif rest[:1].isdigit():
            counts["/".join(stack), where.decode()] += int(re.match(rb"\d+", rest)[0])
    total = sum(counts.values())
    return {key: count / total for key, count in counts.items()}


def main():
    whole, sampled = (shares(path) for path in sys.argv[1:3])
    wrong = 0
    for name, one, other in ("samples", whole, sampled), ("whole", sampled, whole):
        for key, share in sorted(one.items()):
            if share < LEAST:
                continue
            if key not in other:
                print(f"{key}: missing in the {name}, {share:.1%} in the other")
                wrong += 1
            elif other[key] * FACTOR < share:
                print(f"{key}: {other[key]:.2%} in the {name}, {share:.2%} in the other")
                wrong += 1
    large = sum(share >= LEAST for share in whole.values())
    print(f"{len(whole)} lines, {large} of them large, {wrong} differ")
    return wrong or large < 10


sys.exit(bool(main()))
