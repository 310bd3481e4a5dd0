#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the field numbers of perfetto.proto with a trace that Perfetto's own library wrote.

usage: perfetto_numbers.py TRACE PROTO
Chromium, which contains that library, made TRACE; protoc reads PROTO. Fields with wrong numbers would be missing or
have impossible values. Therefore numbers of names must be interned in their sequence, tracks must be described, and
some names must be known names of Chromium (not each version has all).

Prints "N packets, N events, N names, N tracks: all fit", or fails with the reason.

"""
import collections
import os
import re
import subprocess
import sys

EVENTS = {"ThreadController active", "NavigationRequest::BeginNavigation", "WebContents"}


def decode(trace, proto):
    """Lines of the text format, without the fields that PROTO lacks."""
    with open(trace, "rb") as file:
        text = subprocess.run(["protoc", "--decode=Trace", "--proto_path=" + (os.path.dirname(proto) or "."),
                               os.path.basename(proto)], stdin=file, check=True, capture_output=True, text=True).stdout
    return (line.strip() for line in text.splitlines() if not re.match(r" *\d+[: ]", line) or line.endswith("{"))


def message(lines):
    fields = collections.defaultdict(list)
    for line in lines:
        if line == "}":
            return fields
        if line.endswith("{"):
            fields[line[:-2]].append(message(lines))
        else:
            name, value = line.split(": ", 1)
            fields[name].append(value.strip('"'))
    return fields


def only(values, what):
    assert len(values) == 1, f"{what}: {len(values)} values"
    return values[0]


class Trace:
    def __init__(self):
        self.interned = collections.defaultdict(dict)
        self.tracks, self.used, self.names = {}, set(), set()
        self.seen = collections.Counter()

    def intern(self, sequence, data):
        for kind in ("event_names", "event_categories"):
            for entry in data[kind]:
                self.interned[sequence][kind, only(entry["iid"], kind)] = only(entry["name"], kind)

    def event(self, sequence, event):
        self.seen["events"] += 1
        for kind, numbers in (("event_names", event["name_iid"]), ("event_categories", event["category_iids"])):
            for number in numbers:
                assert (kind, number) in self.interned[sequence], f"{kind} {number} is not interned"
                self.names.add(self.interned[sequence][kind, number])
        self.names.update(event["name"])
        self.used.update(event["track_uuid"])
        for kind in event["type"]:
            assert kind.startswith("TYPE_"), f"type {kind}"
            self.seen[kind] += 1
            if kind == "TYPE_SLICE_BEGIN":
                assert event["name_iid"] or event["name"], "a slice without a name"

    def packet(self, packet):
        self.seen["packets"] += 1
        self.seen["timestamp"] += len(packet["timestamp"])
        sequence = (packet["trusted_packet_sequence_id"] or [None])[0]
        flags = int((packet["sequence_flags"] or ["0"])[0])
        assert flags in (0, 1, 2, 3), f"sequence_flags {flags}"
        self.seen["needs incremental state"] += flags >> 1
        if flags & 1:
            self.interned[sequence].clear()
        for track in packet["track_descriptor"]:
            self.tracks[only(track["uuid"], "uuid")] = (track["parent_uuid"] or [None])[0]
            self.seen["named tracks"] += len(track["name"])
        for data in packet["interned_data"]:
            self.intern(sequence, data)
        for event in packet["track_event"]:
            assert sequence, "no sequence"
            self.event(sequence, event)

    def judge(self):
        for what in ("events", "timestamp", "TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_INSTANT", "named tracks",
                     "needs incremental state"):
            assert self.seen[what], f"no {what}"
        assert self.seen["timestamp"] > 0.9 * self.seen["packets"], "packets without time"
        assert len(EVENTS & self.names) > 1, f"no {EVENTS - self.names}"
        self.described(self.used, "tracks")
        self.described({parent for parent in self.tracks.values() if parent}, "parents")

    def described(self, tracks, what):
        """Nearly all: a process that starts or ends at that moment has no event, and track 0 never has one."""
        missing = tracks - self.tracks.keys() - {"0"}
        assert tracks and len(missing) <= len(tracks) / 10, f"{len(missing)} of {len(tracks)} {what} are not described"


def main():
    trace, lines = Trace(), decode(sys.argv[1], sys.argv[2])
    for line in lines:
        if line == "packet {":
            trace.packet(message(lines))
    trace.judge()
    print(f"{trace.seen['packets']} packets, {trace.seen['events']} events, {len(trace.names)} names, "
          f"{len(trace.tracks)} tracks: all fit")


main()
