#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Scheduling intervals and times of threads, against the switches that stock perf reads from the recording.

The recording is that of the tour, of one program in user space alone: its trace pauses in the kernel and while other
tasks run. An interval is between the IN and OUT records of its thread; no thread is on two CPUs at once; a thread's time
is at most that between its records, within the bound that the report states.
"""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from tap import done, ok  # noqa: E402

NTRACE = TOP / "build" / "ntrace"
RECORDING = TOP / "Documentation" / "tour" / "words.data"
# Nanoseconds by which perf rounds the times that it prints.
ROUNDED = 1000


def switches():
    """Per thread, the (cpu, in, out) of perf's records. A record of exit ends the last one."""
    text = subprocess.run(["perf", "script", "-i", str(RECORDING / "data"), "--show-switch-events",
                           "--show-task-events"], capture_output=True, text=True, check=True).stdout
    found, begun = {}, {}
    for line in text.splitlines():
        match = re.match(r"\s*\S+\s+(\d+) \[(\d+)\]\s+(\d+)\.(\d+): PERF_RECORD_(SWITCH IN|SWITCH OUT|EXIT|COMM exec)", line)
        if not match:
            continue
        tid, cpu, time = int(match[1]), int(match[2]), int(match[3]) * 10**9 + int(match[4]) * 1000
        if match[5] in ("SWITCH IN", "COMM exec"):
            begun[tid] = (cpu, time)
        elif tid in begun:
            found.setdefault(tid, []).append((*begun.pop(tid), time))
    return found


def main():
    records = switches()
    ok(len(records) == 2 and sum(map(len, records.values())) >= 8, "two threads, switched several times")
    with tempfile.TemporaryDirectory() as directory:
        base = os.path.join(directory, "base")
        subprocess.run([NTRACE, "export", "-f", "sqlite", "-o", base, RECORDING], check=True, capture_output=True)
        rows = sqlite3.connect(base).execute("SELECT tid, cpu, start, end FROM intervals ORDER BY start").fetchall()
    report = json.loads(subprocess.run([NTRACE, "report", "--json", "--by-thread", RECORDING], check=True,
                                       capture_output=True, text=True).stdout)
    bound = report["time"]["error"] + ROUNDED
    outside = [row for row in rows if not any(
        cpu == row[1] and begin - bound <= row[2] and row[3] <= end + bound for cpu, begin, end in records[row[0]])]
    ok(not outside, f"{len(rows)} intervals are each within one turn of the thread, give or take {bound} ns", *outside)
    turns = sum(map(len, records.values()))
    ok(0 <= turns - len(rows) <= 2, f"{turns} turns, {len(rows)} of them with trace")
    both = [(a, b) for i, a in enumerate(rows) for b in rows[i + 1:] if a[0] == b[0] and b[2] < a[3]]
    ok(not both, "no thread is on two CPUs at once", *both)
    for tid, turns in sorted(records.items()):
        longest = sum(end - begin for _, begin, end in turns)
        time = sum(row["ticks"] for row in report["threads"] if row["tid"] == tid)
        ok(0 < time <= longest + bound * len(turns), f"thread {tid}: {time} ns of at most {longest}")
    done()


main()
