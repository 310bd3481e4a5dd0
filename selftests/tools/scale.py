# SPDX-License-Identifier: GPL-2.0-only
"""Makes inputs with many files, programs, processes, threads or segments.

usage: scale.py DIRECTORY TRACE PROGRAM COUNT

TRACE is the trace of a piece, PROGRAM the file that it executes, mapped at 0x10000. Makes DIRECTORY/KIND.1 with COUNT items and
DIRECTORY/KIND.2 with twice as many; prints the kinds.
"""
import os
import struct
import sys

DIRECTORY, TRACE, PROGRAM, COUNT = *sys.argv[1:4], int(sys.argv[4])
# sample_type TID, TIME, CPU, IDENTIFIER
SAMPLE_TYPE = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16
COMM, MMAP2, AUX, SWITCH = 3, 10, 11, 15
EXEC = 0x2000
EVENT = 7


def record(kind, misc, body, tid, time):
    body += struct.pack("<IIQIIQ", tid[0], tid[1], time, 0, 0, EVENT)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    text = text.encode() + b"\0"
    return text + bytes(-len(text) % 8)


def comm(pid, tid, name, time=0, misc=0):
    return record(COMM, misc, struct.pack("<II", pid, tid) + padded(name), (pid, tid), time)


def mmap2(pid, address, offset, name, time=0):
    return record(MMAP2, 2, struct.pack("<IIQQQIIQQII", pid, pid, address, 0x1000, offset, 0, 0, 0, 0, 5, 2) + padded(name), (pid, pid), time)


def program(pid, time=0):
    return mmap2(pid, 0x10000, 0x1000, PROGRAM, time)


def recording(name, records, trace, count):
    """The trace of @count pieces; @records(i) are those before piece @i, a piece is (pid, tid, time)."""
    os.makedirs(f"{name}/images", exist_ok=True)
    body = b""
    for i in range(count):
        before, piece = records(i)
        body += b"".join(before)
        if piece:
            body += record(AUX, 0, struct.pack("<QQQ", i * len(trace), len(trace), 0), piece[:2], piece[2])
    attributes = struct.pack("<IIQQQQQ", 1, 112, 9, 0, SAMPLE_TYPE, 0, 1 << 18).ljust(112, b"\0") + struct.pack("<QQ", 104, 8)
    data = 104 + 8 + len(attributes)
    header = struct.pack("<8sQQ", b"PERFILE2", 104, 128) + struct.pack("<QQQQQQ", 112, len(attributes), data, len(body), 0, 0) + bytes(32)
    with open(f"{name}/data", "wb") as file:
        file.write(header + struct.pack("<Q", EVENT) + attributes + body)
    with open(f"{name}/aux.0", "wb") as file:
        file.write(trace * count)
    with open(f"{name}/params", "w", encoding="utf-8") as file:
        file.write("ntrace-recording 1\nclock monotonic\nprivilege 1\nstream 0\nfile aux.0\ncpu 4294967295\nparams mode=htm\n"
                   f"bytes {len(trace) * count}\nevent {EVENT}\nposition 0\n")


def files(name, count):
    """A process maps many files."""
    last = count - 1
    recording(name, lambda i: ([mmap2(42, 0x100000000 + i * 0x2000, 0, f"/nonexistent/lib{i:06}.so")] + ([program(42)] if i == last else []),
                               (42, 42, 1000) if i == last else None), PIECE, count)


def programs(name, count):
    """A process calls exec many times."""
    recording(name, lambda i: ([comm(42, 42, "program", 2 * i + 1, EXEC), program(42, 2 * i + 1)], (42, 42, 2 * i + 2)), PIECE, count)


def processes(name, count):
    """Many processes, each with its program."""
    recording(name, lambda i: ([comm(1000 + i, 1000 + i, f"process-{i}"), program(1000 + i)], (1000 + i, 1000 + i, i + 1)), PIECE, count)


def threads(name, count):
    """A process has many threads."""
    recording(name, lambda i: ([comm(42, 1000 + i, f"worker-{i}")] + ([program(42)] if not i else []), (42, 1000 + i, i + 1)), PIECE, count)


def segments(name, count):
    """An ELF file has many segments, and two symbols in each."""
    code, text = b"\x01\xa0" * 8, (64 + 56 * count + 4095) & ~4095
    headers = b"".join(struct.pack("<IIQQQQQQ", 1, 5, text, 0x10000 + i * 0x1000, 0, len(code), len(code), 4096) for i in range(count))
    strings = b"\0f\0"
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x10000 + (i * 7919 % count) * 0x1000 + i // count * 2, 2)
                                   for i in range(2 * count))
    at = text + len(code)
    tables = at + len(symbols) + len(strings)
    sections = bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, at, len(symbols), 2, 1, 8, 24) + \
        struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at + len(symbols), len(strings), 0, 0, 1, 0)
    header = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, 0x10000, 64, tables, 5, 64, 56, count, 64, 3, 0)
    with open(name, "wb") as file:
        file.write((header + headers).ljust(text, b"\0") + code + symbols + strings + sections)


with open(TRACE, "rb") as opened:
    PIECE = opened.read()
for make in files, programs, processes, threads, segments:
    for times in (1, 2):
        make(f"{DIRECTORY}/{make.__name__}.{times}", times * COUNT)
    print(make.__name__)
