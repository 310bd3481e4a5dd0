#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the call stacks of ntrace export with those of the witness (selftests/oracle/stacks.c).

usage: stack_truth.py ORACLE LOG PROGRAM KALLSYMS FOLDED [OPTION...]
ORACLE is the program stacks, which gets the OPTIONs; LOG is its log of one hart. PROGRAM is the static program
program/stack_load.c; KALLSYMS has the symbols of the kernel. FOLDED is the output of ntrace export.

Stacks below functions truth_* are compared, and separately those below functions odd_*. Code without a name in the
two (the vDSO) is one frame "*" for all consecutive code. Names of one address are equal. A part of a function that the function
calls is no frame of its own. User mode alone does not show
whether the ecall that ends a handler was executed or a signal came just before: what the next handler interrupts is
then not compared.

Prints for "plain", and then for each odd_*: "NAME: N stacks, N instructions, N differ"; differences on standard error.

"""
import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "oracle"))
from thread_names import PART, whole  # noqa: E402

OTHER = "*"
BLANK = "\N{SYMBOL FOR SPACE}"
ROOT = re.compile("(truth|odd)_")


def tool(name, *arguments):
    return subprocess.run([f"riscv64-linux-gnu-{name}", *arguments], check=True, capture_output=True, text=True).stdout


# "ffffffff80000000 0000000000000010 t name(of C++, too)", with or without the size
SYMBOL = re.compile(r"([0-9a-f]+)(?: ([0-9a-f]+))? (\S) (.*)")


def symbols(listing):
    found = []
    for line in listing.splitlines():
        address, _, kind, name = SYMBOL.fullmatch(line).groups()
        name = name.split("\t")[0]
        if kind in "tTwWi" and not name.startswith((".L", "$", "__pi_.L")):
            found.append((int(address, 16), name))
    functions = {name for _, name in found}
    for address, name in found:
        function = whole(name, functions)
        yield address, function if function == name else function + PART


def inner_labels(listing):
    """Names without a size within a function that has one: glibc's __syscall_cancel_arch_end."""
    lines = [SYMBOL.fullmatch(line).groups() for line in listing.splitlines()]
    starts = sorted((int(address, 16), int(address, 16) + int(size, 16)) for address, size, kind, _ in lines
                    if size and kind in "tTwWi")
    labels = set()
    for address, size, _, name in lines:
        at = -1 if size else bisect.bisect_left(starts, (int(address, 16), 0)) - 1
        if at >= 0 and int(address, 16) < starts[at][1]:
            labels.add(name)
    return labels


class Names:
    """Functions by address. Which of several names of an address is shown does not matter for stacks."""

    def __init__(self, program, kallsyms):
        self.at, self.same = {}, {}
        sections = tool("objdump", "-h", program)
        code = [range(int(start, 16), int(start, 16) + int(size, 16))
                for size, start in re.findall(r"^ *\d+ \S+ +(\S+) +(\S+) .*\n.*CODE", sections, re.MULTILINE)]
        listing = tool("nm", "--demangle", "--defined-only", program)
        labels = inner_labels(tool("nm", "--demangle", "--defined-only", "--print-size", program))
        for address, name in symbols(listing):
            if any(address in part for part in code) and name not in labels:
                self.add(address, name)
        for address, name in symbols(open(kallsyms).read()):
            self.add(address, name)
        self.at.update((part.stop, OTHER) for part in code if part.stop not in self.at)
        self.at[0] = OTHER
        self.known = {self.root(name) for name in self.at.values()}
        self.known |= {name.removesuffix(PART) for name in self.known}

    def add(self, address, name):
        if address in self.at:
            self.same[self.root(name)] = self.root(self.at[address])
        else:
            self.at[address] = name

    def root(self, name):
        while self.same.get(name, name) != name:
            name = self.same[name]
        return name

    def one(self, name):
        """Functions of modules are followed by the module's name."""
        root = self.root(re.sub(r" \[\w+\]$", "", name))
        return root if root in self.known else OTHER

    def write(self, file):
        """Input of the oracle, which accepts no names with blanks."""
        for address, name in sorted(self.at.items()):
            print(f"{address:x} {self.root(name).replace(' ', BLANK)}", file=file)
        file.flush()


def read(lines, names, user_only):
    """{group: {stack: instructions}}, the stacks from the outermost root function on."""
    found = collections.defaultdict(collections.Counter)
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        frames = [names.one(name) for name in stack.replace(BLANK, " ").split(";")]
        first = next((i for i, name in enumerate(frames) if ROOT.match(name)), None)
        if first is None:
            continue
        frames = [name.removesuffix(PART) for i, name in enumerate(frames)
                  if i >= first and (i == first or frames[i - 1].removesuffix(PART) + PART != name)]
        group = next((name for name in frames if name.startswith("odd_")), "plain")
        stack = tuple(name for i, name in enumerate(frames) if name != OTHER or frames[i - 1] != OTHER)
        if user_only:
            stack = tuple(name for i, name in enumerate(stack) if name != OTHER or i == len(stack) - 1)
        found[group][stack] += int(count)
    return found


def main():
    oracle, log, program, kallsyms, folded, *options = sys.argv[1:]
    names = Names(program, kallsyms)
    user_only = options[options.index("--privilege") + 1] == "u"
    with tempfile.NamedTemporaryFile("w") as symbols:
        names.write(symbols)
        want = read(subprocess.run([oracle, *options, symbols.name, log], check=True, capture_output=True,
                                   text=True).stdout.splitlines(), names, user_only)
    with open(folded) as file:
        told = read(file, names, user_only)
    for group in sorted({*want, *told}, key=lambda name: (name != "plain", name)):
        seen, got = want[group], told[group]
        differ = [(abs(seen[key] - got[key]), key) for key in {**seen, **got} if seen[key] != got[key]]
        print(f"{group}: {len(seen)} stacks, {sum(seen.values())} instructions, {len(differ)} differ")
        for _, key in sorted(differ, reverse=True)[:10]:
            print(f"{group}: {seen[key]} seen, {got[key]} told: {';'.join(key)}", file=sys.stderr)


main()
