#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that ntrace report --json --sort KEY sorts by KEY.

usage: orders.py FILE...   each is named KEY.json, and has all functions

"""
import json
import os
import sys

KEYS = {"self": "instructions", "total": "total", "calls": "calls", "time": "ticks", "total-time": "total_ticks"}


def main():
    seen = set()
    for path in sys.argv[1:]:
        key = os.path.basename(path).removesuffix(".json")
        functions = json.load(open(path))["functions"]
        if key in KEYS:
            values = [-item[KEYS[key]] for item in functions]
        elif key == "name":
            values = [(item.get("demangled") or item["function"] or "[no symbol]").encode() for item in functions]
        else:
            values = [os.path.basename(item["object"] or "").encode() for item in functions]
            values = [value for value in values if not value.startswith(b"[")]
        if values != sorted(values) or len(set(values)) < 5 - 3 * (key == "object"):
            sys.exit(f"{key}: not in order: {values[:20]}")
        seen.add(tuple(sorted((item["address"], item["function"] or "", item["instructions"], item["total"]) for item in functions)))
    if len(seen) != 1:
        sys.exit("not the same functions in each order")


if __name__ == "__main__":
    main()
