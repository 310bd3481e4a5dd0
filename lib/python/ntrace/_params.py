# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""What a decoder must know and the stream does not say."""

import ctypes
from typing import Any, Optional, Union

from . import _abi
from ._errors import Error


class Params:
    """Parameters of a stream, from text as the command takes it: Params("srcbits=2,xlen=32").

    Members as in struct ntrace_params: src_bits, xlen, timestamp_bits, ...
    """

    def __init__(self, text: str = "", raw: Optional[_abi.Params] = None) -> None:
        self.raw = _abi.Params()
        if raw is not None:
            ctypes.pointer(self.raw)[0] = raw
            # The text belongs to the recording: this object keeps its own.
            self.raw.isa = raw.isa.split(b",")[0] if raw.isa else None
            return
        _abi.library.params_init(ctypes.byref(self.raw))
        bad = ctypes.c_char_p()
        # The ISA string points into it.
        self.text = encoded = text.encode()
        error = _abi.library.params_parse(ctypes.byref(self.raw), encoded, ctypes.byref(bad))
        if error:
            raise Error(error, "stream parameters: cannot use '%s'" % (bad.value or encoded).decode())

    def __getattr__(self, name: str) -> Any:
        if name == "raw" or name not in (field[0] for field in _abi.Params._fields_):
            raise AttributeError(name)
        value = getattr(self.raw, name)
        if name == "isa":
            return value.split(b",")[0].decode() if value else ""
        return value

    def __str__(self) -> str:
        text = ctypes.create_string_buffer(1024)
        _abi.library.params_format(ctypes.byref(self.raw), text, len(text))
        return text.value.decode()

    def __repr__(self) -> str:
        return "Params(%r)" % str(self)


def take(params: Union[Params, str, None]) -> Params:
    """What a caller gave, as parameters."""
    return params if isinstance(params, Params) else Params(params or "")
