#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntrace browse on a terminal: what it shows after keys, compared with a model of the run.

browse_keys.py NTRACE DIR SEED WORDS: WORDS is Documentation/tour/words.data. DIR has demo, demo.nex, pcs, gap.nex, timed.nex, harts.nex, lost.nex, and expected, expected.gap, expected.lost (from
ntrace decode --level instruction --disassemble --lines). Prints "ok TEXT" or "failed TEXT" for each test.
"""
import random
import re
import subprocess
import sys

from terminal import Terminal

NTRACE, DIR, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3])
COLUMNS = 160


def test(good, text, *why):
    print("ok" if good else "failed", text, *("" if good else why), flush=True)


def browse(trace, *options, **size):
    return Terminal([NTRACE, "browse", *options, "--elf", f"{DIR}/demo", f"{DIR}/{trace}"], **{"columns": COLUMNS, "term": "linux", **size})


class Run:
    """The instructions that ntrace decode prints, and what precedes each of them on a screen."""

    def __init__(self, name):
        self.rows, self.lines = [], []      # text; index of the row, line of the source
        for text in open(f"{DIR}/{name}").read().splitlines():
            instruction = re.match(r"(0x[0-9a-f]{16}  .*?\])( \S+:(\d+))?$", text)
            self.rows.append(instruction[1] if instruction else text.split(" (")[0].split(" at ")[0])
            if instruction:
                self.lines.append((len(self.rows) - 1, int(instruction[3] or 0)))
        self.pcs = [int(self.rows[row].split()[0], 16) for row, line in self.lines]
        self.text = [self.rows[row] for row, line in self.lines]
        self.depth = [0]
        for text in self.text:
            self.depth.append(self.depth[-1] + ("jalr" in text and "ra)" in text) - bool(re.search(r"  ret ", text)))

    def last(self):
        return len(self.lines) - 1

    def line(self, at):
        return self.lines[at][1]

    def over(self, at, back):
        step = -1 if back else 1
        there = at + step
        while 0 <= there <= self.last():
            if self.depth[there] <= self.depth[at]:
                return there
            there += step
        return at if not 0 <= at + step <= self.last() else 0 if back else self.last()

    def out(self, at, back):
        there = at
        while 0 <= there <= self.last():
            if self.depth[there] < self.depth[at]:
                return there
            there += -1 if back else 1
        return 0 if back else self.last()

    def line_start(self, at, over):
        """Where the line at this place begins."""
        while at and self.line(self.back(at, over)) == self.line(at):
            at = self.back(at, over)
        return at

    def back(self, at, over):
        return self.over(at, True) if over else at - 1

    def other_line(self, at, back, over):
        if back:
            start = self.line_start(at, over)
            if start != at or not at:
                return start
            return self.line_start(self.back(at, over), over)
        there = at
        while there < self.last():
            there = self.over(there, False) if over else there + 1
            if self.line(there) != self.line(at):
                break
        return there

    def find(self, at, back, wanted):
        found = [there for there in (range(at - 1, -1, -1) if back else range(at + 1, self.last() + 1)) if wanted(there)]
        return found[0] if found else at

    def stack(self, at):
        """Addresses of the calls that lead to a place."""
        frames = [at]
        while self.depth[frames[-1]] and self.out(frames[-1], True) != frames[-1]:
            frames.append(self.out(frames[-1], True))
        return [self.pcs[frame] for frame in frames]


def shown(lines):
    """The rows of the instructions, and which of them is the current one."""
    rows = [line for line in lines if re.match(r"(=>|  ) (0x[0-9a-f]{16}  |-- )", line)]
    marked = [number for number, line in enumerate(rows) if line.startswith("=>")]
    return [row[3:] for row in rows], marked


def agrees(run, lines, at):
    """Whether a screen shows the instruction and its neighbours."""
    rows, marked = shown(lines)
    if len(marked) != 1:
        return False
    first = run.lines[at][0] - marked[0]
    if first < 0 or first + len(rows) > len(run.rows):
        return False
    return all(row == wanted or row.startswith("--") and row.startswith(wanted) for row, wanted in zip(rows, run.rows[first:]))


run = Run("expected")
terminal = browse("demo.nex", rows=40)
test(terminal.wait_for("h shows the keys"), "the trace opens")
at, wrong = 0, None
functions = {name: int(value, 16) for value, kind, name in (line.split() for line in subprocess.run(
    ["nm", f"{DIR}/demo"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())}
generator = random.Random(SEED)
searched = None
for step in range(160):
    kind = generator.randrange(12)
    back = generator.random() < 0.5
    if kind < 3:
        count = generator.choice([1, 1, 2, 3, 7, 40])
        keys = (str(count) if count > 1 else "") + generator.choice("kI" if back else "ji")
        at = max(0, at - count) if back else min(run.last(), at + count)
    elif kind < 5:
        keys, at = "S" if back else "s", run.other_line(at, back, False)
    elif kind < 7:
        keys, at = "O" if back else "o", run.other_line(at, back, True)
    elif kind < 8:
        keys, at = "X" if back else "x", run.over(at, back)
    elif kind < 9:
        keys, at = "U" if back else "u", run.out(at, back)
    elif kind < 11:
        name = generator.choice(["both", "odd", "next", "nothing"])
        keys = ("?" if back else "/") + generator.choice([name, "0x%x" % functions.get(name, 2)]) + "\r"
        searched = name, back
        at = run.find(at, back, lambda there: run.pcs[there] == functions.get(name))
    elif searched and generator.random() < 0.7:
        again = generator.random() < 0.5
        keys, direction = "n" if again else "N", searched[1] == again
        at = run.find(at, direction, lambda there: run.pcs[there] == functions.get(searched[0]))
    else:
        keys, at = ("g", 0) if back else ("G", run.last())
    lines = terminal.press(keys)
    frames = [int(line.split()[1], 16) for line in lines if re.match(r"#\d+ +0x", line)]
    source = [line for line in lines if re.match(r"=> +\d+  ", line)]
    if not agrees(run, lines, at):
        wrong = f"after {keys!r}, step {step}: instruction {at}"
    elif frames != run.stack(at)[:len(frames)] or not frames:
        wrong = f"after {keys!r}, step {step}: the stack {frames} instead of {run.stack(at)}"
    elif not source or int(source[0].split()[1]) != run.line(at):
        wrong = f"after {keys!r}, step {step}: the source line"
    if wrong:
        break
test(wrong is None, "160 random moves show what ntrace decode prints there", wrong, "\n" + "\n".join(terminal.lines()))

# Pages, marks, the other panes.
terminal.press("g")
page = sum(line.startswith(("   0x", "=> 0x")) for line in terminal.press("20j")) - 2
test(agrees(run, terminal.press("g "), page) and agrees(run, terminal.press("b"), 0), "SPACE and b move by a screen")
terminal.press("g9jma15j")
test(agrees(run, terminal.press("'a"), 9), "m and ' remember a place")
terminal.type("'b")
test(terminal.wait_for("there is no such mark"), "a mark that was not set")
test(not any("demo.S" in line for line in terminal.press("vw")), "v and w hide source and stack")
test(any("call stack" in line for line in terminal.press("vw")), "and show them again")
test(any("registers before the instruction: no values were recorded" in line for line in terminal.press("r")), "r shows registers")
test(not any("registers before" in line for line in terminal.press("r")), "and hides them")
terminal.type("g=")
test(terminal.wait_for("0x0000000000010000 _start+0x0 (demo), CPU 0, offset 0x"), "= says where this is")
terminal.type("k")
test(terminal.wait_for("beginning of the trace"), "the beginning is said")
terminal.type("Gj")
test(terminal.wait_for("end of the trace"), "the end is said")
terminal.type("/nothing\r")
test(terminal.wait_for("'nothing' is not executed after this place"), "a search without result")
terminal.type("t1\r")
test(terminal.wait_for("the trace has no timestamps"), "no times without timestamps")
terminal.press("g")
terminal.type("/both\x1b")
test(agrees(run, terminal.press("\x0c"), 0), "ESC cancels a search")
line = next(number for number, text in enumerate(open(f"{DIR}/demo.S"), 1) if text.startswith("both:"))
terminal.press(f"/demo.S:{line}\r")
test(agrees(run, terminal.press("\x0c"), run.find(0, False, lambda there: run.line(there) == line)), "a source line is found")
# A line of two instructions: a search goes to its next beginning.
line = next(number for number, text in enumerate(open(f"{DIR}/demo.S"), 1) if text.startswith("odd:")) + 1
starts = [at for at in range(1, run.last() + 1) if run.line(at) == line != run.line(at - 1)]
test(len(starts) > 3 and run.line(starts[0] + 1) == line, "the line has two instructions", starts)
terminal.press("g")
test(all(agrees(run, terminal.press(f"/demo.S:{line}\r") and terminal.press("\x0c"), start) for start in starts[:4]), "a line is found where it begins")
test(all(agrees(run, terminal.press(f"?demo.S:{line}\r") and terminal.press("\x0c"), start) for start in starts[2::-1]), "also backwards")
terminal.press("g")
terminal.type("h")
test(terminal.wait_for("Keys of ntrace browse") and terminal.wait_for("quit"), "h shows the keys")
terminal.press("q")
for rows, columns in ((50, 200), (24, 80), (10, 60), (5, 40), (3, 20), (2, 10), (1, 5), (1, 1), (30, 100)):
    terminal.resize(rows, columns)
    # The unknown keys need a message of this length.
    terminal.type("j")
    if columns >= 20:
        lines = terminal.press("g")
        if not any(line.startswith("=> 0x0000000000010000"[:columns]) for line in lines):
            test(False, f"a terminal of {rows} rows and {columns} columns", *lines)
test(terminal.press("g") and terminal.process.poll() is None, "the terminal may have any size, and change it")
terminal.type("q")
test((terminal.close(), terminal.stderr) == (0, ""), "q ends")

# Help on a small screen.
terminal = browse("demo.nex", rows=6, columns=80)
terminal.wait_for("h shows the keys")
terminal.type("h")
first = terminal.wait_for("SPACE: more keys")
terminal.type("      ")
test(first and terminal.wait_for("instruction; >= is a time before it."), "the help has pages on a small terminal")
terminal.type("qq")
test(terminal.close() == 0, "and ends with q")

# A gap.
run = Run("expected.gap")
terminal = browse("gap.nex")
terminal.wait_for("h shows the keys")
terminal.type("]")
test(terminal.wait_for("code is missing here: "), "] goes to a gap and says why code is missing")
row = next(number for number, text in enumerate(run.rows) if text.startswith("-- gap"))
after = next(number for number, (place, line) in enumerate(run.lines) if place > row)
test(agrees(run, terminal.press("\x0c"), after), "the first instruction after it, and the gap before")
test(agrees(run, terminal.press("["), after - 1), "[ goes to the last instruction before it")
terminal.type("q")
test(terminal.close() == 0, "a trace with a gap: the exit status")
run = Run("expected.lost")
terminal = browse("lost.nex")
terminal.wait_for("h shows the keys")
terminal.type("400x")
test(terminal.wait_for("stopped, as trace was lost here: "), "a step over a call that trace was lost in stops at the loss")
row = next(number for number, text in enumerate(run.rows) if text.startswith("-- gap"))
after = next(number for number, (place, line) in enumerate(run.lines) if place > row)
test(agrees(run, terminal.press("\x0c"), after), "which is the first instruction after it")
terminal.type("q")
terminal.close()

# Times.
terminal = browse("timed.nex", "--params", "tsbits=32,tshz=1000000", "--time", "0.0001")
test(terminal.wait_for(" us (@") and re.search(r"time 10[0-9]\.", terminal.lines()[0]), "--time", *terminal.lines())
text = [float(re.search(r"time (?:>= )?([\d.]+) us", terminal.press(f"t{time}us\r")[0])[1]) for time in (50, 20, 110)]
test(all(wanted <= got < wanted + 10 for wanted, got in zip((50, 20, 110), text)), "t goes to a time", *text)
terminal.type("tx\r")
test(terminal.wait_for("a time is a number of seconds"), "what is no time")
terminal.type("q")
test(terminal.close() == 0, "a trace with times: the exit status")

# Harts.
terminal = browse("harts.nex", "--params", "srcbits=1")
terminal.wait_for("hart 0")
terminal.type("T")
terminal.wait_for("read the whole trace to list other harts")
terminal.type("G\r")
terminal.wait_for("hart 1")
terminal.type("G\r")
test(terminal.wait(lambda lines: "hart 1" in lines[0]), "T shows another hart", *terminal.lines())
run = Run("expected")
terminal.press("g")
test(agrees(run, terminal.press("3j"), 3), "with its instructions")
terminal.type("q")
test(terminal.close() == 0, "a trace of harts: the exit status")
terminal = browse("harts.nex", "--params", "srcbits=1", "--src", "1", "--around", "both:2")
test(terminal.wait(lambda lines: "hart 1" in lines[0] and any(line.startswith("=> 0x%016x" % functions["both"]) for line in lines)),
     "--src and --around")
terminal.type("q")
terminal.close()

# Recordings: the function and the time are those of any CPU, unless one is chosen.
WORDS = sys.argv[4]
for options, cpu, message in ((["--around", "same_word:3"], 1, "same_word+0x0"), (["--around", "print_words"], 0, "print_words+0x0"),
                              (["--around", "run", "--cpu", "1"], 1, "run+0x0"), (["--time", "1ms"], 0, "time 30."), (["--time", "31.2ms"], 1, "time 31.2"),
                              (["--around", "same_word", "--time", "20ms"], 1, "time 20.")):
    terminal = Terminal([NTRACE, "browse", *options, WORDS], columns=COLUMNS, term="linux")
    test(terminal.wait(lambda lines: f"CPU {cpu} " in lines[0] and message in lines[0] + lines[1]), f"browse {options}: CPU {cpu}", *terminal.lines()[:3])
    terminal.type("q")
    terminal.close()
for options, message in ((["--around", "same_word", "--cpu", "0"], "'same_word' is executed 0 times by CPU 0: without --cpu, all CPUs are searched"),
                         (["--around", "same_word:9999999"], "'same_word' is executed 510713 times"),
                         (["--around", "same_word", "--time", "1h"], "a time is a number"), (["--time", "1"], "--time: the trace ends before 1"),
                         (["--time", "1", "--cpu", "1"], "--time: the trace of CPU 1 ends before 1: without --cpu"),
                         (["--around", "same_word", "--time", "9"], "'same_word' is executed 0 times from --time 9")):
    terminal = Terminal([NTRACE, "browse", *options, WORDS], columns=COLUMNS, term="linux")
    test((terminal.close(), message in terminal.stderr) == (1, True), f"browse {options}: refused", terminal.stderr)

# Colours.
for name, environment, colours in (("linux", {}, True), ("vt100", {}, False), ("linux", {"NO_COLOR": "1"}, False)):
    terminal = browse("demo.nex", term=name, **environment)
    terminal.wait_for("h shows the keys")
    terminal.type("q")
    terminal.close()
    test(bool(re.search(rb"\x1b\[[0-9;]*[34][0-7]m", terminal.raw)) == colours,
         f"TERM={name} {environment}: {'colours' if colours else 'no colours'}")
terminal = browse("demo.nex", term="nonsense")
test((terminal.close(), "the terminal 'nonsense' is not known" in terminal.stderr) == (1, True), "a terminal that is not known")
