#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests what threads_truth.sh judges with, without a guest: selftests/oracle/threads on logs of random threads whose stacks
are known by construction, the readers of exports, and the comparison, which must find planted differences.

SEED selects the threads, COUNT their number of runs.
"""
import collections
import copy
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "selftests", "oracle")]
import thread_compare as compare  # noqa: E402
import thread_outputs as outputs  # noqa: E402
import thread_writers as writers  # noqa: E402
from tap import done, ok  # noqa: E402
from thread_names import Names  # noqa: E402
from thread_truth import Form, Span, Truth  # noqa: E402
from thread_writers import number  # noqa: E402

(JUMP, PRIV, TRAP, BEGIN, END, TASK, IDENTITY, CALL, RETURN, TRAP_RETURN, HANDLER, INDIRECT, TURN, CLOCK, SYSCALL) = (
    0x80, 0x88, 0x90, 0x91, 0x92, 0x95, 0x96, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f)
ECALL, TIMER = 8 << 1, 5 << 1 | 1
EXECVE, CLONE, OTHER_CALL, SIGRETURN = 221, 220, 64, 139
KERNEL = 0xffffffff80000000
VECTOR, SWITCH, FORKED = KERNEL + 0x1000, KERNEL + 0x2000, KERNEL + 0x3000
SIZE = 0x100
FUNCTIONS = ["_start", "main", "a", "b", "c", "d", "e", "handler", "trampoline", "swap", "fiber"]
START = {name: 0x10000 + SIZE * i for i, name in enumerate(FUNCTIONS)}
PROGRAMS = {1: START, 2: {name + "2": address for name, address in START.items()}}
BOOT = 7_000_000	# virtual nanoseconds when the section begins


def signed(value):
    """A difference of addresses modulo 2^64, as zigzag."""
    value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    return number(value << 1 if value >= 0 else (-value << 1) - 1)


class Log:
    """The log of a hart (log.h)."""

    def __init__(self, task):
        self.data = bytearray(b"oracle1\n" + bytes([BEGIN]) + number(0) + number(1) + bytes([TASK]) + number(task))
        self.expect = self.stack = self.task = 0
        self.priv = None

    def token(self, token, *values):
        self.data.append(token)
        for value in values:
            self.data += number(value)

    def insn(self, priv, address):
        if priv != self.priv:
            self.data.append(PRIV + priv)
            self.priv = priv
        self.data += bytes([JUMP + 1]) + signed((address - self.expect) // 2)
        self.expect = address + 4

    def arrive(self, token, priv, address, stack, task):
        if priv != self.priv:
            self.data.append(PRIV + priv)
            self.priv = priv
        self.data += bytes([token]) + signed(address - self.expect) + signed(stack - self.stack) + signed(task - self.task)
        self.stack, self.task = stack, task


class Machine:
    """Harts that take turns. An instruction takes a nanosecond."""

    def __init__(self, rng, directory, harts=3):
        self.rng, self.total, self.running, self.waited = rng, 0, None, 0
        self.directory = directory
        self.idle = [Thread(self, 0, 0, 0xff60000000001000 + 0x1000 * i) for i in range(harts)]
        self.logs = [Log(thread.task) for thread in self.idle]
        self.current = list(self.idle)
        self.threads, self.spaces = [], {}

    def log(self, hart):
        if hart != self.running:
            self.logs[hart].token(TURN, self.total, 0)
            self.running = hart
        return self.logs[hart]

    def insn(self, hart, priv, address):
        self.log(hart).insn(priv, address)
        self.total += 1

    def time(self):
        return BOOT + self.waited + self.total

    def clock(self, hart):
        self.insn(hart, 1, VECTOR + 40)
        # The instruction that reads the CSR is the last one in the log.
        self.log(hart).token(CLOCK, self.time() // 100, 0)

    def wait(self, hart):
        """All harts wait for an interrupt: the clock goes on by itself."""
        thread = self.current[hart]
        self.waited += self.rng.randint(1000, 100000)
        self.log(hart).token(TRAP, TIMER, SWITCH + 8)
        self.log(hart).arrive(HANDLER, 1, VECTOR, thread.task + 64, thread.task)
        self.clock(hart)
        self.log(hart).arrive(TRAP_RETURN, 1, SWITCH + 8, thread.task + 64, thread.task)
        self.insn(hart, 1, SWITCH + 8)

    def switch(self, hart, thread, place=SWITCH + 4):
        old = self.current[hart]
        self.insn(hart, 1, SWITCH)
        self.log(hart).arrive(RETURN, 1, place, thread.task + 128, thread.task)
        self.log(hart).token(IDENTITY, thread.tid, thread.pid, thread.parent)
        self.insn(hart, 1, place)
        old.hart, thread.hart = None, hart
        self.current[hart] = thread

    def write(self):
        for log in self.logs:
            log.token(END, 0, 0)
        for i, log in enumerate(self.logs):
            with open(os.path.join(self.directory, f"log.{i}"), "wb") as file:
                file.write(log.data)
        with open(os.path.join(self.directory, "symbols"), "w") as file:
            print(f"kernel\n{VECTOR:x}\tvector\n{SWITCH:x}\t__switch_to\n{FORKED:x}\tret_from_fork\n{FORKED + SIZE:x}\tend",
                  file=file)
            for (pid, count), program in self.spaces.items():
                print(f"space {pid} {count}", file=file)
                for name, address in program.items():
                    print(f"{address:x}\t{name}", file=file)
                print(f"{START['fiber'] + SIZE:x}\t*", file=file)
        # CLOCK_MONOTONIC is five milliseconds behind.
        with open(os.path.join(self.directory, "clock"), "w") as file:
            for i in range(1000, 1010):
                print(i, i * 100 - 5_000_000, i, file=file)


Frame = collections.namedtuple("Frame", "name entry resume kind")


class Thread:
    """A thread, with its stack as names: the truth, which it adds up itself."""

    def __init__(self, machine, pid, tid, task, parent=0):
        self.machine, self.pid, self.tid, self.task, self.parent = machine, pid, tid, task, parent
        self.hart = None
        self.frames, self.pc, self.stack, self.low = [], 0, 0, False
        self.stacks, self.edges, self.starts = collections.Counter(), collections.Counter(), []
        self.others, self.base = [], 0x7fff00000000 + 0x1000000 * tid
        self.program, self.kind = None, "plain"

    # ---- what is executed ----

    def path(self):
        return tuple(frame.name for frame in self.frames)

    def at(self, name):
        return self.program[name + self.suffix()]

    def suffix(self):
        return "2" if self.program is PROGRAMS[2] else ""

    def insn(self):
        """An instruction of the current function. After its first one, the function has its own frame."""
        start = self.program[self.frames[-1].name]
        if self.pc >= start + SIZE - 8:
            self.pc = start + 8
        self.machine.insn(self.hart, 0, self.pc)
        self.stacks[self.path()] += 1
        self.pc += 4
        self.stack = self.frames[-1].entry - 32

    def work(self, count):
        for _ in range(count):
            self.insn()

    def arrive(self, token, address, stack, priv=0):
        self.machine.log(self.hart).arrive(token, priv, address, stack, self.task)
        self.pc, self.stack = address, stack

    def enter(self, name, resume, called, kind="plain"):
        self.starts.append((name, self.frames[-1].name if self.frames else None, self.machine.time() - 5_000_000))
        if called:
            self.edges[self.frames[-1].name if self.frames else None, name] += 1
        self.frames.append(Frame(name, self.stack, resume, kind))

    def go_on(self):
        """The calls of frames that have begun elsewhere, or before the thread left their stack."""
        outer = None
        for frame in self.frames:
            self.starts.append((frame.name, outer, self.machine.time() - 5_000_000))
            outer = frame.name

    def call(self, name):
        name += self.suffix()
        self.insn()
        self.arrive(CALL, self.program[name], self.stack)
        self.enter(name, self.pc, True)
        self.frames[-1] = self.frames[-1]._replace(resume=None)
        self.pc = self.program[name]

    def do_call(self, name):
        resume = self.pc + 4
        start = self.program[self.frames[-1].name]
        if self.pc >= start + SIZE - 8:
            resume = start + 12
        self.call(name)
        self.frames[-1] = self.frames[-1]._replace(resume=resume)
        self.insn()

    def tail(self, name, indirect):
        old = self.frames[-1]
        name += self.suffix()
        if name == old.name or old.kind != "plain" or len(self.frames) < 2:
            return
        self.insn()
        if indirect:
            self.arrive(INDIRECT, self.program[name], old.entry)
        self.frames.pop()
        self.stack, self.pc = old.entry, self.program[name]
        self.enter(name, old.resume, True)
        self.frames[-1] = self.frames[-1]._replace(resume=old.resume)
        self.insn()

    def leave(self):
        old = self.frames[-1]
        if len(self.frames) < 2 or old.kind != "plain":
            return
        self.insn()
        self.frames.pop()
        self.arrive(RETURN, old.resume, old.entry)
        self.insn()

    def jump(self, count):
        """longjmp out of so many calls: a return to the call of the innermost of them."""
        if len(self.frames) <= count or any(frame.kind != "plain" for frame in self.frames[-count:]):
            return
        self.insn()
        old = self.frames[-count]
        del self.frames[-count:]
        self.arrive(RETURN, old.resume, old.entry)
        self.insn()

    # ---- traps ----

    def trap(self, cause, call=OTHER_CALL):
        log = self.machine.log(self.hart)
        if cause == ECALL:
            log.token(SYSCALL, call, 0)
        log.token(TRAP, cause, self.pc)
        log.arrive(HANDLER, 1, VECTOR, self.stack, 0)
        for i in range(self.machine.rng.randint(1, 4)):
            self.machine.insn(self.hart, 1, VECTOR + 4 * i)
        if self.machine.rng.random() < 0.3:
            self.machine.clock(self.hart)
        if cause == ECALL:
            self.pc += 4

    def resume(self):
        self.arrive(TRAP_RETURN, self.pc, self.stack)

    def move(self, hart):
        """To an idle hart."""
        self.trap(ECALL)
        self.machine.switch(self.hart, self.machine.idle[self.hart])
        self.machine.switch(hart, self)
        self.resume()
        self.insn()

    def sleep(self):
        self.trap(self.machine.rng.choice((ECALL, TIMER)))
        self.machine.switch(self.hart, self.machine.idle[self.hart])

    def wake(self, hart):
        self.machine.switch(hart, self)
        self.resume()
        self.insn()

    def begin(self, hart):
        self.machine.switch(hart, self, FORKED)
        self.resume()

    def exec(self, count, program):
        self.trap(ECALL, EXECVE)
        self.program = program
        self.machine.spaces[self.pid, count] = program
        self.frames, self.others, self.base = [], [], self.base + 0x100000
        self.stack = self.base
        self.arrive(TRAP_RETURN, self.at("_start"), self.base)
        self.enter("_start" + self.suffix(), None, True)
        self.work(2)
        self.do_call("main")

    def fork(self, hart, pid, task):
        self.trap(ECALL, CLONE)
        child = copy.copy(self)
        child.frames, child.others = list(self.frames), []
        child.pid = child.tid = pid
        child.task, child.parent, child.hart = task, self.task, None
        child.stacks, child.edges, child.starts = collections.Counter(), collections.Counter(), []
        self.machine.threads.append(child)
        child.begin(hart)
        child.go_on()
        child.insn()
        self.resume()
        self.insn()
        return child

    def signal(self):
        """A handler with one call, which returns to the trampoline and from there to what was interrupted."""
        pc, stack, before = self.pc, self.stack, len(self.frames)
        self.trap(TIMER)
        self.stack -= 512
        self.arrive(TRAP_RETURN, self.at("handler"), self.stack)
        self.enter("handler" + self.suffix(), None, True, "signal")
        self.work(2)
        self.do_call("e")
        self.leave()
        old = self.frames.pop()
        self.machine.insn(self.hart, 0, self.pc)
        self.stacks[self.path() + (old.name,)] += 1
        self.arrive(RETURN, self.at("trampoline"), old.entry)
        self.enter("trampoline" + self.suffix(), None, False, "signal")
        self.insn()
        self.stack = old.entry
        self.trap(ECALL, SIGRETURN)
        del self.frames[before:]
        self.pc, self.stack = pc, stack
        self.resume()
        self.insn()

    def fiber(self):
        """swap() changes to another stack: a new one with fiber() as its root, or one that was left."""
        if any(frame.kind != "plain" for frame in self.frames):
            return
        if not self.others or len(self.others) < 3 and self.machine.rng.random() < 0.4:
            self.others.append(None)
        self.do_call("swap")
        self.stack = self.frames[-1].entry
        mine = (self.frames, self.frames[-1])
        at = self.machine.rng.randrange(len(self.others))
        other, self.others[at] = self.others[at], mine
        self.machine.insn(self.hart, 0, self.pc)
        self.stacks[self.path()] += 1
        if other is None:
            self.frames = []
            self.arrive(INDIRECT, self.at("fiber"), self.base - 0x40000 * (1 + self.count_fibers()))
            self.enter("fiber" + self.suffix(), None, True)
            self.work(2)
            return
        self.frames, old = other
        self.frames.pop()
        self.arrive(self.machine.rng.choice((INDIRECT, RETURN)), old.resume, old.entry)
        self.go_on()
        self.insn()

    fibers = 0

    def count_fibers(self):
        self.fibers += 1
        return self.fibers


def start(seed, directory):
    """A machine on whose hart 0 the first thread works."""
    machine = Machine(random.Random(seed), directory)
    first = Thread(machine, 100, 100, 0xff60000000100000)
    machine.threads.append(first)
    first.program, first.stack = PROGRAMS[1], first.base
    first.pc = START["main"]
    for hart in range(3):
        machine.clock(hart)
    first.begin(0)
    first.frames, first.hart = [], 0
    first.enter("main", None, False)
    machine.spaces[100, 0] = PROGRAMS[1]
    first.starts.clear()
    first.exec(1, PROGRAMS[1])
    first.work(1)
    return machine, first


def run(seed, directory):
    machine, first = start(seed, directory)
    rng = machine.rng
    execs, pid = collections.Counter({100: 1}), 101
    for _ in range(rng.randint(100, 300)):
        awake = [thread for thread in machine.threads if thread.hart is not None]
        asleep = [thread for thread in machine.threads if thread.hart is None]
        free = [i for i, thread in enumerate(machine.current) if thread.tid == 0]
        if free and asleep and (not awake or rng.random() < 0.3):
            rng.choice(asleep).wake(rng.choice(free))
            continue
        if len(free) == 3 and rng.random() < 0.5:
            machine.wait(rng.choice(free))
            continue
        if not awake:
            continue
        thread, what = rng.choice(awake), rng.random()
        if what < 0.35 and len(thread.frames) < 12:
            thread.do_call(rng.choice("abcde"))
        elif what < 0.5:
            thread.leave()
        elif what < 0.57:
            thread.tail(rng.choice("abcde"), rng.random() < 0.5)
        elif what < 0.6:
            thread.jump(rng.randint(1, 4))
        elif what < 0.72 and free:
            thread.move(rng.choice(free))
        elif what < 0.78:
            thread.sleep()
        elif what < 0.83:
            thread.signal()
        elif what < 0.88:
            thread.fiber()
        elif what < 0.91 and free and len(machine.threads) < 6:
            thread.fork(rng.choice(free), pid, 0xff60000000200000 + 0x1000 * pid)
            pid += 1
        elif what < 0.93 and thread is not first:
            execs[thread.pid] += 1
            thread.exec(execs[thread.pid], PROGRAMS[rng.choice((1, 2))])
        else:
            thread.work(rng.randint(1, 60))
    machine.write()
    return machine


def names_of_all():
    names = Names()
    for program in PROGRAMS.values():
        for name in program:
            names.add_names([name])
    return names


def truth_of(directory, names, *options):
    truth = Truth.__new__(Truth)
    truth.names = names
    logs = [os.path.join(directory, f"log.{i}") for i in range(3)]
    out = subprocess.run([os.path.join(TOP, "build", "oracle", "threads"), "--calls", *options, "--clock",
                          os.path.join(directory, "clock"), os.path.join(directory, "symbols"), *logs],
                         check=True, capture_output=True, text=True).stdout
    truth.read(out.splitlines(), {})
    return truth


def known_form(machine, names):
    form = Form("known")
    for thread in machine.threads:
        key = thread.pid, thread.tid
        form.stacks[key] = collections.Counter({path: count for path, count in thread.stacks.items() if count})
        form.edges[key] = thread.edges
        form.spans[key] = [Span(name, parent, time, time, True, True, 0) for name, parent, time in thread.starts]
    return form


def differences(found):
    return [line for kind, lines in found.items() if kind != "worst" for line in lines]


def check_witness(names):
    """threads says what the threads did, for each seed."""
    wrong, worst, calls, noticed = [], 0, 0, 0
    seed, count = int(os.environ.get("SEED", 1)), int(os.environ.get("COUNT", 100))
    for number_of_run in range(count):
        with tempfile.TemporaryDirectory() as directory:
            machine = run(seed + number_of_run, directory)
            truth, known = truth_of(directory, names), known_form(machine, names)
            forgotten = truth_of(directory, names, "--forget", "10").form
            noticed += bool(differences(compare.compare_stacks(known, forgotten)))
        first = machine.threads[0]
        got = truth.form
        lines = differences(compare.compare_stacks(known, got)) + differences(compare.compare_edges(known, got))
        for thread in machine.threads:
            spans = [span for span in got.spans[thread.pid, thread.tid]]
            if thread is first:
                spans = spans[-len(thread.starts):] if thread.starts else []
            if [(span.name, span.parent) for span in spans] != [start[:2] for start in thread.starts]:
                lines.append(f"{thread.tid}: order of calls")
            else:
                worst = max([worst] + [abs(span.start - start[2]) for span, start in zip(spans, thread.starts)])
            calls += len(spans)
        if lines:
            wrong.append((seed + number_of_run, lines[:3]))
    ok(not wrong, f"threads: {count} runs of random threads, {calls} calls", *wrong[:5])
    # Not each: after a function without its own frame, the next return compensates.
    ok(noticed > count / 2, f"threads: a return that is forgotten is found: {noticed} times")
    ok(worst <= 150, f"threads: times differ by {worst} ns at most")


def check_pauses(names):
    """The time that a hart stands still after a switch does not count for the thread that has left it, unlike what the hart
    executes; that of another hart counts."""
    for later in (1, 10000):
        with tempfile.TemporaryDirectory() as directory:
            machine, first = start(1, directory)
            first.sleep()
            for _ in range(later):
                machine.insn(0, 1, SWITCH + 8)
            for _ in range(20000):
                machine.insn(1, 1, SWITCH + 8)
            machine.insn(0, 1, SWITCH + 8)
            machine.clock(0)
            machine.write()
            form = truth_of(directory, names).form
        thread = first.pid, first.tid
        left = form.intervals[thread][-1][1]
        begin, end = next(pause for pause in form.pauses[0] if pause[0] >= left)
        far = begin - left
        found = [compare.distance(form, thread, left, left, told) for told in (begin, begin + 19000, end, end + 100)]
        ok(later <= far <= later + 2 and end - begin >= 20000 and found == [far, far, far, far + 100],
           f"threads: a time in a pause {later} instructions after a switch", (left, begin, end), found)
        form.pauses[1] = form.pauses.pop(0)
        found = compare.distance(form, thread, left, left, begin + 19000)
        ok(found == far + 19000, "threads: a pause of another hart counts", found)


def check_cut(names):
    """The end of a call is unknown if the log ended while its thread was on a hart, and only then."""
    for sleeps in (False, True):
        with tempfile.TemporaryDirectory() as directory:
            machine, first = start(1, directory)
            if sleeps:
                first.sleep()
            machine.clock(0)
            machine.write()
            form = truth_of(directory, names).form
        thread = first.pid, first.tid
        span = form.spans[thread][0]
        ok((span.end == math.inf) != sleeps and compare.distance(form, thread, span.early, span.end, span.early + 30000) ==
           (30000 - (span.end - span.early) if sleeps else 0),
           f"threads: the end of a call when the log ends {'after' if sleeps else 'before'} a switch", span)


# ---- outputs, written by hand ----

def simple_form():
    """Two threads with recursion: a form whose parts belong together."""
    form = Form("simple")
    for thread in ((7, 7), (7, 8)):
        def span(name, parent, start, end, thread=thread):
            form.spans[thread].append(Span(name, parent, start, end, parent is not None, True, end - start))
            if parent:
                form.edges[thread][parent, name] += 1
                form.calls[name] += 1
        span("main", None, 1000, 9000)
        for i in range(20):
            span("a", "main", 1100 + 300 * i, 1300 + 300 * i)
            span("a", "a", 1110 + 300 * i, 1200 + 300 * i)
            span("b", "a", 1120 + 300 * i, 1150 + 300 * i)
        form.stacks[thread].update({("main",): 4000, ("main", "a"): 2200, ("main", "a", "a"): 1200, ("main", "a", "a", "b"): 600})
    return form


def check_outputs(names):
    want = simple_form()
    thread = (7, 8)
    with tempfile.TemporaryDirectory() as directory:
        for kind in ("folded", "pprof"):
            path = os.path.join(directory, kind)
            getattr(writers, f"write_{kind}")(want, path)
            got = getattr(outputs, kind)(path, names)
            ok(not differences(compare.compare_stacks(want, got)), f"{kind}: what was written is read",
               *differences(compare.compare_stacks(want, got))[:5])
            for text, change in (("an instruction too many", {("main", "a", "a", "b"): 1}),
                                 ("another caller", {("main", "a", "a", "b"): -600, ("main", "a", "b"): 600}),
                                 ("another level of a recursion", {("main", "a", "a"): -10, ("main", "a"): 10}),
                                 ("a stack that was not executed", {("main", "b"): 1})):
                wrong = copy.deepcopy(want)
                wrong.stacks[thread].update(change)
                getattr(writers, f"write_{kind}")(wrong, path)
                found = compare.compare_stacks(want, getattr(outputs, kind)(path, names))
                ok(found["stacks"] and all("7/8" in line for line in differences(found)), f"{kind}: {text} is found", found)
        for kind in ("perfetto", "sqlite"):
            path = os.path.join(directory, kind)
            getattr(writers, f"write_{kind}")(want, path)
            got = getattr(outputs, kind)(path, names)
            same = differences(compare.compare_spans(want, got, 0))
            ok(not same, f"{kind}: what was written is read", *same[:5])
            if got.edges is not None:
                ok(not differences(compare.compare_edges(want, got)), f"{kind}: its calls, too")
            for text, kinds, change in (
                    ("a call that is missing", ("executions", "order"), lambda spans: spans.pop(30)),
                    ("a later end", ("times",), lambda spans: spans.__setitem__(6, spans[6]._replace(end=spans[6].end + 21))),
                    ("a call twice", ("executions", "order"), lambda spans: spans.insert(30, spans[30]))):
                wrong = copy.deepcopy(want)
                change(wrong.spans[thread])
                os.remove(path)
                getattr(writers, f"write_{kind}")(wrong, path)
                found = compare.compare_spans(want, getattr(outputs, kind)(path, names), 20)
                ok(all(found[what] for what in kinds), f"{kind}: {text} is found", found)
            late = copy.deepcopy(want)
            late.spans[thread] = [span._replace(start=span.start + 20, end=span.end + 20) for span in late.spans[thread]]
            os.remove(path)
            getattr(writers, f"write_{kind}")(late, path)
            found = compare.compare_spans(want, getattr(outputs, kind)(path, names), 20)
            ok(not differences(found) and found["worst"] == 20, f"{kind}: times within the bound", found)


def fiber_form(callers=("root", "fiber", "a")):
    """A thread whose fiber goes on in b, below these callers."""
    form, thread = Form("fibers"), (7, 7)
    form.stacks[thread].update({("main",): 100, ("main", "b"): 50, ("root", "fiber"): 10, ("root", "fiber", "a"): 20,
                                (*callers, "b"): 30, (*callers, "b", "c"): 5})
    form.edges[thread].update({("main", "b"): 1, (callers[-1], "b"): 2, ("b", "c"): 1})
    goes_on = [(name, ((None,) + callers)[i]) for i, name in enumerate(callers)] + [("b", callers[-1])]
    form.spans[thread] = [Span("main", None, 0, 900, False, True, 150), Span("b", "main", 100, 200, True, True, 50)]
    form.spans[thread] += [Span(name, parent, 300, 400, False, True, 60) for name, parent in goes_on if name != "[unknown]"]
    form.spans[thread].append(Span("c", "b", 310, 320, True, True, 5))
    return form


def check_fibers():
    """Only callers of what runs in a fiber may be unknown, and nothing else may be wrong."""
    def found(got):
        want = fiber_form()
        compare.resolve_unknown(want, got, "fiber")
        return differences({**compare.compare_stacks(want, got), **compare.compare_edges(want, got),
                            **compare.compare_spans(want, got, 0)})
    thread, unknown = (7, 7), ("[unknown]",)
    for callers in (("root", "fiber", "a"), unknown, unknown + ("a",), unknown + ("fiber", "a")):
        lines = found(fiber_form(callers))
        ok(not lines, f"fibers: callers {';'.join(callers)}", *lines[:5])
    ok(found(fiber_form(("root", "fiber"))), "fibers: a caller that is left out is found")
    ok(found(fiber_form(unknown + ("fiber",))), "fibers: also below unknown ones")
    for text, change in (("an unknown caller of what is no fiber", {("main", "b"): -50, unknown + ("b",): 50}),
                         ("an instruction too many", {unknown + ("b",): 1}),
                         ("a stack that was not executed", {unknown + ("d",): 1})):
        got = fiber_form(unknown)
        got.stacks[thread].update(change)
        ok(found(got), f"fibers: {text} is found")
    got = fiber_form(unknown)
    got.edges[thread]["[unknown]", "b"] += 2
    ok(found(got), "fibers: a call too many is found")
    got = fiber_form(unknown)
    del got.spans[thread][-1]
    ok(found(got), "fibers: an execution that is missing is found")

    def report(got):
        want = fiber_form().merged()
        compare.resolve_report(want, got, 35, {"a", "b", "c", "fiber"})
        return differences(compare.compare_report(want, got, {"main", "a", "b", "c", "fiber"}))

    def told(total, caller, calls):
        got = fiber_form().merged()
        got.own, got.inclusive, _ = got.sums(None)
        got.edge_sums = compare.first_edges(got.stacks[None])
        got.inclusive["fiber"] = total
        got.edge_sums["[unknown]", "b"], got.edge_sums["a", "b"] = 35, caller
        got.edges[None]["[unknown]", "b"], got.edges[None]["a", "b"] = 2 - calls, calls
        return got
    ok(not report(told(30, 0, 0)), "fibers: a report without what is below unknown callers", *report(told(30, 0, 0)))
    for text, got in (("less than that", told(29, 0, 0)), ("more than was executed", told(66, 0, 0)),
                      ("too much by a caller", told(30, 36, 0)), ("a call too many", told(30, 0, 3))):
        ok(report(got), f"fibers: a report of {text} is found")


REPORT = r"""#!/bin/sh
case " $* " in
*" --json "*) cat <<'END'
{"functions": [{"function": "main", "object": "root/prog", "instructions": 8000, "total": 16000, "calls": 0},
{"function": "a", "object": "root/prog", "instructions": 6800, "total": 8000, "calls": 80},
{"function": "b", "object": "root/prog", "instructions": 1200, "total": 1200, "calls": 40},
{"function": "b", "object": "other", "instructions": 5, "total": 5, "calls": 5}]}
END
;;
*" a "*) cat <<'END'
a (prog): 80 calls, 6,800 instructions of its own, 8,000 with what it calls
   share      instructions          calls  caller
 50.00 %             8,000             40  main (prog)
 50.00 %                 0             40  a (prog)
