# SPDX-License-Identifier: GPL-2.0-only
"""What ntrace reports about threads, as people read it, in the form of thread_truth.py.

Each reader gets the file that an export wrote, or runs ntrace report, and a Names. It uses nothing of ntrace's library:
folded is text, pprof and perfetto are decoded here from their protocol buffers, sqlite is read with Python's module.
"""
import collections
import gzip
import json
import re
import sqlite3
import subprocess

from thread_names import OTHER, UNKNOWN
from thread_truth import Form, Span

THREAD = re.compile(r"(\d+)/(\d+)$")


def thread_of(text):
    """The last "PID/TID" of a thread's label."""
    match = THREAD.search(text)
    return (int(match.group(1)), int(match.group(2))) if match else None


# ---- protocol buffers ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message: an int, or the bytes of a field with a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        yield key >> 3, value


def message(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def packed(values):
    """Numbers of a repeated field, packed or not."""
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            found.append(number)
    return found


# ---- the exports ----

def folded(path, names):
    form = Form("folded", edges=False, spans=False)
    with open(path) as file:
        for line in file:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            thread, *frames = stack.split(";")
            if thread_of(thread):
                form.stacks[thread_of(thread)][names.path(frames)] += int(count)
    return form


def pprof(path, names):
    """profile.proto: sample 2 (location 1, value 2, label 3: key 1, str 2), location 4 (id 1, line 4: function 1),
    function 5 (id 1, name 2), string 6."""
    form = Form("pprof", edges=False, spans=False)
    with open(path, "rb") as file:
        data = file.read()
    whole = message(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    strings = [text.decode() for text in whole[6]]
    functions = {item[1][0]: strings[item[2][0]] for item in map(message, whole[5])}
    locations = {}
    for item in map(message, whole[4]):
        # Inlined functions come first.
        locations[item[1][0]] = [functions[message(line)[1][0]] for line in item[4]][::-1]
    for item in map(message, whole[2]):
        labels = {strings[label[1][0]]: strings[label[2][0]] for label in map(message, item[3]) if label[2]}
        thread = thread_of(labels.get("thread", ""))
        frames = [name for place in packed(item[1])[::-1] for name in locations[place]]
        if thread:
            form.stacks[thread][names.path(frames)] += packed(item[2])[0]
    return form


def perfetto(path, names):
    """trace.proto: packet 1 (timestamp 8, track_event 11: type 9, name_iid 10, track_uuid 11, name 23; interned_data 12:
    event_names 2 (iid 1, name 2); track_descriptor 60: uuid 1, name 2). A thread has a track, named PID/TID."""
    form = Form("perfetto", stacks=False, edges=False)
    tracks, interned, open_spans = {}, {}, collections.defaultdict(list)
    order = 0
    with open(path, "rb") as file:
        packets = [message(value) for number, value in fields(file.read()) if number == 1]
    found = collections.defaultdict(list)
    for packet in packets:
        for item in map(message, packet[60]):
            tracks[item[1][0]] = thread_of(item[2][0].decode())
        for item in map(message, packet[12]):
            interned.update((entry[1][0], entry[2][0].decode()) for entry in map(message, item[2]))
        for item in map(message, packet[11]):
            track, kind = item[11][0], item[9][0]
            thread = tracks.get(track)
            if thread is None:
                continue
            time = (packet[8] or [0])[0]
            stack = open_spans[track]
            if kind == 1:
                name = interned[item[10][0]] if item[10] else item[23][0].decode()
                order += 1
                stack.append((names.one(name), time, order, stack[-1][0] if stack else None))
            elif kind == 2:
                name, start, number, parent = stack.pop()
                found[thread].append((start, number, Span(name, parent, start, time, True, True, None)))
    for thread, spans in found.items():
        form.spans[thread] = [span for _, _, span in sorted(spans, key=lambda item: item[:2]) if span.name != OTHER]
    return form


def sqlite(path, names):
    form = Form("sqlite", stacks=False)
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = base.execute("SELECT calls.id, functions.name, parent, pid, tid, start, end, called, returned, "
                        "end_instruction - first_instruction FROM calls JOIN functions ON functions.id = function "
                        "ORDER BY start, calls.id").fetchall()
    by_id = {row[0]: names.one(row[1] or UNKNOWN) for row in rows}
    for _, name, parent, pid, tid, start, end, called, returned, instructions in rows:
        name, outer = names.one(name or UNKNOWN), by_id.get(parent)
        if pid is None or name == OTHER:
            continue
        if called:
            form.edges[pid, tid][outer, name] += 1
        form.spans[pid, tid].append(Span(name, outer, start, end, bool(called), bool(returned), instructions))
    base.close()
    return form


# ---- the report ----

ROW = re.compile(r" *[\d.]+ % +([\d,]+) +([\d,]+|-)? +(.*?)$")


def number(text):
    return int(text.replace(",", "")) if text and text != "-" else 0


def object_of(text):
    match = re.match(r"(.*) \(([^()]*)\)$", text)
    return (match.group(1), match.group(2)) if match else (text, None)


def report(command, recording, objects, functions, names):
    """command: ntrace report with its options; objects: file names of the programs whose functions are wanted. Callers
    are asked for each of the functions."""
    form = Form("report", stacks=False, spans=False, threads=False)
    run = subprocess.run([*command, "--json", "--limit", "0", recording], check=True, capture_output=True, text=True).stdout
    form.own, form.inclusive = collections.Counter(), collections.Counter()
    form.edge_sums = collections.Counter()
    for item in json.loads(run)["functions"]:
        name = names.one(item.get("demangled") or item["function"] or UNKNOWN)
        if (item["object"] or "").rsplit("/", 1)[-1] in objects and name != OTHER:
            form.own[name] += item["instructions"]
            form.inclusive[name] += item["total"]
            form.calls[name] += item["calls"]
    for function in functions:
        out = subprocess.run([*command, "--limit", "0", "--callers", function, recording], capture_output=True, text=True).stdout
        callee = None
        for line in out.splitlines():
            match = ROW.match(line)
            head = re.match(r"(\S.*): [\d,]+ calls, ", line)
            if head:
                name, where = object_of(head.group(1))
                callee = names.one(name) if where in objects else None
            elif match and callee:
                caller = names.one(object_of(match.group(3))[0])
                form.edge_sums[caller, callee] += number(match.group(1))
                if number(match.group(2)):
                    form.edges[None][caller, callee] += number(match.group(2))
    return form
