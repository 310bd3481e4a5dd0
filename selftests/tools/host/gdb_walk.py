# SPDX-License-Identifier: GPL-2.0-only
"""Runs in GDB, connected to ntrace gdb, and prints what GDB shows.

The environment: WALK, words that are functions below, in order; TARGET, the argument of `target remote`.
Each function prints lines that start with its own name.
"""
import os
import re

import gdb


def run(command):
    """Output of a command of GDB, or "error: TEXT"."""
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        return "error: %s" % error


def pc():
    return "0x%x" % int(gdb.parse_and_eval("$pc"))


def walk(command, name):
    """Steps until the trace ends, and prints the pc before the first and after each step."""
    here = pc()
    last = None
    # No instruction of the tests jumps to itself.
    while here != last:
        print(name, here)
        last = here
        run(command)
        here = pc()


def backwards():
    walk("reverse-stepi", "backwards")


def forwards():
    walk("stepi", "forwards")


def hits():
    """Where breakpoints stop, from the end to the beginning and back: for each set of them in BREAK, separated by ;."""
    for number, places in enumerate(os.environ["BREAK"].split(";")):
        breakpoints = [gdb.Breakpoint(place) for place in places.split()]
        for name, command in (("back", "reverse-continue"), ("on", "continue")):
            while True:
                run(command)
                at, last = re.search(r"instruction (\d+) of \d+ to (\d+)", run("monitor where")).groups()
                if at in ("0", last):
                    break
                print("hits", number, name, pc())
        for breakpoint in breakpoints:
            breakpoint.delete()


def history():
    """The instruction history, oldest first; "gap" where GDB shows one."""
    run("monitor history 100000000")
    run("record btrace")
    size = int(re.search(r"Recorded (\d+) instructions", run("info record")).group(1))
    run("set record instruction-history-size unlimited")
    shown = run("record instruction-history 1,%d" % (size + 1)) if size else ""
    for line in shown.splitlines():
        address = re.search(r"\t\s*0x([0-9a-f]+)", line)
        print("history", "gap" if "decode error" in line else "0x%x" % int(address.group(1), 16))
    print("history", pc())
    print("gaps", re.search(r"\((\d+) gaps\)", run("info record")).group(1))
    run("record stop")


def calls():
    """Functions of the call history, oldest first."""
    run("record btrace")
    run("set record function-call-history-size unlimited")
    for line in run("record function-call-history 1,100000000").splitlines():
        print("calls", line.split("\t")[-1])
    run("record stop")


def threads():
    for thread in gdb.selected_inferior().threads():
        print("threads", thread.ptid[1] or thread.ptid[2], thread.name)


def say():
    """Prints the output of the commands in SAY, one a line."""
    for command in os.environ["SAY"].split(";"):
        for line in run(command.strip()).splitlines():
            print("say", line)


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set remotetimeout 600")
gdb.execute("set breakpoint pending off")
gdb.execute("set osabi " + os.environ.get("OSABI", "none"))
if "TARGET" in os.environ:
    gdb.execute("target remote " + os.environ["TARGET"], to_string=True)
for word in os.environ["WALK"].split():
    globals()[word]()
print("done")
