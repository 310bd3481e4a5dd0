#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs a program on a terminal.

    terminal.py OUTPUT LINES COLUMNS STEP... -- COMMAND...

Each STEP is COUNT:PATTERN:ACTION: after the program has written PATTERN COUNT times, this
script presses a key or sends a signal, as ACTION says. OUTPUT gets everything that the
program writes. Prints whether the terminal's modes are the same at the end as at the start;
exits with the command's status.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 150


def act(action, keys, program):
    if action.startswith("SIG"):
        program.send_signal(getattr(signal, action))
    else:
        os.write(keys, action.encode())


def run(output, size, steps, command):
    keys, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", *map(int, size), 0, 0))
    before = termios.tcgetattr(terminal)
    program = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    text, end = b"", time.monotonic() + PATIENCE
    while True:
        ended = program.poll() is not None
        if time.monotonic() > end:
            program.kill()
        while select.select([keys], [], [], 0 if ended else 0.1)[0]:
            text += os.read(keys, 65536)
        if ended:
            break
        if steps:
            count, pattern, action = steps[0].split(":")
            if text.count(pattern.encode()) >= int(count):
                act(action, keys, program)
                steps.pop(0)
    with open(output, "wb") as file:
        file.write(text)
    print("modes kept" if termios.tcgetattr(terminal) == before else "modes changed")
    if steps:
        print("not reached:", *steps)
    return program.returncode


def main():
    split = sys.argv.index("--")
    sys.exit(run(sys.argv[1], sys.argv[2:4], sys.argv[4:split], sys.argv[split + 1:]))


main()
