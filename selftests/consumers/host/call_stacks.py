#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the call stacks of ntrace export with stacks computed from the witness's log.

usage: call_stacks.py MAPS ELF FOLDED [--inlined] [FALSIFY] <LOG
LOG, MAPS and ELF are as for executed.py, FOLDED is the output of ntrace export. objdump's output
tells calls and returns. Code of other objects is opaque: one frame "*" for all consecutive code. A
call enters it, and it is left to the return address of that call or, in a callback, to the first
instruction of a function. Stacks below main are compared. --inlined: includes the functions that
addr2line reports as inlined at each call and each instruction. FALSIFY: ignores that return.

Prints "N stacks, N instructions, N differ", and the differences on standard error.

"""
import collections
import re
import subprocess
import sys

import covered
import executed

OTHER = "*"


def tool(name, *arguments):
    return subprocess.run([f"riscv64-linux-gnu-{name}", *arguments], check=True, capture_output=True,
                          text=True).stdout.splitlines()


class Program:
    """For each address of the program: its function, and whether it calls or returns."""

    def __init__(self, elf):
        self.starts, self.functions = {}, {}
        for line in tool("nm", "-S", "--defined-only", elf):
            word = line.split()
            if len(word) == 4 and word[2] in "tT":
                start, size = int(word[0], 16), int(word[1], 16)
                self.starts[start] = word[3]
                self.functions.update((address, word[3]) for address in range(start, start + size, 2))
        self.calls, self.returns = set(), set()
        for line in tool("objdump", "-d", "-M", "no-aliases", "--no-show-raw-insn", elf):
            match = re.match(r" *([0-9a-f]+):\t([a-z.]+)\s*(.*)", line)
            if not match:
                continue
            address, name, operands = int(match.group(1), 16), match.group(2), match.group(3)
            if name == "c.jalr" or (name in ("jal", "jalr") and re.match("(ra|t0),", operands)):
                self.calls.add(address)
            elif (name == "c.jr" and operands in ("ra", "t0")) or (name == "jalr" and re.match(r"zero,0\((ra|t0)\)", operands)):
                self.returns.add(address)


def walk(program, instructions, falsify):
    """{stack: instructions}; instructions: (address or None, next address), None for other objects.

    A stack has pairs of function and address: the call of the next function, or the current address."""
    stacks, frames, last = collections.Counter(), [], None
    for address, after in instructions:
        function = program.functions.get(address, OTHER)
        if last in program.calls:
            frames.append([function, behind, None])
        elif last in program.returns and frames:
            falsify -= 1
            if falsify != 0:
                frames.pop()
        elif frames and function != OTHER and frames[-1][0] == OTHER and address == frames[-1][1]:
            frames.pop()
        elif function != OTHER and address in program.starts and (not frames or frames[-1][0] == OTHER):
            frames.append([function, None, None])
        elif frames and frames[-1][0] != function:
            # Sequential execution or a jump: a tail call, or a jump table of the program.
            frames[-1][0] = function
        if frames:
            frames[-1][2] = address
        stacks[tuple((frame[0], frame[2]) for frame in frames)] += 1
        last, behind = address, after
    return stacks


def instructions_of(ranges, lines):
    for line in lines:
        word = line.split()
        if len(word) != 3 or word[2] != "U":
            continue
        address = int(word[0], 16)
        bias = next((item[2] for item in ranges if item[0] <= address < item[1]), 0)
        if bias == 0:
            continue  # another process
        yield (None, None) if bias is None else (address - bias, address - bias + int(word[1]))


def expanded(stacks, elf, inlined):
    """The stacks by names, with the functions inlined at their addresses."""
    found, places = collections.Counter(), {}
    if inlined:
        places = covered.places(elf, {address for stack in stacks for _, address in stack if address is not None})
    for stack, count in stacks.items():
        names = []
        for function, address in stack:
            names.append(function)
            names += [f"{name}_[i]" for name, _ in reversed(places.get(address, [])[:-1])]
        found[tuple(names)] += count
    return found


def from_main(stacks):
    found = collections.Counter()
    for frames, count in stacks.items():
        if "main" in frames:
            frames = frames[frames.index("main"):]
            found[tuple(name for i, name in enumerate(frames) if name != OTHER or frames[i - 1] != OTHER)] += count
    return found


def main():
    inlined = "--inlined" in sys.argv
    if inlined:
        sys.argv.remove("--inlined")
    program = Program(sys.argv[2])
    ranges = executed.mappings(sys.argv[1], sys.argv[2].rsplit("/", 1)[-1])
    seen = walk(program, instructions_of(ranges, sys.stdin), int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    want = from_main(expanded(seen, sys.argv[2], inlined))
    told = collections.Counter()
    for line in open(sys.argv[3]):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        thread, *frames = stack.split(";")
        if thread == sys.argv[2].rsplit("/", 1)[-1]:
            told[tuple(name if name in program.starts.values() or name.endswith("_[i]") else OTHER for name in frames)] += int(count)
    got = from_main(told)
    differ = [(key, want[key], got[key]) for key in {**want, **got} if want[key] != got[key]]
    print(f"{len(want)} stacks, {sum(want.values())} instructions, {len(differ)} differ")
    for item in sorted(differ)[:10]:
        print(*item, file=sys.stderr)


main()
