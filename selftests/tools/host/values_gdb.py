# SPDX-License-Identifier: GPL-2.0-only
"""Run by GDB: the values of a recording of guest/ledger.c are those that the program has printed (TRUTH). TARGET is
what GDB connects to. Prints a line of TAP for each kind."""
import os

import gdb

ENTRIES, STRAY = 40, 23
REGISTERS = "ra sp gp tp t0 t1 t3 s0 s1 a0 a1 a2 a3 a4 a5 s2 s3 s4 s5 s6 s7 s8 s11".split()


def run(command):
    return gdb.execute(command, to_string=True)


def report(good, text):
    report.count += 1
    print(f"{'ok' if good else 'not ok'} {report.count} - {text}")


report.count = 0


def number(expression):
    return int(gdb.parse_and_eval(expression))


def move(command):
    run("monitor " + command)
    run("maintenance flush register-cache")


def read_truth():
    with open(os.environ["TRUTH"], encoding="utf-8") as file:
        lines = [line.split() for line in file]
    calls = [(int(words[0], 16), int(words[1]), float(words[2]), int(words[3]), int(words[4])) for words in lines[:ENTRIES]]
    return calls, int(lines[ENTRIES][1])


def check_why():
    """The instruction that has written a register is where monitor why says, and writes the value; each of a loop's calls."""
    wrong, written, loaded, recorded = [], 0, 0, 0
    for call in (1, 20, ENTRIES):
        move(f"around enter {call}")
        here = int(run("monitor where").split("instruction ")[1].split()[0])
        for name in REGISTERS:
            move(f"goto {here}")
            value, text = number("$" + name), run("monitor why " + name)
            recorded += "recorded after system call" in text
            loaded += "loaded from" in text
            if int(text.split()[2], 0) != value % (1 << 64):
                wrong.append(text)
            if "written by instruction" not in text:
                continue
            written += 1
            at, address = text.split("written by instruction ")[1].split(" of user code, ")
            move(f"goto {at}")
            place = number("$pc")
            run("stepi")
            if place != int(address.split()[0], 0) or number("$" + name) != value:
                wrong.append(text)
    report(not wrong, "monitor why: each instruction has written its register")
    report(written >= 30 and loaded >= 9 and recorded >= 3, f"monitor why: {written} written, {loaded} of them loaded, {recorded} recorded")
    try:
        text = run("monitor why zero")
    except gdb.error as error:
        text = str(error)
    report("a register is needed" in text, "monitor why: x0")


def main():
    calls, checksum = read_truth()
    for line in ("set pagination off", "set confirm off", "target remote " + os.environ["TARGET"]):
        run(line)
    ledger = calls[0][0]
    move("start")
    run("break *enter")
    arguments, balances, results = [], [], []
    for _ in calls:
        run("continue")
        arguments.append((number("$a0"), number("$a1"), float(gdb.parse_and_eval("$fa0.double"))))
        balances.append(number(f"*(long *){ledger}"))
        run("up")
        frame = gdb.selected_frame().name()
        run("down")
        # Two stops: the breakpoint is met again where the call returned to, so a temporary one is set by hand.
        run("tbreak *($ra)")
        run("continue")
        results.append((number("$a0"), frame))
    report(arguments == [call[:3] for call in calls], "arguments in x and f registers")
    report(balances == [call[3] for call in calls], "a word of the heap before each call")
    report(results == [(call[4], "main") for call in calls], "results, and the caller's frame")
    run("delete")
    move("end")
    report(number("checksum") == checksum, "a variable of .bss at the end")
    run(f"watch *(long *){ledger}")
    changes = []
    for _ in range(ENTRIES + 1):
        run("reverse-continue")
        # Changes in both functions; calloc() before them does not change zeros.
        changes.append((gdb.selected_frame().name(), number(f"*(long *){ledger}")))
    expected = [("enter", call[3]) for call in reversed(calls[STRAY:])] + [("stray", None)] + \
               [("enter", call[3]) for call in reversed(calls[:STRAY])]
    report([name for name, _ in changes] == [name for name, _ in expected], "a watchpoint backwards stops in the function of each store")
    report(all(value == now for (_, now), (_, value) in zip(changes, expected) if value is not None), "with the value before it")
    check_why()
    print("# " + run("monitor values").strip().replace("\n", "\n# "))
    words = run("monitor values").replace(",", " ").split()
    report(words[-3] == "0", "no register, jump or branch contradicts the trace")
    read, known = int(words[6]), int(words[8])
    report(known * 1000 >= read * 999, "at least 99.9 % of the registers that it reads are known")
    print(f"1..{report.count}")


main()
