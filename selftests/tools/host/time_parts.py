#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the times that a report shows with how long there was a trace.

  selftests/tools/host/time_parts.py RECORDING OPTION...   options of ntrace report

Execution takes at most the time in which the CPUs were traced, and in a part of the recording the length of the part on
each CPU; the parts of a whole have at most its time. No function has less with its callees than without. Prints TAP.
"""

import json
import pathlib
import re
import subprocess
import sys

PARTS = 3
NTRACE = pathlib.Path(__file__).resolve().parents[3] / "build/ntrace"


def report(recording, options, *more):
    text = subprocess.run([NTRACE, "report", "--json", "--limit", "0", *options, *more, recording], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout
    return json.loads(text) if text else {"time": {"ticks": 0}, "functions": []}


def time_of(recording, options, *more):
    return report(recording, options, *more)["time"]["ticks"]


def first_times(recording, options, streams):
    """The first timestamp of each stream."""
    for stream in range(streams):
        decode = subprocess.Popen([NTRACE, "decode", "--level", "block", "--json", "--stream", str(stream), *options, recording],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in decode.stdout:
            time = re.search(rb'"time": ?"?(0x[0-9a-f]+|\d+)', line)
            if time:
                yield int(time[1], 0)
                break
        decode.kill()


def main():
    recording, options = pathlib.Path(sys.argv[1]), sys.argv[2:]
    params = (recording / "params").read_text()
    starts, stops = ([int(value) for value in re.findall(rf"^{key} (\d+)$", params, re.M)] for key in ("start_ns", "stop_ns"))
    traced = sum(stop - start for start, stop in zip(starts, stops) if stop)
    number, failed = 0, 0

    def ok(holds, text):
        nonlocal number, failed
        number += 1
        failed += not holds
        print(f"{'ok' if holds else 'not ok'} {number} - {text}", flush=True)

    all_of_it = report(recording, options)
    whole = all_of_it["time"]["ticks"]
    less = [function["function"] for function in all_of_it["functions"] if function["total"] < function["instructions"]]
    ok(not less, f"with callees is not less than own: {less}")
    ok(whole, f"{whole} ns of execution")
    if traced:
        ok(whole <= traced, f"in {traced} ns of trace")
    begin, length = min(first_times(recording, options, len(starts))), (max(stops) - min(starts) if traced else whole) // PARTS
    parts = [time_of(recording, options, "--time", f"{begin + length * part},{begin + length * (part + 1)}") for part in range(PARTS)]
    ok(any(parts) and all(part <= length * len(starts) for part in parts), f"parts of {length} ns on {len(starts)} CPUs: {parts}")
    ok(sum(parts) <= whole, f"together {sum(parts)} ns")
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
