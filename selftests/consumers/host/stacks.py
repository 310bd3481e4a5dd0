#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the exports of call stacks with the folded stacks, and those with the witness's log.

usage: stacks.py FOLDED FORMAT FILE
FILE is an export; for pprof and perfetto the output of `go tool pprof -raw` and `protoc --decode`; for callgrind the
output of callgrind_annotate with all functions: own instructions or, with FORMAT callgrind-inclusive, inclusive ones;
for FORMAT witness, lines "FUNCTION COUNT" of executed instructions.

Prints "N stacks (or functions), N instructions, N differ", and the differences on standard error.

"""
import collections
import json
import re
import sys


def folded(path, thread=None):
    """{stack: instructions}, without the thread by default."""
    stacks = collections.Counter()
    for line in open(path):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        name, *frames = stack.split(";")
        if thread in (None, name):
            stacks[tuple(frames)] += int(count)
    return stacks


def own(stacks):
    functions = collections.Counter()
    for stack, count in stacks.items():
        functions[stack[-1]] += count
    return functions


def inclusive(stacks):
    functions = collections.Counter()
    for stack, count in stacks.items():
        for name in set(stack):
            functions[name] += count
    return functions


def speedscope(path):
    data, stacks = json.load(open(path)), collections.Counter()
    for profile in data["profiles"]:
        assert profile["endValue"] == sum(profile["weights"])
        assert len(profile["samples"]) == len(profile["weights"])
        for sample, weight in zip(profile["samples"], profile["weights"]):
            stacks[tuple(data["shared"]["frames"][i]["name"] for i in sample)] += weight
    return stacks


def replay(events):
    """Stacks of ("B" or "E" or "i", hart, thread, time, name); an instruction is one unit of time.

    Events of a hart have no thread: its track shows the running thread. Those of a thread have no hart."""
    stacks, frames = collections.Counter(), collections.defaultdict(list)
    last, running = collections.defaultdict(int), collections.defaultdict(list)
    for phase, hart, thread, time, name in events:
        if hart is None:
            hart = next((i for i in running if running[i][-1:] == [thread]), None)
            track = frames[thread]
        else:
            thread, track = None, running[hart]
        if hart is not None:
            assert time >= last[hart], "time goes back"
            if running[hart] and time != last[hart]:
                stacks[tuple(frames[running[hart][-1]])] += time - last[hart]
            last[hart] = time
        if phase == "B":
            track.append(int(name.rsplit("/", 1)[-1]) if thread is None else name)
        elif phase == "E":
            track.pop()
    assert not any(frames.values()), "a function is never left"
    return stacks


def chrome(path):
    def events():
        for event in json.load(open(path))["traceEvents"]:
            if event["ph"] == "M":
                continue
            assert event["cat"] == "instructions"
            hart = event["pid"] if event["tid"] == -2 else None
            yield event["ph"], hart, event["tid"], round(event["ts"] * 1000), event.get("name")
    return replay(events())


def fields(lines):
    """A message in the text format: {name: [values]}."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message[line[:-2]].append(fields(lines))
        else:
            name, value = line.split(": ", 1)
            message[name].append(json.loads(value) if value[0] == '"' or value.isdigit() else value)
    return message


def perfetto(path):
    def events():
        names, threads, first = {}, {}, True
        lines = iter(open(path))
        for line in lines:
            assert line == "packet {\n"
            packet = fields(lines)
            assert packet["trusted_packet_sequence_id"] == [1] and packet["sequence_flags"] == [3 if first else 2]
            first = False
            for track in packet["track_descriptor"]:
                uuid, name = track["uuid"][0], track["name"][0]
                threads[uuid] = None if name.startswith(("CPU ", "times: ")) else int(name.rsplit("/", 1)[1])
            for interned in packet["interned_data"]:
                for entry in interned["event_names"]:
                    names[entry["iid"][0]] = entry["name"][0]
            for event in packet["track_event"]:
                uuid = event["track_uuid"][0]
                phase = {"TYPE_SLICE_BEGIN": "B", "TYPE_SLICE_END": "E", "TYPE_INSTANT": "i"}[event["type"][0]]
                name = names[event["name_iid"][0]] if event["name_iid"] else (event["name"] or [None])[0]
                yield phase, uuid if threads[uuid] is None else None, threads[uuid], (packet["timestamp"] or [0])[0], name
    return replay(events())


def pprof(path):
    """Inlined functions come first in a location, with the name "NAME_[i]". Newer versions print line and column."""
    stacks, names, samples = collections.Counter(), collections.defaultdict(list), []
    section = None
    for line in open(path):
        if line.rstrip() in ("Samples:", "Locations", "Mappings"):
            section = line.rstrip()
        elif section == "Samples:" and re.match(r" *\d+: [\d ]+$", line):
            count, locations = line.split(":")
            samples.append((int(count), locations.split()))
        elif section == "Locations":
            match = re.match(r" *(?:(\d+): 0x[0-9a-f]+ (?:M=\d+ )?)?(.*) :0(?::0)? s=0\(?.*$", line)
            location = match.group(1) or location
            names[location].append(match.group(2))
    for count, locations in samples:
        frames = (name + "_[i]" * (name is not names[i][-1]) for i in locations for name in names[i])
        stacks[tuple(frames)[::-1]] += count
    return stacks


def annotated(path):
    """Functions and numbers of callgrind_annotate, without threads, which it treats as functions."""
    functions = collections.Counter()
    for line in open(path):
        match = re.match(r" *([\d,]+) \([ \d.]*%\) +\[([^:]*)\]:(.*) \[(\[[^\[\]]*\]|[^\[]*)\]$", line)
        if match and (match.group(2) != "unknown" or match.group(3) == "[unknown]"):
            functions[match.group(3)] += int(match.group(1).replace(",", ""))
    return functions


def witness(path):
    return collections.Counter({name: int(count) for name, count in (line.split() for line in open(path))})


def main():
    stacks = folded(sys.argv[1])
    kind, path = sys.argv[2:]
    if kind == "witness":
        got = witness(path)
        # Other programs may have functions of the same names.
        want = {name: count for name, count in own(folded(sys.argv[1], "calculator")).items() if name in got}
    elif kind.startswith("callgrind"):
        got = annotated(path)
        want = inclusive(stacks) if kind.endswith("inclusive") else own(stacks)
        # Functions without own instructions are listed, too.
        got = {name: count for name, count in got.items() if count}
    else:
        got, want = globals()[kind](path), stacks
    differ = [(key, want.get(key), got.get(key)) for key in {**want, **got} if want.get(key) != got.get(key)]
    print(f"{len(want)} {'stacks' if kind in ('speedscope', 'chrome', 'perfetto', 'pprof') else 'functions'}, "
          f"{sum(stacks.values())} instructions, {len(differ)} differ")
    for item in sorted(differ, key=str)[:10]:
        print(*item, file=sys.stderr)


main()
