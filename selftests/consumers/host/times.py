#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the times of ntrace report agree with what the traced program says?

usage: times.py REPORT SAID
REPORT is ntrace report --json; SAID has lines "FUNCTION NANOSECONDS", by the processor
time of the thread of that name. Speaks TAP.
"""
import json
import sys

from tap import done, ok


def main():
    report = json.load(open(sys.argv[1]))
    said = dict(line.split() for line in open(sys.argv[2]))
    second = report["time"]["hz"] / 1e9
    ok(set(said) == {"short_work", "long_work"}, "the program said something", said)
    for name, nanoseconds in said.items():
        nanoseconds = float(nanoseconds)
        functions = [item for item in report["functions"] if item["function"] == name]
        got = functions[0]["total_ticks"] / second if functions else 0
        ok(abs(got - nanoseconds) < 0.02 * nanoseconds, f"{name}: {got:.0f} ns with its callees, of {nanoseconds:.0f}")
        threads = [item for item in report["threads"] if item["thread"] == name]
        got = sum(item["ticks"] for item in threads) / second
        # The thread does a little before and after. And where the hart sleeps between two time stamps,
        # what passes goes with the instructions on both sides: some milliseconds, as long as a tick takes.
        ok(nanoseconds * 0.95 < got < nanoseconds * 1.1 + 10e6, f"{name}: its thread ran for {got:.0f} ns")
    harts = {item["thread"]: item["hart"] for item in report["threads"] if item["thread"] in said and item["instructions"] > 100000}
    ok(harts == {"short_work": 0, "long_work": 1}, "each on its hart", harts)
    ok(sum(item["ticks"] for item in report["threads"]) == report["time"]["ticks"], "the threads' times add up")
    # Rounded down once for each function and pause.
    functions = sum(item["ticks"] for item in report["functions"])
    ok(abs(functions - report["time"]["ticks"]) < 0.001 * report["time"]["ticks"], "and those of the functions",
       functions, report["time"])
    ok(sum(item["instructions"] for item in report["threads"]) == report["instructions"]["all"], "and their instructions")
    ok(report["time"]["interpolated"] and report["time"]["stamps"] > 1000, f"{report['time']['stamps']} time stamps")
    done()


if __name__ == "__main__":
    main()
