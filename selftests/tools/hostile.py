# SPDX-License-Identifier: GPL-2.0-only
"""Makes inputs that no encoder and no recorder would, of about the requested number of bytes.

usage: hostile.py DIRECTORY BYTES

DIRECTORY/KIND.1 has that many bytes, DIRECTORY/KIND.2 twice as many. Prints the kinds.
"""
import json
import random
import struct
import sys


def message(tcode, *fields):
    """Fixed part and variable fields, as lists of 6-bit slices; the last one ends the message."""
    slices = [[tcode]] + [list(field) for field in fields]
    out = bytearray()
    for index, field in enumerate(slices):
        for at, value in enumerate(field):
            ends = at == len(field) - 1 and index
            last = index == len(slices) - 1 and at == len(field) - 1
            out.append(value << 2 | (3 if last else 1 if ends else 0))
    return bytes(out)


def fill(part, size):
    return (part * (size // len(part) + 1))[:size]


# ProgTraceSync with SYNC 3, I-CNT 0 and the address 0x1000.
SYNC = bytes.fromhex("240d0083")


def noise(size):
    return random.Random(size).randbytes(size)


def resource_full(size):
    """DirectBranch of 5 bytes with I-CNT 2^22 - 1: nearly the largest amount of code for that
    many bytes."""
    return SYNC + fill(message(3, [63, 63, 63, 15]), size - len(SYNC))


def sources(size):
    """A SRC of 12 bits that differs in each message."""
    out = bytearray()
    for n in range(size // 4 + 1):
        out += bytes([62 << 2, (n & 63) << 2, (n >> 6 & 63) << 2, 3])
    return bytes(out[:size])


def lines(line):
    return lambda size: fill(line.encode() + b"\n", size)


def perf_data(records):
    """perf.data with one event, and @records after its header."""
    attributes = struct.pack("<IIQQQQ", 1, 136, 0, 1, 7, 0).ljust(136, b"\0") + struct.pack("<QQ", 0, 0)
    data = 104 + len(attributes)
    return struct.pack("<8sQQ", b"PERFILE2", 104, 152) + struct.pack("<QQQQQQ", 104, len(attributes), data, len(records), 0, 0) + \
        bytes(32) + attributes + records


KINDS = {
    "random": noise,
    "text": lines("The quick brown fox jumps over the lazy dog."),
    "elf": lambda size: b"\x7fELF\2\1\1" + bytes(9) + noise(size - 16),
    "zeros": bytes,
    "idle": lambda size: b"\xff" * size,
    "branch": lambda size: SYNC + fill(message(3, [5]), size - len(SYNC)),
    "syncs": lambda size: fill(SYNC, size),
    "endless": lambda size: b"\x0c" + bytes(size - 2) + b"\x03",
    "full": resource_full,
    "sources": sources,
    "padding": lambda size: fill(b"\x01" + bytes(15), size),
    "barriers": lambda size: fill(b"\xff\xff\xff\x7f", size),
    "json": lines(json.dumps({"name": "DirectBranch", "ICNT": 5})),
    "json-line": lambda size: (b'{"raw":"' + b"03 " * size)[:size],
    "json-deep": lambda size: b"[" * size,
    "json-idle": lines('{"idle":1}'),
    "pcs": lines("0x1000"),
    "pcs-line": lambda size: b"0x" + b"1" * (size - 2),
    "perf-empty": lambda size: perf_data(bytes(size)),
    "perf-tiny": lambda size: perf_data(fill(struct.pack("<IHH", 68, 0, 8), size)),
    "perf-cut": lambda size: perf_data(fill(struct.pack("<IHH", 9, 0, 65528), size)),
}

if __name__ == "__main__":
    for kind, make in KINDS.items():
        for times in (1, 2):
            with open(f"{sys.argv[1]}/{kind}.{times}", "wb") as file:
                file.write(make(times * int(sys.argv[2])))
        print(kind)
