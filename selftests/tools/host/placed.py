#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes builds of guest/placed.c whose only difference is the name of a function, and the build-id.

usage: placed.py PROGRAM DIRECTORY NAME...
DIRECTORY/NAME has a function NAME instead of right_code. A name that begins with "bare" has no build-id.
"""
import hashlib
import pathlib
import sys

NOTE = bytes([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0]) + b"GNU\0"
code = pathlib.Path(sys.argv[1]).read_bytes()
directory = pathlib.Path(sys.argv[2])
directory.mkdir()
for name in sys.argv[3:]:
    before, build_id, after = code.partition(NOTE)
    assert build_id and b"right_code\0" in code and len(name) <= len("right_code")
    note = NOTE.replace(b"GNU", b"???") if name.startswith("bare") else NOTE
    made = before + note + hashlib.sha1(name.encode()).digest() + after[20:]
    file = directory / name
    file.write_bytes(made.replace(b"right_code\0", name.encode().ljust(11, b"\0")))
    file.chmod(0o755)
