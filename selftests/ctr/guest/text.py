#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Copies the kernel's text from the running kernel's memory.

usage: text.py "ADDRESS T _stext" FILE FILE gets the address in its first
8 bytes, followed by up to 16 MiB from that address on.
"""
import struct
import sys

start = int(sys.argv[1].split()[0], 16)
with open("/proc/kcore", "rb") as core, open(sys.argv[2], "wb") as text:
    header = core.read(64)
    table, (size, count) = struct.unpack_from("<Q", header, 32)[0], struct.unpack_from("<HH", header, 54)
    for index in range(count):
        core.seek(table + index * size)
        kind, _, offset, address, _, length = struct.unpack("<IIQQQQ", core.read(40))
        if kind == 1 and address <= start < address + length:
            core.seek(offset + start - address)
            text.write(struct.pack("<Q", start) + core.read(min(16 << 20, address + length - start)))
            sys.exit()
sys.exit("/proc/kcore has no text")
