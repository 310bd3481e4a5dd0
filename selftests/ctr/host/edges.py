#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares branch stacks with the control-flow graph of the program, which
objdump derives from its ELF.

usage: edges.py ELF LOADED-AT SCRIPT KEY=VALUE...
SCRIPT is the output of perf script -F ip,brstack. Prints its results, one
"name value" a line:
  samples entries   number of samples, and of entries; entries with both ends
                    outside of the ELF's text are ignored
  illegal           edges that are not in the graph
  joined broken     neighbours, and those that no sequential code connects
  newest            samples whose youngest entry does not lead to their PC
  kernel            entries with an address of the kernel
  mistyped          entries whose type is not that of the instruction
  timed             neighbours whose cycles were compared: harts with the property
                    ctr-details execute one instruction in a cycle
  mistimed          those whose cycles are not the instructions between them
  predicted         entries whose prediction was compared: a branch is
                    mispredicted if it leads forward, an indirect transfer if
                    it leads elsewhere than the one before it
  mispredicted      those with another prediction
  missing           direct edges of functions hot_* that never occurred
  classes           kinds of transfers seen in the text
  deepest           entries of the longest stack
  rooted            samples in functions hot_* with the whole stack: _start has
                    called, or the C library the function of a thread
  hot               samples in functions hot_*
Examples of errors go to standard error.
KEY=VALUE: chain=no     entries were filtered, neighbours need not connect
           stack=yes    entries are call frames: each calls the function that
                        makes the next call, the last one the sampled function
