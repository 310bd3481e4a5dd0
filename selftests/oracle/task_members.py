#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints threads=PID:TGID:PARENT for the witness: the offsets of pid, tgid and real_parent in the struct task_struct of
a kernel image (not compressed), read from its BTF.

usage: task_members.py IMAGE
"""
import struct
import sys

MAGIC = struct.pack("<HBB", 0xeb9f, 1, 0)
MEMBERS = ("pid", "tgid", "real_parent")
# Bytes after struct btf_type for kinds other than those whose size depends on vlen.
EXTRA = {1: 4, 3: 12, 14: 4, 17: 4}
PER_ENTRY = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}


def types(data, start):
    """(name offset, kind, flag, members as bytes) of each type, and the strings."""
    length, type_at, type_size, string_at, string_size = struct.unpack_from("<5I", data, start + 4)
    base = start + length
    strings = data[base + string_at:base + string_at + string_size]
    at, end = base + type_at, base + type_at + type_size
    found = []
    while at < end:
        name, info, _ = struct.unpack_from("<3I", data, at)
        kind, count = info >> 24 & 31, info & 0xffff
        size = EXTRA.get(kind, 0) + count * PER_ENTRY.get(kind, 0)
        found.append((name, kind, info >> 31, data[at + 12:at + 12 + size]))
        at += 12 + size
    return found, strings


def offsets(data):
    start = -1
    while (start := data.find(MAGIC, start + 1)) >= 0:
        length, type_at, type_size, string_at, string_size = struct.unpack_from("<5I", data, start + 4)
        if length != 24 or type_at or string_at < type_size or start + length + string_at + string_size > len(data):
            continue
        found, strings = types(data, start)

        def text(at):
            return strings[at:strings.index(b"\0", at)].decode()

        for name, kind, flag, members in found:
            if kind == 4 and text(name) == "task_struct":
                places = {text(member): (offset & 0xffffff if flag else offset) // 8
                          for member, _, offset in struct.iter_unpack("<3I", members)}
                return [places[member] for member in MEMBERS]
    raise SystemExit("no BTF with task_struct")


print("threads=" + ":".join(map(str, offsets(open(sys.argv[1], "rb").read()))))
