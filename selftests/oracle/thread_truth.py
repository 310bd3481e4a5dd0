# SPDX-License-Identifier: GPL-2.0-only
"""The truth about threads, in the form in which outputs are compared with it, and how it is made of the witness's logs.

A Form has, per thread (a pair of pid and tid; None stands for all):
  stacks   {path: instructions}, own instructions of the last function of the path
  edges    {(caller, callee): calls}
  spans    [Span], the calls in order of their start; that of one that a child of fork has from its parent lies between since
           and start, the end of one that has not returned between early and end, which is inf where the log ended first
  intervals  [(start, end, hart)] when it was on a hart, in order (only of the witness)
and pauses, {hart: [(start, end)]} when a hart executed nothing, though others did, in order (only of the witness).
Forms without one of them have None there, or nothing. What else is compared (own and inclusive sums of functions and of
edges) follows from these.
"""
import collections
import math
import os
import subprocess
import tempfile

from thread_names import LIBRARY, OTHER, Names, kernel_functions, spaces, write_symbols

CALLED, TAIL, OPEN, INHERITED, BEGUN = 1, 2, 4, 8, 16
Span = collections.namedtuple("Span", "name parent start end called returned instructions since early", defaults=(None, None))


class Form:
    def __init__(self, name, stacks=True, edges=True, spans=True, threads=True):
        self.name, self.by_thread = name, threads
        self.stacks = collections.defaultdict(collections.Counter) if stacks else None
        self.edges = collections.defaultdict(collections.Counter) if edges else None
        self.spans = collections.defaultdict(list) if spans else None
        self.intervals = collections.defaultdict(list)
        self.pauses = collections.defaultdict(list)
        # Sums of functions and of edges that an output states itself; else they follow from the stacks.
        self.own = self.inclusive = self.edge_sums = None
        # Entries by calls and jumps alone, not by traps and signals.
        self.calls = collections.Counter()

    def merged(self):
        """The same for all threads together."""
        whole = Form(self.name, self.stacks is not None, self.edges is not None, False, False)
        for mine, its in ((self.stacks, whole.stacks), (self.edges, whole.edges)):
            for counts in (mine or {}).values():
                its[None].update(counts)
        whole.own, whole.inclusive, whole.edge_sums, whole.calls = self.own, self.inclusive, self.edge_sums, self.calls
        return whole

    def sums(self, thread):
        """Own and inclusive instructions of functions, and instructions below edges; recursion counts once."""
        own, inclusive, edges = collections.Counter(), collections.Counter(), collections.Counter()
        for path, count in self.stacks[thread].items():
            if not path or not count:
                continue
            own[path[-1]] += count
            for name in set(path):
                inclusive[name] += count
            for edge in set(zip(path, path[1:])):
                edges[edge] += count
        return own, inclusive, edges


def first_time(clock):
    """Nanoseconds of CLOCK_MONOTONIC at the begin of the section."""
    with open(clock) as file:
        times = [int(line.split()[1]) for line in file]
    return times[len(times) // 2 - 1]


class Truth:
    def __init__(self, program, logs, section, recording, clock, root, forget=0, perf="perf", privilege="u"):
        found, programs, self.files = spaces(recording, root, first_time(clock), perf)
        self.names = Names()
        self.names.add(sorted(self.files))
        kernel = kernel_functions(recording)
        if "s" in privilege:
            for all_names in kernel.values():
                self.names.add_names(all_names)
        with tempfile.NamedTemporaryFile("w") as symbols:
            write_symbols(found, kernel, self.names, symbols.name)
            out = subprocess.run([program, "--section", str(section), "--clock", clock, "--privilege", privilege, "--calls",
                                  *(["--forget", str(forget)] if forget else []), symbols.name, *logs],
                                 check=True, capture_output=True, text=True).stdout
        self.read(out.splitlines(), programs)

    def read(self, lines, programs):
        self.form = Form("witness")
        # The same for all threads of each program, without what libraries do: {name of its file: Form}.
        self.programs = collections.defaultdict(lambda: Form("witness", spans=False, threads=False))
        executed = {}
        # Executions of each function that began in the thread itself.
        self.begun = collections.Counter()
        self.clock = None
        threads, spans, ids, firsts, lasts = {}, collections.defaultdict(list), {}, {}, {}
        for line in lines:
            kind, *word = line.split("\t")
            if kind == "thread":
                number, pid, tid, begun, _, firsts[number], lasts[number], *space = map(int, word)
                # Threads of programs that were started in the section, or of their children.
                threads[number] = (pid, tid) if begun and pid else None
                executed[number] = self.programs[programs.get(tuple(space))]
            elif kind == "clock":
                self.clock = tuple(map(int, word))
            elif kind == "pause":
                hart, start, end = map(int, word)
                self.form.pauses[hart].append((start, end))
            elif threads[int(word[0])] is None:
                continue
            elif kind == "stack":
                thread, program = threads[int(word[0])], executed[int(word[0])]
                instructions, calls, begun = map(int, word[1:4])
                frames = word[4].split(";")
                path = self.names.path([name.removesuffix(LIBRARY) for name in frames])
                own = self.names.path([OTHER if name.endswith(LIBRARY) else name for name in frames])
                # The report counts calls, the other outputs show all executions.
                for form, key, path, count in ((self.form, thread, path, calls + begun), (program, None, own, calls)):
                    form.stacks[key][path] += instructions
                    if count and path[-1] != OTHER:
                        form.edges[key][path[-2] if len(path) > 1 else None, path[-1]] += count
                if own[-1] != OTHER:
                    program.calls[own[-1]] += calls
            elif kind == "call":
                number, call, parent, flags, start, end, first, last, name = word
                flags = int(flags)
                end = math.inf if end == "-" else int(end)
                name, outer = self.names.one(name.removesuffix(LIBRARY)), ids.get(parent)
                ids[call] = name
                if name == OTHER:
                    continue
                self.begun[name] += not flags & INHERITED
                spans[threads[int(number)]].append(
                    Span(name, outer, int(start), end, bool(flags & (CALLED | BEGUN)), not flags & OPEN, int(last) - int(first),
                         firsts[int(number)] if flags & INHERITED and first == "0" else None,
                         min(end, lasts[int(number)]) if flags & OPEN else None))
            elif kind == "interval":
                number, hart, start, end, _ = map(int, word)
                self.form.intervals[threads[number]].append((start, end, hart))
        for turns in (*self.form.pauses.values(), *self.form.intervals.values()):
            turns.sort()
        self.form.spans = spans
        self.form.stacks = collections.defaultdict(collections.Counter, {
            thread: stacks for thread, stacks in self.form.stacks.items() if any(path != (OTHER,) for path in stacks)})


def logs_of(prefix):
    return sorted((f"{prefix}.{i}" for i in range(16) if os.path.exists(f"{prefix}.{i}")))
