#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Arguments and results of calls in `ntrace export --values` of guest/ledger.c are those that the program has printed, in
the text and in the database. Prints TAP. Usage: values_calls.py TEXT DATABASE TRUTH"""
import csv
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import done, ok

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
known = sum(bool(row["a0"]) for row in text if row["called"] == "1"), sum(row["called"] == "1" for row in text)
ok(known[0] * 1000 >= known[1] * 999, "at least 99.9 % of the first arguments are known", known)
# A jump at the end of a function is not its return: entries of the PLT have no result of their own.
ok(not any(row["result"] for row in text if row["function"].endswith("@plt")), "a function that has ended with a jump has no result")
ok(not any(row["result"] for row in text if row["returned"] == "0"), "nor one that has not returned")
done()
