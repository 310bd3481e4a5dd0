#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntrace browse with recordings, on a terminal: threads, options, places and what the screen says of them.

browse_recording.py NTRACE DIRECTORY: with the recordings of test_places.c; prints "ok TEXT" or "failed TEXT" for each test.
"""
import json
import os
import re
import subprocess
import sys

from terminal import Terminal

NTRACE, DIRECTORY = sys.argv[1:]
ROOT = f"{DIRECTORY}/root"
PROGRAM, LIBRARY, INTERPRETER = 0x4000001000, 0x4100001000, 0x4200001000


def test(good, text, *why):
    print("ok" if good else "failed", text, flush=True)
    if not good:
        for item in why:
            print("   ", item if isinstance(item, str) else repr(item)[:2000])


def browse(*options, recording="timed", rows=40, **more):
    return Terminal([NTRACE, "browse", "--sysroot", ROOT, *options, f"{DIRECTORY}/{recording}"], columns=160, rows=rows, **more)


def place(lines):
    """The address of the current instruction."""
    found = [line for line in lines if line.startswith("=> 0x")]
    return int(found[-1].split()[1], 16) if found else None


def end(terminal):
    terminal.type("q")
    return terminal.close()


events = [json.loads(line) for line in subprocess.run(
    [NTRACE, "decode", "--json", "--sysroot", ROOT, f"{DIRECTORY}/timed"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    check=False).stdout.splitlines()]
blocks = [event for event in events if event["type"] == "block"]


def ready(terminal):
    """Waits for the first screen: a place, and a message below."""
    return terminal.wait(lambda lines: lines[-1] and place(lines) is not None)


def opens(text, *options, title=(), at=None, **more):
    """Opens with options: the words of the title, and the place."""
    terminal = browse(*options, **more)
    ready(terminal)
    lines = terminal.lines()
    test(all(word in lines[0] for word in title) and (at is None or place(lines) == at), text, *lines[:1], hex(place(lines) or 0))
    return terminal


def first(*, tid=None, privilege=None, address=None, count=1):
    found = [int(block["address"], 16) for block in blocks if (tid is None or block["tid"] == tid) and
             (privilege is None or block["privilege"] == privilege) and (address is None or int(block["address"], 16) == address)]
    return found[count - 1]


terminal = opens("a recording opens at its first instruction", title=("timed", "CPU 0", "beta", "S"), at=first())
terminal.type("=")
test(terminal.wait_for(", CPU 0, offset 0x") and terminal.lines()[-1].startswith(f"0x{first():016x} trap_entry") and re.search(r", CPU 0, offset 0x[0-9a-f]+, time .*@\d+", terminal.lines()[-1]),
     "= says where this is", terminal.lines()[-1])
time = re.search(r", time (\d+) ticks \(@(\d+)\)", terminal.lines()[-1])
test(time and int(time[2]) - int(time[1]) == min(int(event["time"], 16) for event in events if "time" in event), "and its time since the first one",
     terminal.lines()[-1], [event.get("time") for event in events[:4]])
# The list of threads.
terminal.type("T")
test(terminal.wait_for("=> CPU 0 ") and terminal.wait_for("[read the whole trace to list threads]"), "T lists the CPUs", *terminal.lines())
terminal.type("jj\r")
test(terminal.wait_for("thread 100 main"), "and all threads of the trace, when asked", *terminal.lines())
totals = {}
for block in blocks:
    totals[block["tid"]] = totals.get(block["tid"], 0) + block["instructions"]
text = "\n".join(terminal.lines())
test(all(re.search(rf"thread {tid} .* {totals[tid]:,} instructions, process {100 if tid == 101 else tid}$", text, re.M) for tid in totals),
     "with their instructions and processes", text, totals)
test("[read the whole trace" not in text, "the list is complete then")
names = [line[3:].split("  ")[0] for line in terminal.lines()[1:6]]
test(names[0] == "CPU 0" and any(name.startswith("thread 101 a<b&\"'>?") for name in names), "names are shown without control characters", names)
# The first, the next and the last; not beyond. A key that moves nothing is followed by one that does.
HOME, END, UP, DOWN, PAGE_UP, PAGE_DOWN = "\x1bOH", "\x1bOF", "\x1bOA", "\x1bOB", "\x1b[5~", "\x1b[6~"
for keys, row in (("g", 0), ("j", 1), ("k", 0), ("kj", 1), ("G", 4), ("jk", 3), (HOME, 0), (END, 4), (UP, 3), (DOWN, 4), (DOWN + UP, 3), ("gkj", 1)):
    terminal.type(keys)
    terminal.wait(lambda lines, row=row: lines[1 + row].startswith("=>"))
test(terminal.lines()[2].startswith("=>"), "keys move in the list", *terminal.lines())
number = next(number for number, name in enumerate(names) if name.startswith("thread 101"))
terminal.type("g" + "j" * number + "\r")
test(terminal.wait(lambda lines: "thread 101" in lines[0] and " 101 a<b" in lines[0]), "RETURN shows the thread", terminal.lines()[0])
lines = terminal.press("g")
test(place(lines) == first(tid=101), "from its first instruction", hex(place(lines) or 0), hex(first(tid=101)))
terminal.type("Tq")
lines = terminal.press("j")
test("thread 101" in lines[0], "q leaves the list without a choice", lines[0])
test(end(terminal) == 0 and not terminal.stderr, "q ends", terminal.stderr)

for options, title, at in (
        (["--thread", "101"], ["thread 101"], first(tid=101)), (["-t", "200"], ["thread 200", "beta"], first(tid=200)),
        (["--cpu", "0"], ["CPU 0"], first()), (["--stream", "0"], ["CPU 0"], first()),
        (["--user"], ["main"], first(privilege="U")), (["--kernel"], [" S"], first(privilege="S")),
        (["--privilege", "u", "--thread", "100"], ["main", " U"], first(privilege="U", tid=100)),
        (["--around", "labour"], [], LIBRARY), (["--around", "_start:3", "--thread", "101"], ["thread 101"], PROGRAM),
        (["--time", "@0"], [], None)):
    end(opens(" ".join(options), *options, title=title, at=at))
# The third execution is the third.
counted = browse("--around", "_start:3", "--thread", "100")
ready(counted)
counted.type("=")
counted.wait_for(", CPU 0, offset 0x")
got = re.search(r"offset (0x[0-9a-f]+)", counted.lines()[-1])[1]
wanted = [block["offset"] for block in blocks if block["tid"] == 100 and int(block["address"], 16) == PROGRAM][2]
test(int(got, 16) == wanted, "--around FUNCTION:N: the Nth execution", got, hex(wanted))
end(counted)
middle = [block for block in blocks if block["tid"] == 100][len(blocks) // 4]
timed = browse("--thread", "100", "--time", f"@{int(middle['time'], 16)}")
ready(timed)
test(f"(@{int(middle['time'], 16)})" in timed.lines()[0], "--time: begins there", timed.lines()[0])
timed.type("t@0\r")
test(timed.wait(lambda lines: place(lines) == first(tid=100)), "t: a time before the first is the first place", *timed.lines())
end(timed)

# Gaps, and their reasons.
terminal = opens("a recording with gaps", "--thread", "100")
terminal.type("]")
test(terminal.wait_for("code is missing here: error: no memory is known at this address"), "] finds a gap of the thread, and its reason", *terminal.lines())
test(any(re.match(r"   -- (gap|error)", line) for line in terminal.lines()), "and shows it", *terminal.lines())
test("call stack" in "\n".join(terminal.lines()), "with a call stack", *terminal.lines())
# Memory that is not known is no loss: the place before it is known.
terminal.type("=")
terminal.wait_for(", CPU 0, offset 0x")
terminal.type("X")
test(terminal.wait(lambda lines: any(text in lines[-1] for text in ("missing here", "lost here"))) and place(terminal.lines()) == first() + 4 and
     "code is missing here: error: no memory is known at this address" in terminal.lines()[-1], "X goes back over it", *terminal.lines())
end(terminal)

# Steps in a thread: each instruction, and over traps.
steps = [(int(block["address"], 16) + 2 * i, block["privilege"]) for block in blocks if block["tid"] == 100 for i in range(block["instructions"])]
start = next(i for i, step in enumerate(steps) if step[1] == "U")
terminal = browse("--thread", "100", "--around", "begin")
ready(terminal)
got = [place(terminal.press("j" if i else "\x0c")) for i in range(45)]
test(got == [pc for pc, _ in steps[start:start + 45]], "j steps through the thread, traps included", got, steps[start:start + 45])
got = [place(terminal.press("k")) for _ in range(44)]
test(got == [pc for pc, _ in steps[start:start + 44]][::-1], "k steps back", got)
user = [pc for pc, privilege in steps[start:start + 45] if privilege == "U"]
got = [place(terminal.press("x")) for _ in range(len(user) - 1)]
test(got == user[1:], "x steps over traps", got, user)
got = [place(terminal.press("X")) for _ in range(len(user) - 1)]
test(got == user[-2::-1], "X steps back over traps", got, user)
trap = next(i for i in range(start, len(steps)) if steps[i][1] == "S")
terminal.press(f"{trap - start + 2}j")
got = place(terminal.press("U"))
test(got == steps[trap - 1][0], "U in a trap goes to the instruction before it", hex(got or 0))
end(terminal)


# With a selection, calls are still followed through the code that it leaves out.
privilege_at = dict(steps)
moves = {}
for selection in ([], ["--user"], ["--kernel"]):
    shown = {"--user": "U", "--kernel": "S"}.get(selection[0] if selection else "", "US")
    terminal = browse("--thread", "100", *selection)
    ready(terminal)
    moves[shown] = []
    for step in [step for step in steps[:start + 60] if step[1] in shown]:
        frames = [int(line.split()[1], 16) for line in terminal.lines() if re.match(r"#\d+ +0x", line)]
        moves[shown].append((step[0], frames))
        terminal.press("j")
    end(terminal)
for shown in "U", "S":
    want = [(pc, [frame for frame in frames if privilege_at[frame] == shown]) for pc, frames in moves["US"] if privilege_at[pc] == shown]
    test(moves[shown] == want, f"call stacks of {shown} alone are those of the whole trace", *[pair for pair in zip(moves[shown], want) if pair[0] != pair[1]])

# Functions of the kernel and of libraries have no lines here.
terminal = opens("code without line numbers", "--kernel")
test(any("trap_entry" in line and ": no line numbers" in line for line in terminal.lines()), "the kernel has no line numbers", *terminal.lines())
end(terminal)
# The source is below --sysroot only.
os.unlink(f"{DIRECTORY}/part.s")
os.makedirs(f"{ROOT}{DIRECTORY}", exist_ok=True)
with open(f"{ROOT}{DIRECTORY}/part.s", "w") as file:
    file.write("".join(f"\tsource {number} \xe9\n" for number in range(1, 4)) + "x" * 150 + "\n" + "y" * 151 + "\n" + "\u4e2d" * 75 + "\n" + "z" + "\u4e2d" * 75 +
               "\na\tb\tc\n\x01\x7f|\n")
terminal = opens("code with line numbers", "--around", "labour")
test(any(re.match(r"=> +3  +source 3 \xe9", line) for line in terminal.lines()), "the source is that below --sysroot", *terminal.lines())
test([line[10:] for line in terminal.lines() if re.match(r"   +[4-9]  ", line)] ==
     ["x" * 150, "y" * 150, "\u4e2d" * 75, "z" + "\u4e2d" * 74, "a       b       c", "??|"],
     "lines of the source are cut at the edge, whatever their characters, and show no control characters", *terminal.lines())
test(any("part.s:" in line for line in terminal.lines()), "the library has", *terminal.lines())
end(terminal)

# The help scrolls.
terminal = browse(rows=10)
ready(terminal)
terminal.type("h")
terminal.wait_for("SPACE: more keys")
first_page = terminal.lines()
rows = len(first_page) - 1
for keys, top in (("j", 1), ("k", 0), ("kj", 1), (" ", 1 + rows), ("b", 1), ("b", 0), (DOWN, 1), (UP, 0), (PAGE_DOWN, rows), (PAGE_UP, 0), ("f", rows),
                  ("\r", rows + 1), ("kkk", rows - 2), ("b", 0)):
    terminal.type(keys)
    if top < rows:
        terminal.wait(lambda lines, top=top: lines[:2] == first_page[top:top + 2])
    else:
        terminal.wait(lambda lines, top=top: lines[0] not in first_page)
terminal.type("  " * 20)
test(terminal.wait(lambda lines: lines[-1] == "q: back to the trace"), "keys move in the help, up to its end", *terminal.lines())
terminal.type("jjq")
end(terminal)

# Questions: what was typed can be corrected, and is forgotten with ESC and Ctrl-U.
terminal = opens("a question", "--thread", "100", "--user")
where = place(terminal.lines())
terminal.type("/labo\u00e9x\x7f\x7f")
test(terminal.wait(lambda lines: lines[-1].endswith("labo")), "BACKSPACE removes a character, whatever its bytes", terminal.lines()[-1])
terminal.type("ur\r")
test(terminal.wait(lambda lines: place(lines) == LIBRARY), "and the rest is searched", *terminal.lines())
terminal.type("=")
terminal.wait_for(", CPU 0, offset 0x")
first_offset = re.search(r"offset (0x[0-9a-f]+)", terminal.lines()[-1])[1]
terminal.press("/\r")
terminal.type("=")
terminal.wait_for(", CPU 0, offset 0x")
second_offset = re.search(r"offset (0x[0-9a-f]+)", terminal.lines()[-1])[1]
offsets = [block["offset"] for block in blocks if block["tid"] == 100 and int(block["address"], 16) == LIBRARY]
test([int(first_offset, 16), int(second_offset, 16)] == offsets[:2], "an empty search repeats the last one", first_offset, second_offset, offsets[:2])
terminal.type("/nothing\x15begin\r")
test(terminal.wait_for("'begin' is not executed after this place"), "CTRL-U begins anew", terminal.lines()[-1])
terminal.type("?\x7f\x7fbegin\r")
test(terminal.wait(lambda lines: place(lines) == INTERPRETER), "BACKSPACE before the beginning does nothing", *terminal.lines())
terminal.press("/zzzz\x1b")
terminal.type("99999999999999999999j")
lines = terminal.press("g")
test(place(lines) == where, "a count that is too large", *lines)
end(terminal)

# Raw traces: of a file, and of a pipe, which is read as a whole.
words = ["browse", "--params", "tsbits=32", "--elf", f"{ROOT}/ccc"]
terminal = Terminal([NTRACE, *words, f"{DIRECTORY}/timed/aux.0"], columns=160)
ready(terminal)
from_file = terminal.press("g")
end(terminal)
test(place(from_file) == 0x20000 and "CPU" in from_file[0] + "CPU" and "CPU 0" not in from_file[0], "a raw trace", *from_file)
os.mkfifo(f"{DIRECTORY}/pipe")
with subprocess.Popen(["cp", f"{DIRECTORY}/timed/aux.0", f"{DIRECTORY}/pipe"]):
    terminal = Terminal([NTRACE, *words, f"{DIRECTORY}/pipe"], columns=160)
    ready(terminal)
    from_pipe = terminal.press("g")
    end(terminal)
test(from_pipe[1:] == from_file[1:], "a raw trace from a pipe is the same", *from_pipe)
for why, *options in (("standard input is the terminal", "-"), ("No such file or directory", f"{DIRECTORY}/nothing"),
                      ("--thread, --cpu, --core, --user, --kernel and --privilege apply to recordings only", "--cpu", "0", f"{DIRECTORY}/timed/aux.0"),
                      ("--thread, --cpu, --core, --user, --kernel and --privilege apply to recordings only", "--user", f"{DIRECTORY}/timed/aux.0")):
    terminal = Terminal([NTRACE, "browse", "--elf", f"{ROOT}/ccc", *options])
    terminal.type("q")
    test(terminal.close() != 0 and why in terminal.stderr, f"{' '.join(options)}: {why}".replace(DIRECTORY, ""), terminal.stderr)
done = subprocess.run([NTRACE, "browse", "--help"], stdout=subprocess.PIPE, text=True, check=False)
test(done.returncode == 0 and done.stdout.startswith("usage: ntrace browse "), "--help", done.stdout)

# What cannot be shown.
for status, why, *options in (
        (1, "no instruction is in this trace", "--privilege", "m"), (1, "there is no trace of this CPU", "--cpu", "7"),
        (1, "no instruction is in this trace", "--thread", "7"),
        (1, "--around: 'labour' is executed ", "--around", "labour:99999"),
        (1, "--around: 'nowhere' is executed 0 times", "--around", "nowhere"),
        (1, "a time is a number of seconds", "--time", "x"), (1, "the frequency of the timestamps is unknown", "--time", "1"),
        (2, "exclude each other", "--thread", "100", "--cpu", "0"), (2, "exclude each other", "--thread", "100", "--stream", "0"),
        (2, "exclude each other", "--cpu", "0", "--stream", "0"), (2, "--src applies to raw traces only", "--src", "0"),
        (2, "the number of an execution is not between 1 and", "--around", "labour:0"), (2, "--thread: 0 is not between", "--thread", "0"),
        (2, "--cpu: 65536 is not between", "--cpu", "65536"), (2, "--src: 4096 is not between", "--src", "4096"),
        (1, "No such file or directory (option --sysroot)", "--sysroot", "/nonexistent")):
    terminal = browse(*options)
    terminal.type("q")
    test((terminal.close(), why in terminal.stderr) == (status, True), f"{' '.join(options)}: {why}", terminal.stderr)
terminal = Terminal([NTRACE, "browse"])
test((terminal.close(), "one trace file or recording is needed" in terminal.stderr) == (2, True), "no trace", terminal.stderr)
