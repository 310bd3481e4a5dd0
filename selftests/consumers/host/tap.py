# SPDX-License-Identifier: GPL-2.0-only
"""TAP for scripts."""
import sys

count = failed = 0


def ok(good, text, *why):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {text}")
    if not good and why:
        print("#", *(repr(item)[:500] for item in why))


def done():
    print(f"1..{count}")
    sys.exit(failed != 0)
