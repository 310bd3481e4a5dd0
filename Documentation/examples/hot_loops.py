#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""The most frequent transfers of a recording, and how often its loops go round. hot_loops.py RECORDING [N]

A transfer backwards inside a function closes a loop. Its head is executed once for each time
round; what the transfer itself does not account for came from outside.
"""

import sys

import ntrace


def place(obj: ntrace.Object, address: int) -> str:
    symbol, offset = obj.symbol(address)
    return "%s+0x%x" % (symbol, offset) if symbol else "0x%x" % address


def executed(traces: ntrace.Traces, number: int, address: int) -> int:
    return sum(int(run.count) for run in traces if run.object == number and run.instructions and
               run.start <= address <= run.end)


def main() -> None:
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with ntrace.Session(sys.argv[1]) as session, session.profile() as profile:
        for note in session.notes:
            print("note:", note, file=sys.stderr)
        objects, traces, branches = profile.objects, profile.traces(), profile.branches()
    names = [obj.name.rsplit("/", 1)[-1] for obj in objects]
    print("transfers:")
    for branch in branches[:limit]:
        target = place(objects[branch.object], branch.target) if branch.object >= 0 else "?"
        print("%d %s %s -> %s (%s)" % (branch.times, names[branch.source_object], place(
            objects[branch.source_object], branch.source), target, branch.insn_class))
    print("loops:")
    loops = [branch for branch in branches if branch.source_object == branch.object >= 0 and
             branch.target <= branch.source and branch.insn_class in ("branch", "jump")]
    for loop in loops[:limit]:
        obj = objects[loop.object]
        if obj.symbol(loop.source)[0] != obj.symbol(loop.target)[0]:
            continue
        rounds = executed(traces, loop.object, loop.target)
        entries = rounds - loop.times
        print("%d rounds, %d entries%s: %s %s" % (
            rounds, entries, ", %.2f times round" % (rounds / entries) if entries else "",
            names[loop.object], place(obj, loop.target)))


main()
