# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Errors of the library as exceptions."""

import ctypes
import os

from . import _abi


class Error(Exception):
    """What the library said. code is its number (enum ntrace_error)."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def check(result: int, what: str, reason: str = "") -> int:
    """Passes on what is no error; of one it says what it was done to, and the library's text."""
    if result >= 0:
        return result
    if result == _abi.ERR_NOMEM:
        raise MemoryError(what)
    number = ctypes.get_errno()
    if result == _abi.ERR_IO and number:
        raise OSError(number, reason or "%s: %s" % (what, os.strerror(number)))
    text = reason or _abi.library.strerror(result).decode()
    raise Error(result, "%s: %s" % (what, text))
