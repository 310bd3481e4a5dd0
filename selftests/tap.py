# SPDX-License-Identifier: GPL-2.0-only
"""TAP for Python scripts:

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    from tap import done, ok

A script that dies prints no plan, and so has failed.
"""
import sys

count = failed = 0
print("TAP version 13", flush=True)


def ok(good, text, *why):
    """Prints one result; if it is a failure, also the items of why."""
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {text}", flush=True)
    if not good:
        for item in why:
            for line in (item if isinstance(item, str) else repr(item)[:500]).splitlines():
                print("#", line, flush=True)
    return good


def skip(text, why):
    """Prints one skipped result."""
    global count
    count += 1
    print(f"ok {count} - {text} # SKIP {why}", flush=True)


def done():
    """Prints the plan and ends the script."""
    print(f"1..{count}", flush=True)
    sys.exit(failed != 0)
