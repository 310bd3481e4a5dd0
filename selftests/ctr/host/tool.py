#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the perf tool's output for one recording with the program's ELF.

usage: tool.py ELF LOADED-AT PREFIX
  PREFIX.sym       perf script -F ip,brstacksym
  PREFIX.history   perf report --branch-history --stdio
  PREFIX.annotate  perf annotate --stdio of hot_recursion
  PREFIX.ips       perf script -F ip
  PREFIX.mispredict  perf report -s mispredict
  PREFIX.cycles    perf report --total-cycles
Prints "name value" lines:
  sym sym_illegal          entries with both symbols of the program; those that
                           are not in its control-flow graph
  history history_wrong    addresses of the program in the branch history; those
                           where no transfer begins or ends
  rows                     rows of functions hot_* in that report
  annotated annotate_wrong samples of hot_recursion; its instructions whose share of
                           the samples is wrong
  mispredicted mispredict_wrong  mispredicted entries; 1 if the report has another
                           share of them
  blocks                   blocks of the program with cycles
"""
import collections
import re
import sys

from edges import Graph


def symbols(graph, path):
    """Symbols that the linker and the C library also put into other objects."""
    start = {}
    for address in graph.order:
        start.setdefault(graph.function[address], address)
    start = {name: at for name, at in start.items() if name.startswith("hot_") or name == "main"}
    seen = illegal = 0
    for source, at, target, to in re.findall(r"(\w+)\+(0x[0-9a-f]+)/(\w+)\+(0x[0-9a-f]+)/", open(path).read()):
        if source not in start or target not in start:
            continue
        seen += 1
        ends = start[source] + int(at, 16), start[target] + int(to, 16)
        if not graph.legal(*ends):
            illegal += 1
            print(f"sym: {source}+{at} -> {target}+{to}", file=sys.stderr)
    return seen, illegal


def history(graph, path):
    sources = {a for a, (kind, _) in graph.code.items() if kind}
    targets = {t for _, t in graph.code.values() if t is not None} | graph.returns | graph.starts
    # Jump tables are data: the graph does not know where they lead.
    tables = {graph.function[a] for a, (kind, _) in graph.code.items() if kind in ("indjump", "otherindjump")}
    seen = wrong = rows = 0
    for line in open(path):
        rows += bool(re.match(r" +[0-9.]+% .*\[\.\] hot_", line))
        match = re.search(r"(0x[0-9a-f]+) \(calltrace\)", line)
        address = int(match.group(1), 16) if match else None
        if address not in graph.code:
            continue
        seen += 1
        if address not in sources | targets and graph.function[address] not in tables:
            wrong += 1
            print(f"history: {address:#x} in {graph.function[address]}", file=sys.stderr)
    return seen, wrong, rows


def annotate(graph, base, path, ips):
    counted = collections.Counter(int(line, 16) for line in open(ips) if line.strip())
    inside = {a: n for a, n in counted.items() if graph.function.get(a) == "hot_recursion"}
    total, wrong, shown = sum(inside.values()), 0, 0
    for share, address in re.findall(r"^ +([0-9.]+) : +([0-9a-f]+):", open(path).read(), re.M):
        shown += 1
        expected = 100 * inside.get(int(address, 16) + base, 0) / max(total, 1)
        if abs(float(share) - expected) > 0.01:
            wrong += 1
            print(f"annotate: {address} has {expected:.2f} %, not {share} %", file=sys.stderr)
    size = sum(name == "hot_recursion" for name in graph.function.values())
    return total, wrong + abs(shown - size)


def mispredict(path, stacks):
    flags = collections.Counter(re.findall(r"/([MP])/-/-/", open(stacks).read()))
    shares = dict(re.findall(r"^ +([0-9.]+)% +([YN])", open(path).read(), re.M))
    shares = {flag: float(share) for share, flag in shares.items()}
    expected = 100 * flags["M"] / max(flags.total(), 1)
    wrong = abs(shares.get("Y", 0) - expected) > 0.01
    if wrong:
        print(f"mispredict: {shares} instead of {expected:.2f} %", file=sys.stderr)
    return flags["M"], wrong


def blocks(path):
    cycles = re.findall(r"^ +[0-9.]+% +([0-9.]+)K? +[0-9.]+% +([0-9]+) +\[edges\.c:\d+ -> edges\.c:\d+\] +edges", open(path).read(), re.M)
    return sum(float(total) > 0 and int(average) > 0 for total, average in cycles)


def main():
    elf, base, prefix = sys.argv[1], int(sys.argv[2], 16), sys.argv[3]
    graph = Graph(elf, base)
    print("sym %d\nsym_illegal %d" % symbols(graph, prefix + ".sym"))
    print("history %d\nhistory_wrong %d\nrows %d" % history(graph, prefix + ".history"))
    print("mispredicted %d\nmispredict_wrong %d" % mispredict(prefix + ".mispredict", prefix + ".sym"))
    print("blocks", blocks(prefix + ".cycles"))
    print("annotated %d\nannotate_wrong %d" % annotate(graph, base, prefix + ".annotate", prefix + ".ips"))


main()
