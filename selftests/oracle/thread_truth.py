# SPDX-License-Identifier: GPL-2.0-only
"""The truth about threads, in the form in which outputs are compared with it, and how it is made of the witness's logs.

A Form has, per thread (a pair of pid and tid; None stands for all):
  stacks   {path: instructions}, own instructions of the last function of the path
  edges    {(caller, callee): calls}
  spans    [Span], the calls in order of their start
Forms without one of them have None there. What else is compared (own and inclusive sums of functions and of
edges) follows from these.
"""
import collections
import os
import subprocess
import tempfile

from thread_names import OTHER, Names, kernel_functions, spaces, write_symbols

CALLED, TAIL, OPEN, INHERITED = 1, 2, 4, 8
Span = collections.namedtuple("Span", "name parent start end called returned instructions")


class Form:
    def __init__(self, name, stacks=True, edges=True, spans=True, threads=True):
        self.name, self.by_thread = name, threads
        self.stacks = collections.defaultdict(collections.Counter) if stacks else None
        self.edges = collections.defaultdict(collections.Counter) if edges else None
        self.spans = collections.defaultdict(list) if spans else None
        # Sums of functions and of edges that an output states itself; else they follow from the stacks.
        self.own = self.inclusive = self.edge_sums = self.calls = None

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
        # The same for all threads of each program: {name of its file: Form}.
        self.programs = collections.defaultdict(lambda: Form("witness", spans=False, threads=False))
        executed = {}
        self.intervals = collections.defaultdict(list)
        self.clock = None
        threads, spans, ids = {}, collections.defaultdict(list), {}
        for line in lines:
            kind, *word = line.split("\t")
            if kind == "thread":
                number, pid, tid, begun, _, *space = map(int, word)
                # Threads of programs that were started in the section, or of their children.
                threads[number] = (pid, tid) if begun and pid else None
                executed[number] = self.programs[programs.get(tuple(space))]
            elif kind == "clock":
                self.clock = tuple(map(int, word))
            elif threads[int(word[0])] is None:
                continue
            elif kind == "stack":
                thread = threads[int(word[0])]
                path = self.names.path(word[3].split(";"))
                for form, key in ((self.form, thread), (executed[int(word[0])], None)):
                    form.stacks[key][path] += int(word[1])
                    if int(word[2]) and path[-1] != OTHER:
                        form.edges[key][path[-2] if len(path) > 1 else None, path[-1]] += int(word[2])
            elif kind == "call":
                number, call, parent, flags, start, end, first, last, name = word
                flags = int(flags)
                name, outer = self.names.one(name), ids.get(parent)
                ids[call] = name
                if flags & INHERITED or name == OTHER:
                    continue
                spans[threads[int(number)]].append(
                    Span(name, outer, int(start), int(end), bool(flags & CALLED), not flags & OPEN, int(last) - int(first)))
            elif kind == "interval":
                number, hart, start, end, instructions = map(int, word)
                self.intervals[threads[number]].append((start, end, hart, instructions))
        self.form.spans = spans
        self.form.stacks = collections.defaultdict(collections.Counter, {
            thread: stacks for thread, stacks in self.form.stacks.items() if any(path != (OTHER,) for path in stacks)})


def logs_of(prefix):
    return sorted((f"{prefix}.{i}" for i in range(16) if os.path.exists(f"{prefix}.{i}")))
