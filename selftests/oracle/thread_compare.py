# SPDX-License-Identifier: GPL-2.0-only
"""Compares a Form of an output with that of the witness, edge by edge. Counts must be equal; a time may differ by a bound.

Each function returns differences as text, those with most in them first, without end: the caller prints the first ones.
"""
import bisect
import collections
import math

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


def after_unknown(path):
    """What is above the unknown callers of a path; None: it has none."""
    return path[len(path) - path[::-1].index(UNKNOWN):] if UNKNOWN in path else None


def find_callers(mine, its, fiber):
    """Gives instructions below unknown callers to stacks that end in the same way and have more of them, if there are. The
    longest ends have the fewest such stacks."""
    found = collections.Counter({path: count for path, count in its.items() if UNKNOWN not in path})
    for path in sorted((path for path in its if UNKNOWN in path), key=lambda path: -len(after_unknown(path))):
        end, left = after_unknown(path), its[path]
        for stack, count in mine.items():
            if fiber in stack and stack[len(stack) - len(end):] == end:
                taken = min(left, max(count - found[stack], 0))
                found[stack] += taken
                left -= taken
        found[path] += left
    return found


def find_edges(mine, its):
    """The same with calls."""
    found = collections.Counter({edge: count for edge, count in its.items() if edge[0] != UNKNOWN})
    for caller, callee in its:
        left = its[caller, callee] if caller == UNKNOWN else 0
        for edge, count in mine.items():
            if left and edge[1] == callee:
                taken = min(left, max(count - found[edge], 0))
                found[edge] += taken
                left -= taken
        if left:
            found[UNKNOWN, callee] += left
    return found


def chain_at(spans, at):
    """The names of the executions that go on together from one place in the list on."""
    end = at
    while end < len(spans) and not spans[end].called and spans[end].start == spans[at].start:
        end += 1
    return [span.name for span in spans[at:end]]


def find_spans(mine, its):
    """The same with executions, in their order. Where a stack goes on, it begins with all its functions; with unknown callers,
    it begins with some, and with others when it returns to them: these are left out of both lists."""
    want, got, i, k = [], [], 0, 0
    while i < len(mine) and k < len(its):
        right = its[k]
        if right.name == UNKNOWN:
            k += 1
            continue
        if right.parent == UNKNOWN:
            chain = chain_at(mine, i)
            known = next((n for n in range(len(chain), 0, -1) if chain[-n:] == [span.name for span in its[k:k + n]]), 0)
            if chain and not known:
                k += 1
                continue
            i += len(chain) - known if chain else 0
        left = mine[i]
        if right.parent == UNKNOWN:
            # Not even of the same name if the next one is the call itself.
            if right.name != left.name or [(left.name, left.parent)] == [(span.name, span.parent) for span in its[k + 1:k + 2]]:
                k += 1
                continue
            right = right._replace(parent=left.parent)
        if (left.name, left.parent) != (right.name, right.parent):
            break
        want.append(left)
        got.append(right)
        i, k = i + 1, k + 1
    return want + mine[i:], got + its[k:]


def resolve_unknown(want, got, fiber):
    """Where a fiber was given up, it may stay open which one ran: its callers are unknown then. They may be any, but only of
    what ran above the function fiber, and what is known of them must be true: each unknown caller is resolved to a true one
    that has been told too seldom, if there is one. Returns the instructions below unknown callers, and the functions of
    fibers."""
    below, names = 0, set()
    for thread, stacks in want.stacks.items():
        if not any(fiber in path for path in stacks):
            continue
        names.update(name for path in stacks if fiber in path for name in path)
        below += sum(count for path, count in (got.stacks or {}).get(thread, {}).items() if UNKNOWN in path)
        if got.stacks is not None:
            got.stacks[thread] = find_callers(stacks, got.stacks[thread], fiber)
        if got.edges is not None:
            got.edges[thread] = find_edges(want.edges[thread], got.edges[thread])
        if got.spans is not None and any(span.parent == UNKNOWN for span in got.spans[thread]):
            want.spans[thread], got.spans[thread] = find_spans(want.spans[thread], got.spans[thread])
    return below, names


def resolve_report(want, got, below, names):
    """The same in sums over all threads, which lack up to as much as ran below unknown callers."""
    _, inclusive, edges = want.sums(None)
    first = first_edges(want.stacks[None])
    callees = {callee for _, callee in got.edge_sums} & names
    for name in names:
        if inclusive[name] - below <= got.inclusive[name] <= inclusive[name]:
            got.inclusive[name] = inclusive[name]
    for pair in {*first, *got.edge_sums}:
        least, most = first[pair] - below, below if pair[0] == UNKNOWN else edges[pair]
        if pair[1] in callees and least <= got.edge_sums[pair] <= most:
            got.edge_sums[pair] = first[pair]
    got.edges[None] = find_edges(want.edges[None], got.edges[None])


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


def distance(want, thread, first, last, told):
    """How far a time that was told is from the true one between first and last, without the time that the thread's hart stood
    still in between: those of QEMU do so when it is another one's turn, and a time between two messages is no better known.
    The messages and records of a switch lie around it, so these pauses are of the hart and not of the thread."""
    if first <= told <= last:
        return 0
    low, high = (told, first) if told < first else (last, told)
    intervals = want.intervals[thread]
    at = bisect.bisect(intervals, (first if told < first else last, math.inf)) - 1
    pauses = want.pauses[intervals[max(at, 0)][2]] if intervals else []
    far = high - low
    for start, end in pauses[max(bisect.bisect(pauses, (low,)) - 1, 0):]:
        if start >= high:
            break
        far -= max(min(end, high) - max(start, low), 0)
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
                late = max(distance(want, thread, left.start if left.since is None else left.since, left.start,
                                    right.start + offset),
                           distance(want, thread, left.end if left.early is None else left.early, left.end, right.end + offset))
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