"""
import re
import subprocess
import sys

TYPES = {
    "cond": "COND", "jump": "UNCOND", "otherjump": "UNCOND", "call": "CALL",
    "indjump": "IND", "otherindjump": "IND", "indcall": "IND_CALL", "swap": "IND_CALL", "ret": "RET",
}
INDIRECT = ("indjump", "otherindjump", "indcall", "swap")


def disassemble(elf):
    """Returns address -> (class, target or None), the sorted addresses, and each address's
    function."""
    text = subprocess.run(["riscv64-linux-gnu-objdump", "-d", "-M", "no-aliases", "--no-show-raw-insn", elf],
                          check=True, capture_output=True, text=True).stdout
    instructions, function, starts = {}, {}, set()
    for name, address, mnemonic, operands in parse(text):
        if mnemonic is None:
            starts.add(address)
            continue
        instructions[address] = classify(mnemonic, operands)
        function[address] = name
    return instructions, function, starts


def parse(text):
    """Yields a line of objdump as (function, address, mnemonic, operands); the last two are None
    where a function begins."""
    name = None
    for line in text.splitlines():
        match = re.match(r"([0-9a-f]+) <(.*)>:$", line)
        if match:
            name = match.group(2)
            yield name, int(match.group(1), 16), None, None
            continue
        match = re.match(r" *([0-9a-f]+):\s+(\S+)\s*(\S*)", line)
        if match:
            yield name, int(match.group(1), 16), match.group(2), match.group(3)


def classify(mnemonic, operands):
    """Returns the class by the link-register rules (ra and t0) of the ISA manual."""
    mnemonic = mnemonic.removeprefix("c.")
    operand = operands.split(",")
    link = {"ra", "t0"}
    if re.match(r"b(eq|ne|lt|ge|ltu|geu)z?$", mnemonic):
        return "cond", int(operand[-1], 16)
    if mnemonic == "j":
        return "jump", int(operand[0], 16)
    if mnemonic == "jal":
        target = int(operand[-1], 16)
        if operand[0] == "zero":
            return "jump", target
        return ("call" if operand[0] in link else "otherjump"), target
    if mnemonic == "jr":
        return ("ret" if operand[0] in link else "indjump"), None
    if mnemonic == "jalr":
        if len(operand) == 1:
            destination, source = "ra", operand[0]
        else:
            destination = operand[0]
            source = re.sub(r".*\(|\)", "", operand[1])
        if destination in link:
            return ("swap" if source in link and source != destination else "indcall"), None
        if source in link:
            return "ret", None
        return ("indjump" if destination == "zero" else "otherindjump"), None
    return None, None


class Graph:
    def __init__(self, elf, base):
        raw, function, starts = disassemble(elf)
        # A position-independent ELF is linked at address 0.
        offset = base - (min(raw) & ~0xffff)
        self.fill({a + offset: (kind, t + offset if t is not None else None) for a, (kind, t) in raw.items()},
                  {a + offset: name for a, name in function.items()}, {a + offset for a in starts})

    def fill(self, code, function, starts):
        self.code, self.function, self.starts = code, function, starts
        self.order = sorted(self.code)
        self.place = {a: i for i, a in enumerate(self.order)}
        self.returns = {self.after(a) for a, (kind, _) in self.code.items() if kind in ("call", "indcall", "swap")}

    def after(self, address):
        i = self.place[address] + 1
        return self.order[i] if i < len(self.order) else None

    def legal(self, source, target):
        if source not in self.code:
            return source < self.order[0] or source > self.order[-1]
        kind, direct = self.code[source]
        if kind is None:
            return False
        if direct is not None:
            return target == direct
        if target not in self.code:
            return target < self.order[0] or target > self.order[-1]
        if kind == "ret":
            return target in self.returns
        if kind == "indcall":
            return target in self.starts
        return target in self.starts or self.function[target] == self.function[source]

    def run(self, start, end):
        """Tells whether code runs from start to end (not past it) without a jump."""
        if start not in self.code or end not in self.code:
            return (start in self.code) == (end in self.code)
        if start > end:
            return False
        for i in range(self.place[start], self.place[end]):
            if self.code[self.order[i]][0] not in (None, "cond"):
                return False
        return True


    def between(self, start, end):
        """Number of instructions from start to end, both included; 0 if they are not in the program."""
        return self.place[end] - self.place[start] + 1 if start in self.code and end in self.code else 0


def is_mispredicted(kind, source, target, older):
    """The predictor of the virtual SoC; None if the older entries do not tell. older: (kind, target), newest first; the kind is
    None in other objects."""
    if kind not in INDIRECT:
        return kind == "cond" and target > source
    return next((target != last if other else None for other, last in older if other in INDIRECT or not other), None)


def parse_entry(graph, entry):
    """Returns entry, its fields, source, target and the kind of the source."""
    field = entry.split("/")
    source, target = int(field[0], 16), int(field[1], 16)
    return entry, field, source, target, graph.code.get(source, (None, None))[0]


def check_details(graph, entries, count, wrong):
    """Compares cycles and prediction of the first entry; the others are older."""
    entry, field, source, target, kind = entries[0]
    instructions = graph.between(entries[1][3], source)
    if instructions:
        count["timed"] += 1
        if int(field[5]) != instructions:
            wrong("mistimed", f"{entry} after {instructions} instructions")
    expected = is_mispredicted(kind, source, target, ((other[4], other[3]) for other in entries[1:]))
    if kind and expected is not None:
        count["predicted"] += 1
        if field[2] != ("M" if expected else "P"):
            wrong("mispredicted", f"{entry} is a {kind}")


def main():
    elf, base, script = sys.argv[1], int(sys.argv[2], 16), sys.argv[3]
    option = dict(item.split("=") for item in sys.argv[4:])
    graph = Graph(elf, base)
    count = dict.fromkeys(("samples", "entries", "illegal", "joined", "broken", "newest", "kernel", "mistyped", "deepest", "rooted", "hot",
                           "timed", "mistimed", "predicted", "mispredicted"), 0)
    seen, classes, said = set(), set(), 0

    def wrong(what, text):
        nonlocal said
        count[what] += 1
        said += 1
        if said <= 10:
            print(f"{what}: {text}", file=sys.stderr)

    for line in open(script):
        words = line.split()
        if not words:
            continue
        count["samples"] += 1
        pc, newer = int(words[0], 16), None
        hot, rooted = graph.function.get(pc, "").startswith("hot_"), False
        count["deepest"] = max(count["deepest"], len(words) - 1)
        entries = [parse_entry(graph, entry) for entry in words[1:]]
        for i, (entry, field, source, target, kind) in enumerate(entries):
            if source >> 63 or target >> 63:
                wrong("kernel", entry)
            if source in graph.code or target in graph.code:
                count["entries"] += 1
                if not graph.legal(source, target):
                    wrong("illegal", entry)
            if option.get("stack") == "yes":
                callee = pc if newer is None else newer
                if kind not in (None, "call", "indcall", "swap"):
                    wrong("broken", entry)
                elif (graph.function.get(target) != graph.function.get(callee) and target in graph.code
                      # A linker stub ends with a jump to its function, so the stack names the stub. A
                      # swap overwrites the record of the call to its function.
                      and not graph.function[target].endswith("@plt")
                      and (newer is None or graph.code.get(newer, (None,))[0] != "swap")):
                    wrong("newest" if newer is None else "broken", f"{entry} then {callee:#x}")
                rooted |= (graph.function.get(source) == "_start" or
                           graph.function.get(target) == "execute" and source not in graph.code)
            elif option.get("chain") != "no":
                count["joined"] += i > 0 and target in graph.code and newer in graph.code
                if not graph.run(target, pc if newer is None else newer):
                    wrong("newest" if newer is None else "broken", f"{entry} then {pc if newer is None else newer:#x}")
                if i and field[2] != "-":
                    check_details(graph, entries[i - 1:], count, wrong)
            if kind:
                classes.add(kind)
                seen.add((source, target))
                if len(field) > 6 and field[6] and field[6] != TYPES[kind]:
                    wrong("mistyped", f"{entry} is a {kind}")
            newer = source
        count["hot"] += hot
        count["rooted"] += hot and rooted
    missing = [(s, t) for s, (kind, t) in graph.code.items()
               if t is not None and graph.function[s].startswith("hot_") and (s, t) not in seen]
    for name, value in count.items():
        print(name, value)
    print("missing", len(missing))
    print("classes", ",".join(sorted(classes)))
    for source, target in missing[:5]:
        print(f"missing: {source:#x} -> {target:#x} in {graph.function[source]}", file=sys.stderr)


if __name__ == "__main__":
    main()
