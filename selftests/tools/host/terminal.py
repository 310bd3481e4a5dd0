# SPDX-License-Identifier: GPL-2.0-only
"""A terminal for programs that draw on one: a pseudo terminal, and pyte as its screen."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios

import pyte


class Terminal:
    """A command on a terminal of its own; leave it with close()."""

    def __init__(self, command, rows=40, columns=120, term="xterm", **environment):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.fd, child = pty.openpty()
        self.window(rows, columns)
        # LINES and COLUMNS would override the size of the terminal.
        inherited = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS", "NO_COLOR")}
        self.process = subprocess.Popen(command, stdin=child, stdout=child, stderr=subprocess.PIPE, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                        env={**inherited, "TERM": term, "LC_ALL": "C.UTF-8", **environment})
        os.close(child)
        self.raw = b""
        self.probe = 0

    def window(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self.window(rows, columns)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def read(self):
        """Takes some output. Return: False if there is no more."""
        if not select.select([self.fd], [], [], 120)[0]:
            raise TimeoutError("\n".join(self.lines()))
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def type(self, keys):
        data = keys if isinstance(keys, bytes) else keys.encode()
        while data:
            # The program may wait for its output to be read.
            ready = select.select([self.fd], [self.fd], [], 120)
            if ready[0] and not self.read():
                return
            if ready[1]:
                try:
                    data = data[os.write(self.fd, data):]
                except OSError:
                    return

    def wait(self, wanted):
        """Waits until wanted(lines) holds. Return: False if the program ended before."""
        while not wanted(self.lines()):
            if not self.read():
                return False
        return True

    def wait_for(self, text):
        return self.wait(lambda lines: any(text in line for line in lines))

    def press(self, keys):
        """Types keys, and waits until they have been handled: two unknown keys in turn, which have a message. Return: the screen;
        its last line is this message."""
        self.type(keys)
        self.probe ^= 1
        key = "YZ"[self.probe]
        self.type(key)
        if not self.wait(lambda lines: lines[-1].startswith(f"'{key}':")):
            raise EOFError("the program has ended:\n" + self.errors())
        return self.lines()

    def close(self):
        """Return: the exit status, after reading the rest of the output."""
        while self.read():
            pass
        os.close(self.fd)
        self.stderr = self.process.stderr.read().decode(errors="replace")
        return self.process.wait(120)

    def errors(self):
        self.close()
        return self.stderr