END
;;
*) cat <<'END'
b (other): 5 calls, 5 instructions of its own, 5 with what it calls
 50.00 %                 5              5  main (other)
b (prog): 40 calls, 1,200 instructions of its own, 1,200 with what it calls
 50.00 %             1,200             40  a (prog)
END
;;
esac
"""


def check_report(names):
    want = simple_form().merged()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report")

        def found(text):
            with open(path, "w") as file:
                file.write(text)
            os.chmod(path, 0o755)
            return compare.compare_report(want, outputs.report([path], "rec", {"prog"}, ["a", "b"], names), {"main", "a", "b"})
        ok(not differences(found(REPORT)), "report: what was written is read", found(REPORT))
        for kind, old, new in (("own instructions", '"instructions": 1200', '"instructions": 1201'),
                               ("inclusive instructions", '"total": 8000', '"total": 8001'),
                               ("calls", '"calls": 80', '"calls": 79'),
                               ("calls of callers", "40  main (prog)", "39  main (prog)"),
                               ("calls of callers", "40  a (prog)\nEND\n;;\n*)", "40  main (prog)\nEND\n;;\n*)"),
                               ("instructions of callers", " 1,200             40", " 1,199             40")):
            wrong = found(REPORT.replace(old, new, 1))
            ok(wrong[kind], f"report: {kind}: {new.splitlines()[0]} is found", wrong)


def main():
    names = names_of_all()
    check_witness(names)
    check_pauses(names)
    check_cut(names)
    check_outputs(names)
    check_report(names)
    check_fibers()
    done()


if __name__ == "__main__":
    main()
