#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the times of ntrace report with those of the traced program.

usage: times.py REPORT SAID SWITCHES
REPORT is ntrace report --json; SAID has lines "FUNCTION NANOSECONDS", the processor
time of the thread of that name; SWITCHES is the output of perf script --ns
--show-switch-events for the recording. Prints TAP.

"""
import json
import os
import re
import sys
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from tap import done, ok  # noqa: E402


# Nanoseconds. Time is exact with -icount and one hart. A switch lies between two timestamps, and the
# kernel reads its clock some microseconds before or after it.
EDGE = 5e4


SWITCH = re.compile(r" (-?\d+) +\[(\d+)\] +([\d.]+): PERF_RECORD_SWITCH_CPU_WIDE (IN|OUT)")


def intervals(lines):
    """Nanoseconds that each thread was on a hart according to the kernel, and the number of times."""
    running = {}
    times = defaultdict(lambda: [0, 0])
    matches = [match.groups() for match in map(SWITCH.search, lines) if match]
    for tid, cpu, time, kind in sorted(matches, key=lambda match: (match[1], float(match[2]))):
        time = float(time) * 1e9
        if kind == "IN":
            running[cpu] = int(tid), time
        elif cpu in running:
            # An exited thread has lost its number: use the number of the incoming thread.
            tid, came = running.pop(cpu)
            times[tid][0] += time - came
            times[tid][1] += 1
    return times


def main():
    report = json.load(open(sys.argv[1]))
    said = dict(line.split() for line in open(sys.argv[2]))
    second = report["time"]["hz"] / 1e9
    ok(set(said) == {"short_work", "long_work"}, "the program said something", said)
    for name, nanoseconds in said.items():
        nanoseconds = float(nanoseconds)
        functions = [item for item in report["functions"] if item["function"] == name]
        got = functions[0]["total_ticks"] / second if functions else 0
        ok(abs(got - nanoseconds) < EDGE, f"{name}: {got:.0f} ns with its callees, of {nanoseconds:.0f}")
    known = intervals(open(sys.argv[3]))
    for name in said:
        tids = {item["tid"] for item in report["threads"] if item["thread"] == name}
        threads = [item for item in report["threads"] if item["tid"] in tids]
        got = sum(item["ticks"] for item in threads) / second
        expected = sum(known[tid][0] for tid in tids)
        ok(float(said[name]) < got and abs(got - expected) < EDGE, f"{name}: its thread ran for {got:.0f} ns of {expected:.0f}",
           threads, {tid: known[tid] for tid in tids})
    harts = {item["thread"]: item["cpu"] for item in report["threads"] if item["thread"] in said and item["instructions"] > 100000}
    ok(harts == {"short_work": 0, "long_work": 0}, "each on the hart", harts)
    ok(sum(item["ticks"] for item in report["threads"]) == report["time"]["ticks"], "the threads' times add up")
    # Rounding down loses at most one unit for each function and pause.
    functions = sum(item["ticks"] for item in report["functions"])
    ok(abs(functions - report["time"]["ticks"]) < 0.001 * report["time"]["ticks"], "and those of the functions",
       functions, report["time"])
    ok(sum(item["instructions"] for item in report["threads"]) == report["instructions"]["all"], "and their instructions")
    ok(report["time"]["interpolated"] and report["time"]["stamps"] > 1000, f"{report['time']['stamps']} time stamps")
    done()


if __name__ == "__main__":
    main()
