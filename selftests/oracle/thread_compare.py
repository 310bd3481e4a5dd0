# SPDX-License-Identifier: GPL-2.0-only
"""Compares a Form of an output with that of the witness, edge by edge. Counts must be equal; a time may differ by a bound.

Each function returns differences as text, those with most in them first, without end: the caller prints the first ones.
"""
import bisect
import collections

from thread_names import OTHER, UNKNOWN


def show(thread):
    return "" if thread is None else f"{thread[0]}/{thread[1]}: "


def edge(pair):
    return f"{pair[0] or '(root)'} -> {pair[1]}"


def counters(what, want, got, text, thread):
    differ = [(abs(want[key] - got[key]), text(key), want[key], got[key]) for key in {**want, **got}
              if want[key] != got[key]]
    return [f"{show(thread)}{what}: {name}: executed {seen}, {told} told" for _, name, seen, told in
            sorted(differ, key=lambda item: (-item[0], item[1]))]


def without_other(counts):
    """Without what is about code that has no name: it may be called as one likes."""
    def named(key):
        parts = key if isinstance(key, tuple) else (key,)
        return all(part != OTHER for part in parts)
    return collections.Counter({key: count for key, count in counts.items() if named(key) and count})


def join_roots(want, got):
    """A frame for unknown callers below the outermost function of a thread says nothing else than no frame."""
    for thread, stacks in want.stacks.items():
        roots = {path[0] for path in stacks}
        if got.stacks is not None:
            joined = collections.Counter()
            for path, count in got.stacks[thread].items():
                joined[path[1:] if path[0] == UNKNOWN and path[1:2] and path[1] in roots else path] += count
            got.stacks[thread] = joined
        if got.edges is not None:
            for name in roots:
                got.edges[thread][None, name] += got.edges[thread].pop((UNKNOWN, name), 0)
        if got.spans is not None:
            got.spans[thread] = [span._replace(parent=None) if span.parent == UNKNOWN and span.name in roots else span
                                 for span in got.spans[thread] if span.name != UNKNOWN]


def path_text(path):
    return ";".join(path)


def compare_stacks(want, got):
    """Whole stacks, and what follows from them: own and inclusive instructions of functions and of edges."""
    found = collections.defaultdict(list)
    for thread in sorted({*want.stacks, *got.stacks}, key=str):
        mine, its = want.stacks[thread], got.stacks[thread]
        for what, left, right, text in zip(("own instructions", "inclusive instructions", "instructions below an edge"),
                                           want.sums(thread), got.sums(thread), (str, str, edge)):
            found[what] += counters(what, without_other(left), without_other(right), text, thread)
        found["stacks"] += counters("stack", mine, its, path_text, thread)
    return found


def compare_edges(want, got):
    found = []
    for thread in sorted({*want.edges, *got.edges}, key=str):
        found += counters("calls", without_other(want.edges[thread]), without_other(got.edges[thread]), edge, thread)
    return {"calls": found}


def entered(spans):
    """Executions of functions by (caller, function): also those that began otherwise than with a call."""
    return collections.Counter((span.parent, span.name) for span in spans)


def distance(first, last, told, pauses, bound):
    """How far a time that was told is from the true one between first and last. While the hart stands still, as those of QEMU
    do when it is another one's turn, the time of what it has just executed is not known better."""
    far = max(first - told, told - last, 0)
    if far <= bound:
        return far
    for start, end in pauses[max(bisect.bisect(pauses, (first - bound,)) - 1, 0):]:
        if start > last + bound:
            break
        if end >= first - bound:
            far = min(far, max(start - told, told - end, 0))
    return far


def compare_spans(want, got, bound, offset=0):
    """The executions of functions of each thread: their number by caller, their order, and their times.

    A thread's spans are compared in the order of their begin, as far as their functions agree. offset is added to times
    of got. A bound of None compares no times.
    """
    found = {"executions": [], "order": [], "instructions of executions": [], "ends": [], "times": []}
    worst = 0
    for thread in sorted({*want.spans, *got.spans}):
        mine, its = want.spans[thread], got.spans[thread]
        found["executions"] += counters("executions", without_other(entered(mine)), without_other(entered(its)), edge, thread)
        for number, (left, right) in enumerate(zip(mine, its)):
            if (left.name, left.parent) != (right.name, right.parent):
                found["order"].append(f"{show(thread)}order: execution {number} is {edge((left.parent, left.name))} at "
                                      f"{left.start}, told {edge((right.parent, right.name))} at {right.start + offset}")
                break
            if bound is None:
                late = 0
            else:
                pauses = want.pauses[thread]
                late = max(distance(left.start if left.since is None else left.since, left.start, right.start + offset, pauses,
                                    bound),
                           distance(left.end if left.early is None else left.early, left.end, right.end + offset, pauses,
                                    bound))
            worst = max(worst, late)
            if bound is not None and late > bound:
                found["times"].append(f"{show(thread)}times: {left.name}, execution {number}: {left.start} to {left.end}, told "
                                      f"{right.start + offset} to {right.end + offset}")
            if right.instructions is not None and right.instructions != left.instructions:
                found["instructions of executions"].append(
                    f"{show(thread)}instructions: {left.name}, execution {number}: executed {left.instructions}, "
                    f"{right.instructions} told")
            if right.instructions is not None and right.returned != left.returned:
                found["ends"].append(f"{show(thread)}end: {left.name}, execution {number}: "
                                     f"{'returned' if left.returned else 'did not return'}, told otherwise")
    found["worst"] = worst
    return found


def first_edges(stacks):
    """Instructions below edges to the outermost execution of each function: those of all its callers add up to its own."""
    found = collections.Counter()
    for path, count in stacks.items():
        for name in set(path):
            at = path.index(name)
            found[path[at - 1] if at else None, name] += count
    return found


def compare_report(want, got, program):
    """Functions of the program: own and inclusive instructions and calls, and callers of those that were asked for."""
    own, inclusive, _ = want.sums(None)
    found = {}
    for what, left, right in (("own instructions", own, got.own), ("inclusive instructions", inclusive, got.inclusive),
                              ("calls", want.calls, got.calls)):
        found[what] = counters(what, without_other(pick(left, program)), without_other(pick(right, program)), str, None)
    callees = {callee for _, callee in got.edge_sums}
    # Several threads begin with unknown callers or without any: the report has one row for them.
    for what, left, right in (("calls of callers", want.edges[None], got.edges[None]),
                              ("instructions of callers", first_edges(want.stacks[None]), got.edge_sums)):
        left = collections.Counter({key: count for key, count in left.items() if key[1] in callees and key[0]})
        right = collections.Counter({key: count for key, count in right.items() if key[0]})
        found[what] = counters(what, without_other(left), without_other(right), edge, None)
    return found


def pick(counts, program):
    return collections.Counter({name: count for name, count in counts.items() if name in program})


def unknown_share(got):
    """Instructions of a Form with stacks, and those below an unknown caller."""
    total = below = 0
    for stacks in got.stacks.values():
        for path, count in stacks.items():
            total += count
            below += count if UNKNOWN in path else 0
    return below, total
