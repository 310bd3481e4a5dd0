# SPDX-License-Identifier: GPL-2.0-only
"""Run by GDB: from the crash of guest/bugs.c, a watchpoint backwards leads to the function that has stored the wrong
value. TARGET is what GDB connects to. Prints the function where it stops."""
import os

import gdb


def run(command):
    return gdb.execute(command, to_string=True)


def main():
    for line in ("set pagination off", "set confirm off", "target remote " + os.environ["TARGET"]):
        run(line)
    run("monitor end")
    run("maintenance flush register-cache")
    wrong = int(gdb.parse_and_eval("$a0"))
    run(f"watch *(long *){wrong}")
    run("reverse-continue")
    print(f"stored by {gdb.selected_frame().name()}")


main()
