#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Arguments and results of calls in `ntrace export --values` of guest/ledger.c are those that the program has printed, in
the text and in the database, and so are registers and memory in Python. Prints TAP. Usage: values_calls.py TEXT DATABASE
TRUTH RECORDING SYSROOT"""
import csv
import pathlib
import sqlite3
import struct
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "selftests"), str(TOP / "lib/python")]
import ntrace  # noqa: E402
from tap import done, ok  # noqa: E402

VALUES = ("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "result")
ENTRIES, STRAY, MASK = 40, 23, (1 << 64) - 1


def number(text):
    return int(text, 0) if text else None


with open(sys.argv[1], newline="", encoding="utf-8") as file:
    text = list(csv.DictReader(file))
base = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
with open(sys.argv[3], encoding="utf-8") as file:
    lines = [line.split() for line in file]
truth = [(int(words[0], 16), int(words[1]) & MASK, int(words[4]) & MASK) for words in lines[:ENTRIES]]

rows = base.execute(f"SELECT calls.id, {', '.join(VALUES)} FROM calls ORDER BY id").fetchall()
unsigned = [(row[0], *(value if value is None else value & MASK for value in row[1:])) for row in rows]
ok(unsigned == [(int(row["call"]), *(number(row[name]) for name in VALUES)) for row in text], "text and database are the same")
entered = [row for row in text if row["function"] == "enter"]
found = [tuple(number(row[name]) for name in ("a0", "a1", "result")) for row in entered]
ok(found == truth, "arguments and results of each call", (found, truth))
ok([number(row["a0"]) for row in text if row["function"] == "stray"] == [truth[0][0]], "the argument of the stray store")
main = [number(row["a0"]) for row in text if row["function"] == "main"]
ok(main == [1], "main() has one argument", main)
program = [row for row in text if row["comm"] == "ledger" and row["called"] == "1"]
known = sum(bool(row["a0"]) for row in program), len(program)
ok(known[0] * 1000 >= known[1] * 999, "at least 99.9 % of the first arguments are known", known)
# A jump at the end of a function is not its return: entries of the PLT have no result of their own.
ok(not any(row["result"] for row in text if row["function"].endswith("@plt")), "a function that has ended with a jump has no result")
ok(not any(row["result"] for row in text if row["returned"] == "0"), "nor one that has not returned")

# The same at a place of a cursor, whose steps are instructions.
calls = [(int(words[0], 16), int(words[1]) & MASK, struct.unpack("<Q", struct.pack("<d", float(words[2])))[0], int(words[3])) for words in lines[:ENTRIES]]
with ntrace.Session(sys.argv[4], sysroot=sys.argv[5] or None) as session:
    thread = next(thread for thread in ntrace.threads(session) if thread.comm == "ledger" and thread.instructions > 10000)
    cursor = ntrace.Cursor(session, pid=thread.pid, tid=thread.tid, privileges="u")
    found = []
    while cursor.seek_function("enter"):
        before = cursor.save()
        registers = [cursor.register(name) for name in ("a0", "a1", "fa0")]
        memory = cursor.memory(registers[0].value, 8)
        balance = None if None in memory else int.from_bytes(bytes(memory), "little", signed=True)
        found.append((*(register.value for register in registers), balance))
        # Within a block, too.
        cursor.next()
        cursor.next()
        inner = cursor.register("a0")
        cursor.restore(before)
    ok(found == calls, "Python: registers and memory before each call", (found, calls))
    ok(inner.value == calls[0][0] and cursor.register("zero") == (0, MASK), "Python: within a block")
    ok(cursor.register("fcsr").value is not None, "Python: fcsr")
done()
