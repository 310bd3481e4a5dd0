# SPDX-License-Identifier: GPL-2.0-only
"""Writes files as CoreSight formatter frames, by ARM IHI 0029 and without the library.

usage: frames.py OUT SEED SYNC ID=FILE ...

SEED interleaves the bytes of the files; 0 writes one file after the other. SYNC=1 adds
synchronization words and half-words. If an ID can be written in two ways, SEED chooses one;
IDs are repeated now and then.
"""
import random
import sys

WORD = b"\xff\xff\xff\x7f"


def mixed(files, draw):
    """Returns [(source, byte)] in the order of the trace."""
    if not draw:
        return [(source, byte) for source, data in files for byte in data]
    left = [[source, data, 0] for source, data in files if data]
    items = []
    while left:
        entry = draw.choice(left)
        for _ in range(draw.choice((1, 1, 2, 3, 7, 40))):
            if entry[2] < len(entry[1]):
                items.append((entry[0], entry[1][entry[2]]))
                entry[2] += 1
        if entry[2] == len(entry[1]):
            left.remove(entry)
    return items


class Frame:
    """Eight pairs of bytes; the odd byte of the last pair holds the eight auxiliary bits."""

    def __init__(self):
        self.bytes, self.bits = [], 0

    def pair(self, even, odd, bit):
        self.bits |= bit << len(self.bytes) // 2
        self.bytes += [even] if len(self.bytes) == 14 else [even, odd]

    def whole(self):
        return len(self.bytes) == 15

    def last(self):
        return len(self.bytes) == 14


def frames(items, draw):
    out, now = [], None
    queue = list(reversed(items))

    def pop():
        return queue.pop()[1] if queue else 0

    def next_source(ahead):
        return queue[-1 - ahead][0] if len(queue) > ahead else 0

    while queue:
        frame = Frame()
        while not frame.whole():
            first, second = next_source(0), next_source(1)
            if first != now:
                # An ID with bit 0 set, and a data byte of it; in byte 14 the auxiliary bit has no
                # meaning.
                now = first
                bit = draw.randrange(2) if draw and frame.last() else 0
                frame.pair(now << 1 | 1, 0 if frame.last() else pop(), bit)
            elif frame.last():
                byte = pop()
                frame.pair(byte & 0xfe, 0, byte & 1)
            elif second != now:
                # The byte is stored after the ID that follows it.
                byte = pop()
                now = second
                frame.pair(now << 1 | 1, byte, 1)
            elif draw and not draw.randrange(20):
                frame.pair(now << 1 | 1, pop(), draw.randrange(2))
            else:
                byte = pop()
                frame.pair(byte & 0xfe, pop(), byte & 1)
        out.append(bytes(frame.bytes) + bytes([frame.bits]))
    return out


def with_synchronization(parts, draw):
    out = bytearray()
    for frame in parts:
        if not draw.randrange(5):
            out += WORD * draw.randrange(1, 4)
        for at in range(0, 16, 2):
            if not draw.randrange(10):
                out += WORD[2:]
            out += frame[at:at + 2]
    return out


def main():
    draw = random.Random(int(sys.argv[2])) if int(sys.argv[2]) else None
    files = []
    for word in sys.argv[4:]:
        source, path = word.split("=", 1)
        with open(path, "rb") as file:
            files.append((int(source, 0), file.read()))
    parts = frames(mixed(files, draw), draw)
    with open(sys.argv[1], "wb") as file:
        file.write(with_synchronization(parts, random.Random(1)) if int(sys.argv[3]) else b"".join(parts))


main()
