# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Messages of a stream, by columns."""

import ctypes
import os
from typing import Any, Callable, Dict, List, Union

from . import _abi
from ._errors import check
from ._params import Params, take
from ._table import Layout, Table, bits, layout

_CHUNK = 1 << 20
_ROWS = 4096

Source = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]"]


def read(source: Source) -> bytes:
    """A trace: bytes as they are, else the content of the file of that name."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    with open(source, "rb") as file:
        return file.read()


def walk(data: bytes, params: Params, message: Callable[[int], None],
         error: Callable[[_abi.Message], None], rows: Any) -> int:
    """Reads all messages into rows[n], n from 0 again when they are full. Bytes left over."""
    library = _abi.library
    reader = _abi.Reader()
    check(library.reader_init(ctypes.byref(reader), ctypes.byref(params.raw), True),
          "stream parameters")
    at, size, count = ctypes.addressof(rows), ctypes.sizeof(_abi.Message), len(rows)
    pointer, step, index = ctypes.byref(reader), library.reader_next, 0
    for start in range(0, len(data), _CHUNK):
        chunk = data[start:start + _CHUNK]
        library.reader_feed(pointer, chunk, len(chunk))
        while True:
            event = step(pointer, at + index * size)
            if event == _abi.WIRE_MESSAGE:
                message(index)
                index = (index + 1) % count
            elif event == _abi.WIRE_ERROR:
                error(rows[index])
            else:
                break
    return int(library.reader_pending(pointer))


class Messages(Table):
    """Messages: columns offset, length, tcode, flags, present, and each field by its name.

    A field that a message does not have is 0: has() tells. text("tcode") has the names.
    errors: offsets of reserved MSEO codes; pending: bytes of a message that is cut off.
    """

    def __init__(self, source: Source, params: Union[Params, str, None] = None) -> None:
        """source: bytes, or the name of a file with nothing but trace in it."""
        self.params = take(params)
        data = read(source)
        rows = (_abi.Message * _ROWS)()
        records = bytearray()
        self.errors: List[int] = []
        filled = 0

        def keep(index: int) -> None:
            nonlocal filled
            filled = index + 1
            if filled == _ROWS:
                records.extend(rows)
                filled = 0

        self.pending = walk(data, self.params, keep, lambda m: self.errors.append(m.offset), rows)
        size = ctypes.sizeof(_abi.Message)
        records += memoryview(rows).cast("B")[:filled * size]
        names = _abi.names(_abi.library.tcode_dialect_name, 64, self.params.dialect)
        super().__init__(bytes(records), size, _columns(), {"tcode": names})

    def has(self, field: str) -> Any:
        """For each message 1 or 0: does it have the field ("ICNT", "TSTAMP", ...)?"""
        return bits(self["present"], 1 << _abi.FIELDS.index(field))

    def fields(self, index: int) -> Dict[str, int]:
        """The fields that one message has."""
        row = self[index]
        return {name: getattr(row, name) for number, name in enumerate(_abi.FIELDS)
                if row.present >> number & 1}


def _columns() -> Layout:
    columns = layout(_abi.Message, "offset length tcode flags present")
    for number, name in enumerate(_abi.FIELDS):
        columns[name] = (_abi.Message.field.offset + 8 * number, "Q")
    return columns
