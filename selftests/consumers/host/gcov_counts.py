#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares profiles for GCC with the executed instructions.

usage: gcov_counts.py text ELF EXECUTED
       gcov_counts.py same ELF EXECUTED OURS THEIRS
       gcov_counts.py alike ELF SCRIPT OURS THEIRS
       gcov_counts.py entries ELF EXECUTED DUMP
EXECUTED is the output of executed.py, SCRIPT that of perf script -F ip,brstack --show-mmap-events.

text prints EXECUTED for create_gcov --profiler=text.
same compares dump_gcov's output for the exported profile with its output for create_gcov's. Known
differences: create_gcov also counts instructions without a line (as a line far before the function),
lines that were not executed, and targets of direct calls; it does not count calls from other
objects, so executions of functions are compared with EXECUTED. Prints
"N functions, N counts, N targets, N differ". alike is the same for samples: executions of functions
are compared with the transfers to their first instruction in the output of perf script.
entries compares the counts with which GCC enters functions, from its dump of the pass afdo
with blocks, with EXECUTED. Newer GCC scales all counts by one factor. Prints
"N functions, N differ".

"""
import collections
import re
import sys

import brstack

OFFSET_MAX = 32768


def traces(elf, path):
    """[(from, start, end, count)] in link addresses, None for other objects."""
    found = []
    for line in open(path):
        word = line.split()
        found.append((*(None if text == "-" else elf.address(int(text, 16)) for text in word[:3]), int(word[3])))
    return found


def text(elf, path):
    executed = traces(elf, path)
    runs, branches = collections.Counter(), collections.Counter()
    for source, start, end, count in executed:
        if start is not None:
            runs[start, end] += count
        if None not in (source, start):
            branches[source, start] += count
    print(len(runs))
    for (start, end), count in sorted(runs.items()):
        print(f"{start:x}-{end:x}:{count}")
    print(0)
    print(len(branches))
    for (source, target), count in sorted(branches.items()):
        print(f"{source:x}->{target:x}:{count}")


def entered(elf, executed):
    """{function: transfers to its first instruction}; no function of the program starts with a loop."""
    found = collections.Counter()
    for _, start, _, count in executed:
        where = elf.function(start)
        if where and where[1] == 0:
            found[where[0]] += count
    return found


def dump(path):
    """{function: {key: count}} of dump_gcov's text: key is a path of lines and inlined functions, and a target."""
    functions, stack = {}, []
    for line in open(path):
        head = re.match(r"(\S+) total:(\d+) head:(\d+)$", line)
        if head:
            counts = functions.setdefault(head.group(1), {})
            counts["head"] = int(head.group(3))
            stack = []
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        stack = stack[:depth - 1]
        inlined = re.match(r" +([\d.]+): (\S+) total:\d+$", line)
        if inlined:
            stack.append(inlined.groups())
            continue
        match = re.match(r" +([\d.]+): (\d+)(.*)$", line)
        if not match:
            sys.exit(f"{path}: {line}")
        position = *stack, match.group(1)
        counts[position] = int(match.group(2))
        for target, count in re.findall(r" (\S+):(\d+)", match.group(3)):
            counts[*position, "to", target] = int(count)
    return functions


def known(counts, ours):
    """The counts of create_gcov that the export should have."""
    lines = lambda key: [part[0] if isinstance(part, tuple) else part for part in key if part != "to"]
    return {key: count for key, count in counts.items()
            if key == "head" or (count and ("to" not in key or key in ours) and
                                 all(int(line.split(".")[0]) < OFFSET_MAX for line in lines(key)[:1]))}


def same(elf, executed, ours, theirs):
    compare(entered(elf, traces(elf, executed)), dump(ours), dump(theirs))


def alike(elf, script, ours, theirs):
    branches = brstack.Sums(elf, script, 0).branches
    shown = [(source, target, None, count) for (source, target), count in branches.items()]
    compare(entered(elf, shown), dump(ours), dump(theirs))


def compare(calls, ours, theirs):
    counts = targets = differ = 0
    for name in sorted({*ours, *theirs}):
        got = ours.get(name, {})
        want = known(theirs.get(name, {}), got)
        want.pop("head", None)
        # create_gcov also has functions that were not executed.
        if name in ours or calls[name]:
            want["head"] = calls[name]
        counts += sum(key != "head" and "to" not in key for key in got)
        targets += sum("to" in key for key in got)
        for key in sorted({*got, *want}, key=str):
            if got.get(key) != want.get(key):
                differ += 1
                print(f"{name} {key}: {got.get(key)}, expected {want.get(key)}", file=sys.stderr)
    print(f"{len(ours)} functions, {counts} counts, {targets} targets, {differ} differ")


def entries(elf, executed, path):
    calls, got, name = entered(elf, traces(elf, executed)), {}, None
    before = ""
    for line in open(path):
        if line == "{\n":
            head = re.match(r"\w[\w *]*?(\w+?)(?:D\.\d+)? \(", before)
            name = head and head.group(1)
        block = re.match(r";; +basic block 2, .* count (\d+) \(auto FDO", line)
        if block and name:
            got[name], name = int(block.group(1)), None
        before = line
    scales = collections.Counter(got[name] / calls[name] for name in got if calls[name])
    scale = scales.most_common(1)[0][0] if scales else 1
    wrong = {name: got.get(name) for name in {*got, *calls} if elf.defined(name) and got.get(name, 0) != calls[name] * scale}
    for name, count in wrong.items():
        print(f"{name}: {count}, expected {calls[name]} * {scale}", file=sys.stderr)
    print(f"{len(got)} functions, {len(wrong)} differ")


class Program(brstack.Elf):
    def __init__(self, path, source):
        super().__init__(path)
        self.source = set(re.findall(r"^(?:static )?[\w *]*\b(\w+)\([^;]*\)\n\{", open(source).read(), re.MULTILINE))

    def defined(self, name):
        return name in self.source


def main():
    elf = Program(sys.argv[2], "selftests/consumers/program/calculator.c")
    {"text": text, "same": same, "alike": alike, "entries": entries}[sys.argv[1]](elf, *sys.argv[3:])


if __name__ == "__main__":
    main()
