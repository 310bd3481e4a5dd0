#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random keys for ntrace browse, on terminals of random sizes: it must neither crash nor hang.

browse_random.py SEED KEYS NTRACE ARGUMENT...: prints "ok TEXT" or "failed TEXT".
"""
import random
import sys

from terminal import Terminal

SEED, KEYS, COMMAND = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
WORDS = ["j", "k", "s", "S", "o", "O", "x", "X", "u", "U", " ", "b", "d", "\x15", "g", "G", "n", "N", "]", "[", "v", "w", "=", "h", "q\x0c",
         "T\x1b", "Tj\r", "TG\r", "ma", "'a", "'z", "/both\r", "?odd\r", "/0x10032\r", "/x.c:3\r", "/\r", "?\x1b", "t1ms\r", "t@9\r", "t\x07",
         "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1bOP", "\x0c", "99", "7", "0", "\x03", "\x1b", "\x7f", "\xff", "\t", "é"]
generator = random.Random(SEED)


def begin():
    started = Terminal([sys.argv[3], "browse", *sys.argv[4:]], rows=30, columns=100,
                       term=generator.choice(["linux", "vt100", "vt220"]), MALLOC_PERTURB_="165", UBSAN_OPTIONS="print_stacktrace=1")
    # The interrupt key would end it while it opens the trace.
    started.wait_for("h shows the keys")
    started.resize(generator.randrange(1, 60), generator.randrange(1, 200))
    return started


terminal, done, starts = begin(), 0, 1
wrong = None
while done < KEYS and not wrong:
    word = generator.choice(WORDS)
    done += 1
    # q ends the browser, but not its other screens.
    if word.startswith("q"):
        terminal.type("\x1bq\x1bq")
        status = terminal.close()
        if status or terminal.stderr:
            wrong = f"status {status} after {done} keys: {terminal.stderr}"
        terminal, starts = begin(), starts + 1
    elif generator.random() < 0.03:
        terminal.resize(generator.randrange(1, 60), generator.randrange(1, 200))
    elif generator.random() < 0.1:
        terminal.type("".join(chr(generator.randrange(1, 256)) for _ in range(5)).replace("\x1a", "").replace("q", "").replace("Q", ""))
    else:
        terminal.type(word)
    if terminal.process.poll() is not None and not wrong:
        status = terminal.close()
        wrong = f"it ended with {status} after {done} keys: {terminal.stderr}"
if not wrong:
    terminal.type("\x1bq\x1bq\x1bq")
    status = terminal.close()
    wrong = f"status {status} at the end: {terminal.stderr}" if status or terminal.stderr else None
print("failed" if wrong else "ok", f"{done} random keys, {starts} starts, seed {SEED}", wrong or "")
