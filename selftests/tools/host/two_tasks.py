#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Executes two_tasks.S, and compares ntrace's output for the trace with the execution.

  two_tasks.py run DISASSEMBLY FUNCTION        prints the PCs from FUNCTION to its last nop
  two_tasks.py check DISASSEMBLY SOURCE DIRECTORY
      DIRECTORY: report.json, page.html, text, threads, annotated, callers, callees and folded, written by
      ntrace. Prints TAP.
"""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

TASKS = [("first", 42, 42), ("second", 50, 51)]

# A timestamp is a microsecond, and counts instructions.
INSTRUCTION_NS = 1000


class Machine:
    def __init__(self, disassembly):
        self.code, self.functions = {}, []
        for line in open(disassembly):
            label = re.match(r"([0-9a-f]+) <(\w+)>:", line)
            if label:
                self.functions.append((int(label[1], 16), label[2]))
                continue
            found = re.match(r" *([0-9a-f]+):\t(\S+)(?:\t(\S*).*)?$", line.rstrip("\n"))
            if found:
                self.code[int(found[1], 16)] = (found[2], (found[3] or "").split(","))
        self.addresses = sorted(self.code)

    def after(self, address):
        return self.addresses[self.addresses.index(address) + 1]

    def place(self, address):
        """(function, offset)"""
        start, name = max(item for item in self.functions if item[0] <= address)
        return name, address - start

    def run(self, name):
        """Returns [(address, next address, kind of transfer or None)] of every instruction, to
        the last one of the function."""
        address = next(start for start, function in self.functions if function == name)
        steps, returns, counter = [], [], 0
        while True:
            operation, operands = self.code[address]
            follows, kind = self.after(address), None
            if operation == "li":
                counter = int(operands[1], 0)
            elif operation in ("add", "addi") and operands[0] == "s0":
                counter += int(operands[2])
            elif operation == "bnez" and counter:
                follows, kind = int(operands[1], 16), "branch"
            elif operation == "jal":
                returns.append(follows)
                follows, kind = int(operands[-1], 16), "call"
            elif operation == "ret":
                follows, kind = returns.pop(), "return"
            if operation == "nop" and self.place(address)[0] == name:
                return steps + [(address, None, None)]
            if len(steps) > 1000000:
                raise SystemExit("no end")
            steps.append((address, follows, kind))
            address = follows


class Truth:
    """Counts of the execution."""

    def __init__(self, machine):
        self.machine = machine
        self.own, self.calls, self.total = (collections.Counter() for _ in range(3))
        self.at, self.edges, self.threads = (collections.Counter() for _ in range(3))
        self.stacks, self.callers = collections.Counter(), collections.Counter()
        for name, _, _ in TASKS:
            stack = [name]
            for address, follows, kind in machine.run(name):
                self.at[address] += 1
                self.own[stack[-1]] += 1
                self.threads[name] += 1
                self.stacks[tuple(stack)] += 1
                for function in set(stack):
                    self.total[function] += 1
                if kind:
                    self.edges[address, follows] += 1
                if kind == "call":
                    callee = machine.place(follows)[0]
                    self.calls[callee] += 1
                    self.callers[stack[-1], callee] += 1
                    stack.append(callee)
                elif kind == "return":
                    stack.pop()


def number(text):
    return int(text.replace(",", ""))


def same_time(text, nanoseconds):
    """The text is rounded to its last digit."""
    value, unit = text.split()
    scale = {"ns": 1, "us": 1000, "ms": 1000000}[unit]
    return abs(float(value) * scale - nanoseconds) <= scale * 10 ** -len(value.partition(".")[2]) * 0.501


def close(nanoseconds, instructions):
    """Code before the first and after the last timestamp has no time."""
    return instructions - 100 <= nanoseconds / INSTRUCTION_NS <= instructions + 100


def check_json(truth, report):
    functions = {item["function"]: item for item in report["functions"]}
    ok({name: (item["instructions"], item["calls"], item["total"]) for name, item in functions.items()} ==
       {name: (truth.own[name], truth.calls[name], truth.total[name]) for name in truth.own}, "report --json: functions", functions)
    ok(all(close(functions[name]["total_ticks"], truth.total[name]) for name, _, _ in TASKS), "times with callees", functions)
    ok(sum(item["ticks"] for item in functions.values()) == report["time"]["ticks"], "and without", functions)
    counts = [item["instructions"] for item in report["functions"]]
    ok(counts == sorted(counts, reverse=True), "the one with most instructions first", counts)
    everything = sum(truth.threads.values())
    ok(all(count == (everything if key in ("all", "selected", "user") else 0) for key, count in report["instructions"].items()),
       "instructions", report["instructions"])
    threads = [(item["cpu"], item["pid"], item["tid"], item["thread"], item["instructions"], item["kernel"]) for item in report["threads"]]
    ok(threads == [(i, pid, tid, name, truth.threads[name], 0) for i, (name, pid, tid) in enumerate(TASKS)], "threads", threads)
    ticks = sum(item["ticks"] for item in report["threads"])
    ok(ticks == report["time"]["ticks"] and report["time"]["hz"] == 1000000000 and report["time"]["stamps"] > 100 and
       ticks // INSTRUCTION_NS + report["time"]["untimed"] in range(everything - 4, everything + 5), "times", report["time"], ticks, everything)
    ok(report["time"]["error"] is None and report["time"]["gaps"] == report["time"]["longest_gap"] == 0,
       "no record has a time: the bound of the error is not known", report["time"])
    ok(report["traps"]["all"] == report["gaps"] == report["lost"]["bytes"] == 0 and report["errors"] == [], "nothing was lost", report)
    ok(report["command"] == "two tasks" and report["streams"] == 2, "the recording", report["command"], report["streams"])


def check_page(truth, report, page, source):
    data = json.loads(re.search(r'(\{"recording":.*?\})\n</script>\n<script>', page, re.S)[1])
    ok(data["command"] == "two tasks" and data["instructions"] == {
        "all": sum(truth.threads.values()), "selected": sum(truth.threads.values()), "user": sum(truth.threads.values()), "kernel": 0},
       "page: instructions", data["instructions"])
    ok(data["functions"] == [[item["function"], os.path.basename(item["object"]), item["mode"], item["instructions"], item["calls"],
                              item["total"], item["ticks"], item["total_ticks"]] for item in report["functions"]],
       "page: functions as in the report", data["functions"])
    losses = data["losses"]
    ok((losses["recording"], losses["gaps"], losses["errors"], losses["warnings"]) == ("", 0, [], []) and
       losses["notes"][:len(report["notes"])] == report["notes"], "page: losses", losses)
    check_edges(truth, data["branches"], source)
    check_tree(truth, data["stacks"])
    check_timeline(truth, data["timeline"], report)
    check_source(truth, data["files"], source)
    ok(data["dropped"] == {"functions": 0, "branches": 0} and data["stacks"]["dropped"] == 0, "page: all of it", data["dropped"])


def lines_of(truth, source):
    """Returns {address: line}, from the places of the instructions in the source."""
    text, found, at = open(source).read().splitlines(), {}, iter(truth.machine.addresses)
    for line, words in enumerate(text, 1):
        words = re.sub(r"^\d+:|/\*.*", "", words).split()
        if words and re.fullmatch(r"li|jal|addi|bnez|nop|sd|ld|ret", words[0]):
            found[next(at)] = line
    return found


def check_edges(truth, branches, source):
    lines = lines_of(truth, source)
    got = collections.Counter()
    for start, to, line, kind, taken, executed in branches:
        place = re.match(r"(\w+)\+0x([0-9a-f]+) ", start + " "), re.match(r"(\w+)\+0x([0-9a-f]+) ", to + " ")
        got[tuple((found[1], int(found[2], 16)) for found in place) + (line, kind, executed)] += taken
    want = {}
    for (start, to), taken in truth.edges.items():
        kind = {"jal": "call", "ret": "return", "bnez": "branch"}[truth.machine.code[start][0]]
        want[truth.machine.place(start), truth.machine.place(to), f"two_tasks.S:{lines[start]}", kind, truth.at[start]] = taken
    ok(dict(got) == want, "page: transfers", sorted(got.items()), sorted(want.items()))
    taken = [row[4] for row in branches]
    ok(taken == sorted(taken, reverse=True), "those that were taken most first", taken)


def check_tree(truth, stacks):
    names, nodes, paths = stacks["names"], stacks["nodes"], []
    got = {}
    for i, (name, parent, total, own, calls, ticks) in enumerate(nodes):
        paths.append((paths[parent] if i else ()) + (names[name],))
        path = tuple(item for item in paths[i] if item in truth.own)
        # Threads are named after their functions here.
        got.setdefault(path, []).append((total, own, calls))
    want = {}
    for path, own in truth.stacks.items():
        total = sum(count for other, count in truth.stacks.items() if other[:len(path)] == path)
        calls = truth.callers[path[-2:]] if len(path) > 1 else None
        want[path] = total, own, calls
    flat = {path: items[-1] for path, items in got.items()}
    # In a stack, the thread comes before its function, which has the same name.
    flat = {path[1:] if path[:1] == path[1:2] else path: item for path, item in flat.items() if len(path) > 1}
    good = all(path in flat and flat[path][:2] == want[path][:2] for path in want)
    ok(good and len(flat) == len(want), "page: call tree", sorted(flat.items()), sorted(want.items()))
    ok(nodes[0][2] == sum(truth.threads.values()), "with all instructions at its root", nodes[0])


def check_timeline(truth, timeline, report):
    lanes, tasks = timeline["lanes"], timeline["tasks"]
    ok((timeline["timed"], timeline["hz"], timeline["stamps"], timeline["untimed"]) ==
       (True, 1000000000, report["time"]["stamps"], report["time"]["untimed"]), "page: time stamps", timeline["stamps"])
    ok("nothing in the recording relates" in timeline["about"], "page: what times are", timeline["about"])
    shown = [(task["name"], task["pid"], task["tid"], task["instructions"]) for task in tasks if task["instructions"]]
    ok(shown == [(name, pid, tid, truth.threads[name]) for name, pid, tid in TASKS], "page: threads", shown)
    ok([task["ticks"] for task in tasks if task["instructions"]] == [item["ticks"] for item in report["threads"]], "their times", tasks)
    ok([lane["cpu"] for lane in lanes] == [0, 1] and min(lane["begin"] for lane in lanes) == 0, "page: a lane for each CPU", lanes[0]["begin"])
    for lane, (name, _, _) in zip(lanes, TASKS):
        cells = lane["cells"]
        ok(lane["instructions"] == truth.threads[name] and sum(cell[3] for cell in cells) == lane["ticks"] and
           sum(cell[1] for cell in cells) + 100 > truth.threads[name] and not any(cell[2] for cell in cells),
           f"{name}: sums of {len(cells)} cells", lane["instructions"], lane["ticks"], sum(cell[3] for cell in cells))
        ok(all(len(cell) == 4 and tasks[cell[0]]["name"] == name for cell in cells), "of this thread", cells[:3])
        ok(all(cell[3] == lane["width"] and abs(cell[1] * INSTRUCTION_NS - cell[3]) <= 3 * INSTRUCTION_NS for cell in cells[1:-1]) and len(cells) > 50,
           f"each {lane['width']} ns long, about as many instructions in each", cells[:9])


def check_source(truth, files, source):
    lines = lines_of(truth, source)
    [file] = files
    want = {lines[address]: truth.at[address] for address in lines}
    got = {line[0]: line[1] for line in file["lines"]}
    ok(got == want, "page: lines", got, want)
    ok((file["count"], file["executed"]) == (len(want), sum(count != 0 for count in want.values())), "how many", file["count"])
    ok(file["text"] == open(source).read() and file["name"].endswith("/two_tasks.S"), "their text", file["name"])
    branches = {line[0]: line[2:] for line in file["lines"] if len(line) > 2}
    wanted = {}
    for address, line in lines.items():
        if truth.machine.code[address][0] == "bnez":
            taken = sum(count for (start, _), count in truth.edges.items() if start == address)
            wanted[line] = [taken, truth.at[address]]
    ok(branches == wanted, "and branches", branches, wanted)


def check_text(truth, report, directory):
    def text(name):
        return open(os.path.join(directory, name)).read()
    everything = sum(truth.threads.values())
    rows = re.findall(r"^ *([\d.]+) % +([\d,]+) +([\d,]+) +([\d,]+) +~([\d.]+ \ws) +~([\d.]+ \ws) +user +two_tasks +(\w+)$", text("text"), re.M)
    got = {row[6]: tuple(map(number, row[1:4])) for row in rows}
    ok(got == {name: (truth.own[name], truth.total[name], truth.calls[name]) for name in truth.own}, "report: functions", text("text"))
    ok("\n              times are of the trace's counter: nothing in the recording relates it to CLOCK_MONOTONIC;" in text("text"),
       "what times are", text("text"))
    ok(all(abs(float(row[0]) - 100 * truth.own[row[6]] / everything) < 0.006 for row in rows), "shares", rows)
    ticks = {item["function"]: [item["ticks"], item["total_ticks"]] for item in report["functions"]}
    ok(len(rows) == len(ticks) and all(same_time(row[4 + i], ticks[row[6]][i]) for row in rows for i in (0, 1)), "times", rows)
    rows = re.findall(r"^ *([\d.]+) % +([\d,]+) +0\.00 % +~([\d.]+ [mu]?s) +(\d) +(\d+) +(\d+)  (\w+)$", text("threads"), re.M)
    got = [(number(row[1]), int(row[3]), int(row[4]), int(row[5]), row[6]) for row in rows]
    ok(got == [(truth.threads[name], i, pid, tid, name) for i, (name, pid, tid) in enumerate(TASKS)] and
       all(same_time(row[2], thread["ticks"]) for row, thread in zip(rows, report["threads"])), "report --by-thread", text("threads"))
    first = truth.machine.functions
    start = next(address for address, name in first if name == "work")
    got = re.findall(r"^ *([\d,]*)  +([\d,]*) +([0-9a-f]+):  ", text("annotated"), re.M)
    want = [(truth.at[a], sum(count for (at, _), count in truth.edges.items() if at == a), a) for a in truth.machine.addresses
            if truth.machine.place(a)[0] == "work"]
    ok([(number(row[0]), number(row[1] or "0"), int(row[2], 16)) for row in got] == want, "report --annotate: instructions", text("annotated"), want)
    ok(f"entered {truth.at[start]:,} times, {truth.own['work']:,} instructions" in text("annotated"), "and their sum", text("annotated"))
    check_callers(truth, text)
    got = collections.Counter()
    for line in text("folded").splitlines():
        path, count = line.rsplit(" ", 1)
        # Before it come the thread, and the unknown code that called it.
        path = tuple(path.split(";"))
        while path and (path not in truth.stacks or path[:1] == path[1:2]):
            path = path[1:]
        got[path] += int(count)
    ok(dict(got) == dict(truth.stacks), "export -f folded", sorted(got.items()), sorted(truth.stacks.items()))


def check_callers(truth, text):
    for name, function, end in (("callers", "leaf", 1), ("callees", "work", 0)):
        rows = re.findall(r"^ *([\d.]+) % +([\d,]+) +([\d,]+)  (\w+) \(two_tasks\)$", text(name), re.M)
        got = {row[3]: number(row[2]) for row in rows}
        want = {edge[1 - end]: count for edge, count in truth.callers.items() if edge[end] == function}
        ok(got == want, f"report --{name}: calls", text(name), want)
        per_call = truth.own["leaf"] // truth.calls["leaf"]
        whole = truth.total[function]
        ok(all(number(row[1]) == per_call * want[row[3]] and abs(float(row[0]) - 100 * per_call * want[row[3]] / whole) < 0.006
               for row in rows), "their instructions and shares", text(name))
        shares = [float(row[0]) for row in rows]
        ok(shares == sorted(shares, reverse=True), "the largest first", shares)
        ok(f"{function} (two_tasks): {truth.calls[function]:,} calls, {truth.own[function]:,} instructions of its own, {whole:,} with what it calls"
           in text(name), "what it has itself", text(name))


def main():
    machine = Machine(sys.argv[2])
    if sys.argv[1] == "run":
        print("\n".join(f"0x{address:x}" for address, _, _ in machine.run(sys.argv[3])))
        return
    global ok
    from tap import done, ok
    source, directory = sys.argv[3:]
    truth = Truth(machine)
    report = json.load(open(os.path.join(directory, "report.json")))
    check_json(truth, report)
    check_page(truth, report, open(os.path.join(directory, "page.html")).read(), source)
    check_text(truth, report, directory)
    done()


if __name__ == "__main__":
    main()
