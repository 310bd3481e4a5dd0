#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""The functions of a recording that executed most instructions. hot_functions.py RECORDING [N]"""

import sys

import ntrace


def main() -> None:
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with ntrace.Session(sys.argv[1]) as session:
        functions = session.hot_functions()
        for note in session.notes:
            print("note:", note, file=sys.stderr)
    total = sum(function.instructions for function in functions)
    for function in functions[:limit]:
        print("%5.1f %% %d instructions, %d calls: %s %s %s" % (
            100 * function.instructions / total, function.instructions, function.calls,
            function.domain, function.object.rsplit("/", 1)[-1], function.name or "[no symbol]"))


main()
