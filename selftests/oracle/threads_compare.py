#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what ntrace tells of a recording's threads with what the witness saw, edge by edge.

usage: threads_compare.py [option...] RECORDING

  --ntrace FILE, --threads FILE   the programs (build/ntrace, build/oracle/threads)
  --log PREFIX, --section N       the witness's logs PREFIX.HART, and the section of the recording
  --clock FILE                    what the program mark wrote
  --root DIR                      the files of the guest
  --program NAME,...              their functions are compared in the report
  --functions N                   of how many functions the report is asked for callers (20)
  --outputs LIST                  of folded, pprof, perfetto, sqlite, report (all), and witness: the witness itself,
                                  for tests with --forget and --falsify
  --jobs LIST                     decode with -j of each (none: without -j); equal bytes are compared once
  --bound NANOSECONDS             how much a time may differ; "any": times are not compared
  --counts FILE                   lines "count FUNCTION NUMBER" that the program printed: the witness must agree
  --first N                       differences to print of each kind (5)
  --fibers FUNCTION               what runs above this function may have unknown callers, as fibers may be given up
  --forget N, --falsify KIND      self-test: falsify the witness or the output; the comparison must fail

Prints TAP, a result for each output and kind of number: own and inclusive instructions of functions, instructions
below and calls of edges (caller and callee), whole stacks, executions by caller, their order, their times. Threads are
told apart where the output does so. Exit status: 0 = all agree.
"""
import argparse
import collections
import copy
import hashlib
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import thread_compare as compare  # noqa: E402
import thread_outputs as outputs  # noqa: E402
from tap import done, ok  # noqa: E402
from thread_names import OTHER, functions_of  # noqa: E402
from thread_truth import Form, Truth, logs_of  # noqa: E402

def diag(text):
    print("#", text, flush=True)


EXPORTS = ("folded", "pprof", "perfetto", "sqlite")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("recording")
    parser.add_argument("--ntrace", default="build/ntrace")
    parser.add_argument("--threads", default="build/oracle/threads")
    parser.add_argument("--log", required=True)
    parser.add_argument("--section", type=int, default=0)
    parser.add_argument("--clock", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--outputs", default=",".join((*EXPORTS, "report")))
    parser.add_argument("--jobs", default="")
    parser.add_argument("--bound", default="20000")
    parser.add_argument("--counts")
    parser.add_argument("--first", type=int, default=5)
    parser.add_argument("--functions", type=int, default=20)
    parser.add_argument("--fibers")
    parser.add_argument("--forget", type=int, default=0)
    parser.add_argument("--falsify", default="")
    parser.add_argument("--perf", default="perf")
    return parser.parse_args()


def keep_threads(form, threads):
    """Only threads that the witness saw begin: others have callers from before."""
    for kept in (form.stacks, form.edges, form.spans):
        for thread in [thread for thread in kept or {} if thread not in threads]:
            del kept[thread]


def falsify(form, kind):
    """Changes one number of an output."""
    thread = max(form.stacks or form.spans, key=lambda key: len((form.stacks or form.spans)[key]))
    if kind == "count" and form.stacks is not None:
        path = max(form.stacks[thread], key=lambda item: (len(item), item))
        form.stacks[thread][path] += 1
    elif kind == "caller" and form.stacks is not None:
        path = max(form.stacks[thread], key=lambda item: (len(item), item))
        form.stacks[thread][path[:-2] + path[-1:]] += form.stacks[thread].pop(path)
    elif form.spans is not None:
        spans = form.spans[thread]
        at = len(spans) // 2
        if kind == "time":
            spans[at] = spans[at]._replace(start=spans[at].start + 10 ** 8)
        elif kind == "caller":
            spans[at] = spans[at]._replace(parent=spans[at].name + "!")
        else:
            del spans[at]


class Comparison:
    def __init__(self, options):
        self.options = options
        self.digests, self.checked = {}, {}
        self.below, self.in_fibers = 0, set()
        self.truth = Truth(options.threads, logs_of(options.log), options.section, options.recording, options.clock,
                           options.root, options.forget, options.perf)
        self.names = self.truth.names
        self.want = self.truth.form
        self.threads = set(self.want.stacks)
        keep_threads(self.want, self.threads)

    def result(self, name, what, differences):
        text = f"{name}: {what}"
        ok(not differences, text if not differences else f"{text}: {len(differences)} differ",
           *differences[:self.options.first])

    def results(self, name, found):
        for what, differences in found.items():
            if what != "worst":
                self.result(name, what, differences)

    def check_counts(self):
        """The program counts its functions itself; it has not done so before its main() and in the caller of that."""
        said = collections.Counter()
        with open(self.options.counts) as file:
            for line in file:
                if line.startswith("count "):
                    said[self.names.one(line.split()[1])] += int(line.split()[2])
        seen = self.truth.begun
        self.result("witness", "executions of each function, as the program counted them",
                    compare.counters("executions", said, collections.Counter({name: seen[name] for name in said}), str, None))

    def export(self, kind, jobs, directory):
        path = os.path.join(directory, kind)
        more = ["--threads"] if kind in ("folded", "pprof") else []
        more += ["--no-inline"] if more else []
        more += ["-j", jobs] if jobs else []
        subprocess.run([self.options.ntrace, "export", "-f", kind, "--user", "--sysroot", self.options.root, "-o",
                        path, *more, self.options.recording], check=True, capture_output=True)
        return path

    def check(self, kind, jobs, directory):
        name = f"{kind} -j {jobs}" if jobs else kind
        if kind == "report":
            self.check_report(name, jobs)
            return
        if kind == "witness":
            options = self.options
            got = Truth(options.threads, logs_of(options.log), options.section, options.recording, options.clock,
                        options.root, 0, options.perf).form
        else:
            path = self.export(kind, jobs, directory)
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).digest()
            # What equals the output of the first number of jobs differs in the same way.
            if self.digests.setdefault(kind, digest) == digest and kind in self.checked:
                ok(True, f"{name}: the same bytes as with -j {self.checked[kind]}")
                return
            self.checked[kind] = jobs
            got = getattr(outputs, kind)(path, self.names)
        keep_threads(got, self.threads)
        if self.options.falsify:
            falsify(got, self.options.falsify)
        bound = None if self.options.bound == "any" else int(self.options.bound)
        want = copy.copy(self.want)
        want.spans = want.spans and collections.defaultdict(list, want.spans)
        share = compare.unknown_share(got) if got.stacks is not None else None
        if self.options.fibers:
            below, names = compare.resolve_unknown(want, got, self.options.fibers)
            self.below, self.in_fibers = max(self.below, below), self.in_fibers | names
        compare.join_roots(want, got)
        if got.stacks is not None:
            below, total = share
            self.results(name, compare.compare_stacks(want, got))
            diag(f"{name}: {len(self.want.stacks)} threads, {total} instructions, {below} of them below unknown callers")
        if got.edges is not None:
            self.results(name, compare.compare_edges(want, got))
        if got.spans is not None:
            found = compare.compare_spans(want, got, bound)
            self.results(name, found)
            diag(f"{name}: the largest difference of a time that was compared is {found['worst']} ns, of a bound of {bound}")

    def check_report(self, name, jobs):
        command = [self.options.ntrace, "report", "--user", "--sysroot", self.options.root]
        if jobs:
            command += ["-j", jobs]
        programs = self.options.program.split(",")
        own = {self.names.one(all_names[0]) for path in self.truth.files if os.path.basename(path) in programs
               for _, all_names in functions_of(path)[0]} - {OTHER}
        merged = Form("witness", spans=False, threads=False)
        for program in programs:
            merged.stacks[None].update(self.truth.programs[program].stacks[None])
            merged.edges[None].update(self.truth.programs[program].edges[None])
            merged.calls.update(self.truth.programs[program].calls)
        # Each function costs a run: those that are called most often.
        calls = collections.Counter({name: count for name, count in merged.calls.items() if name in own})
        asked = [callee for callee, _ in calls.most_common(self.options.functions)]
        got = outputs.report(command, self.options.recording, set(programs), asked, self.names)
        if self.below:
            compare.resolve_report(merged, got, self.below, self.in_fibers)
        self.results(name, compare.compare_report(merged, got, own))


def main():
    options = parse()
    comparison = Comparison(options)
    diag(f"witness: {len(comparison.threads)} threads, clock: {comparison.truth.clock}")
    if options.counts:
        comparison.check_counts()
    with tempfile.TemporaryDirectory() as directory:
        for kind in options.outputs.split(","):
            jobs = options.jobs.split(",") if options.jobs else [""]
            # Each function costs a run; tools/counts.sh compares reports of several numbers of jobs.
            if kind == "report":
                jobs = jobs[-1:]
            for number in jobs:
                comparison.check(kind, number, directory)
    done()


main()
