#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Adds up the witness's log of a program to traces.

usage: executed.py MAPS ELF <LOG
LOG is the output of selftests/oracle/log_print, MAPS the output of perf script
--show-mmap-events for the recording, ELF the program, which one process mapped.

Prints "FROM START END COUNT" for each transfer and the straight run after it,
in file offsets. FROM is "-" if control came from another object, and START and END
are "-" if control went to one.

"""
import collections
import re
import subprocess
import sys

# These transfer control even if the target is the next instruction.
ALWAYS = {"j", "jal", "jr", "jalr", "ret"}


def always(elf):
    listing = subprocess.run(["riscv64-linux-gnu-objdump", "-d", "--no-show-raw-insn", elf],
                             check=True, capture_output=True, text=True).stdout
    matches = re.finditer(r"^ *([0-9a-f]+):\t(\w*)", listing, re.MULTILINE)
    return {int(match.group(1), 16) for match in matches if match.group(2) in ALWAYS}


def mappings(path, program):
    """[(start, end, bias or None)] of the process that runs the program; bias: in the program's own code."""
    found, process = collections.defaultdict(list), None
    for line in open(path):
        match = re.search(r"PERF_RECORD_MMAP2 (\d+)/\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*\]: r.xp (.*)", line)
        if not match:
            continue
        pid, name = match.group(1), match.group(5)
        start, size, offset = (int(match.group(i), 16) for i in (2, 3, 4))
        own = name.rsplit("/", 1)[-1] == program
        if own:
            # exec() discards the previous mappings.
            process = pid
            found[pid] = [item for item in found[pid] if item[2] is not None]
        found[pid].append((start, start + size, start - offset if own else None))
    return found[process]


def main():
    ranges = mappings(sys.argv[1], sys.argv[2].rsplit("/", 1)[-1])
    jumps = always(sys.argv[2])
    traces = collections.Counter()
    source = start = last = after = None
    inside = trapped = False
    for line in sys.stdin:
        word = line.split()
        if len(word) != 3 or word[2] != "U":
            trapped = True
            continue
        address, size = int(word[0], 16), int(word[1])
        bias = next((item[2] for item in ranges if item[0] <= address < item[1]), 0)
        if bias == 0:
            continue  # another process
        # A system call does not retire: it ends a run, and none leads to the next one.
        returned = trapped and after is not None and address == after + 4
        if address != after or (inside and last in jumps):
            if inside:
                traces[source, start, last] += 1
                source = None if returned else last
                if bias is None:
                    traces[source, None, None] += 1
            else:
                source = None
            start = address - bias if bias is not None else None
        inside, trapped = bias is not None, False
        last = address - bias if inside else None
        after = address + size
    if inside:
        traces[source, start, last] += 1
    text = lambda address: "-" if address is None else f"{address:x}"
    for key, count in sorted(traces.items(), key=str):
        print(*map(text, key), count)


if __name__ == "__main__":
    main()
