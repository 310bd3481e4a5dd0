#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Where the bits of a trace go, while the program goes on. message_bits.py TRACE [PARAMS [SLICES]]

One line for each slice: what was executed up to there, in parcels of 16 bits as I-CNT
counts them, and the bits of each type of message.
"""

import sys
from collections import Counter

import ntrace


def main() -> None:
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    messages = ntrace.Messages(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    slices = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    total = int(sum(messages["ICNT"]))
    bits = [Counter() for _ in range(slices)]
    executed = 0
    for name, length, icnt in zip(messages.text("tcode"), messages["length"], messages["ICNT"]):
        executed += int(icnt)
        bits[min(executed * slices // max(total, 1), slices - 1)][name] += 8 * int(length)
    names = sorted(set(messages.text("tcode")))
    print("parcels", *names)
    for number, counter in enumerate(bits):
        print(total * (number + 1) // slices, *(counter[name] for name in names))
    print("%d messages, %.3f bits per parcel" % (
        len(messages), 8 * int(sum(messages["length"])) / max(total, 1)))
    if messages.errors or messages.pending:
        print("the trace is damaged in %d places" % (len(messages.errors) + bool(messages.pending)))


main()
