#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The registers that ntrace browse shows of guest/ledger.c are those that the program has printed. Prints TAP. Usage:
values_browse.py NTRACE RECORDING TRUTH TID [OPTION...]"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import done, ok  # noqa: E402
from terminal import Terminal  # noqa: E402

NTRACE, RECORDING, TRUTH, TID, *OPTIONS = sys.argv[1:]
with open(TRUTH, encoding="utf-8") as file:
    words = file.readline().split()
terminal = Terminal([NTRACE, "browse", "-u", "--thread", TID, "--around", "enter", *OPTIONS, RECORDING], columns=160, term="linux")
ok(terminal.wait_for("h shows the keys"), "the recording opens")
before = terminal.press("w")
ok(not any("registers before" in line for line in before), "registers are hidden at first")


def registers(lines):
    """The registers on the screen."""
    at = next(row for row, line in enumerate(lines) if "registers before the instruction" in line)
    shown = " ".join(lines[at + 1:at + 9]).split()
    return dict(zip(shown[::2], shown[1::2]))


found = registers(terminal.press("r"))
ok((found["a0"], found["a1"], found["zero"], len(found)) == (words[0], hex(int(words[1])), "0x0", 32), "r: arguments, and all registers", found)
later = registers(terminal.press("12j"))
ok(later != found and later["sp"] == found["sp"], "those of the next place", later)
ok(not any("registers before" in line for line in terminal.press("r")), "r hides them")
terminal.press("r")
terminal.type("q")
ok(terminal.close() == 0, "the command ends", terminal.stderr)
terminal = Terminal([NTRACE, "browse", "-u", *OPTIONS, RECORDING], columns=160, term="linux")
terminal.wait_for("h shows the keys")
ok(any("T chooses a thread" in line for line in terminal.press("r")), "of a CPU they are not known")
terminal.type("q")
terminal.close()
done()
