#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Copies a recording whose trace is in CoreSight frames, and takes parts of the trace out.

usage: lose.py RECORDING OUT SEED

Each part is replaced with what the driver leaves at such a place: a barrier of four
synchronization words. The parts are whole frames, of any number, as the driver loses them.
"""
import os
import random
import re
import shutil
import sys

FRAME = 16
BARRIER = b"\xff\xff\xff\x7f" * 4


def lose(trace, draw):
    """Returns the trace with parts missing, and the number of them."""
    frames = len(trace) // FRAME
    count = draw.choice((1, 2, 3, 8, 30))
    # A start and a length for each; the lengths span from one frame to a tenth of the trace.
    parts = sorted((draw.randrange(1, frames), round(10 ** draw.uniform(0, 5))) for _ in range(count))
    out, at, gaps = bytearray(), 0, 0
    for start, length in parts:
        # Two gaps without trace between them are one.
        if start <= at and gaps:
            at = max(at, min(start + length, frames))
            continue
        out += trace[at * FRAME:start * FRAME] + BARRIER
        at = min(start + length, frames)
        gaps += 1
    return bytes(out) + trace[at * FRAME:], gaps


def main():
    source, target, seed = sys.argv[1:]
    with open(f"{source}/aux.0", "rb") as file:
        trace = file.read()
    trace, gaps = lose(trace, random.Random(int(seed)))
    os.makedirs(target)
    for name in os.listdir(source):
        if name not in ("aux.0", "params"):
            # A link that leads out of a recording is refused.
            (shutil.copytree if os.path.isdir(f"{source}/{name}") else shutil.copy)(f"{source}/{name}", f"{target}/{name}")
    with open(f"{target}/aux.0", "wb") as file:
        file.write(trace)
    with open(f"{source}/params", encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(?m)^bytes \d+$", f"bytes {len(trace)}", text)
    text = re.sub(r"(?m)^gaps \d+$", f"gaps {gaps}", text)
    with open(f"{target}/params", "w", encoding="utf-8") as file:
        file.write(text)


main()
