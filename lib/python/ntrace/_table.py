# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Tables: many equal structs of the library, read by columns.

A column is a numpy array where numpy is installed, else an array.array. It shares
no memory with the library, so it outlives everything it was made from.
"""

import array
import ctypes
import struct
from collections import namedtuple
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type, Union

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

# Of a column: offset within a record, code of the struct module.
Layout = Dict[str, Tuple[int, str]]

_CODES = {ctypes.c_uint8: "B", ctypes.c_bool: "B", ctypes.c_uint16: "H", ctypes.c_uint32: "I",
          ctypes.c_int32: "i", ctypes.c_uint: "I", ctypes.c_uint64: "Q", ctypes.c_size_t: "Q",
          ctypes.c_void_p: "Q", ctypes.c_char_p: "Q"}


def layout(record: Type[ctypes.Structure], names: str, base: int = 0) -> Layout:
    """Columns for members of a struct that stands at an offset of each record.

    names: of the members, with blanks between; column=member where the column has another.
    """
    types = {field[0]: field[1] for field in record._fields_}
    columns = {}
    for name in names.split():
        column, _, member = name.partition("=")
        member = member or column
        columns[column] = (base + getattr(record, member).offset, _CODES[types[member]])
    return columns


def column_of(code: str, values: List[int]) -> Any:
    """A column from numbers."""
    if numpy is not None:
        return numpy.array(values, dtype=code)
    return array.array(code, values)


def repeated(code: str, values: List[int], counts: List[int]) -> Any:
    """A column in which each number stands as often as its count says."""
    if numpy is not None:
        return numpy.repeat(numpy.array(values, dtype=code), counts)
    column = array.array(code)
    for value, count in zip(values, counts):
        column.extend([value] * count)
    return column


def bits(column: Any, mask: int) -> Any:
    """For each number of a column 1 or 0: has it one of these bits?"""
    if numpy is not None:
        return ((column & mask) != 0).astype("B")
    return array.array("B", (1 if value & mask else 0 for value in column))


# A column of a table: where it stands in the records, or what makes it.
Column = Union[Tuple[int, str], Callable[[], Any]]


class Table:
    """Rows and columns. table["name"] is a column, table[n] a row, len(table) their number."""

    def __init__(self, data: bytes, size: int, columns: Mapping[str, Column],
                 texts: Optional[Mapping[str, List[str]]] = None) -> None:
        """data: records of size bytes each; texts: what the numbers of a column are called."""
        self._data = data
        self._size = size
        self._columns = columns
        self._cache: Dict[str, Any] = {}
        self.texts = dict(texts or {})

    @property
    def columns(self) -> Tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return len(self._data) // self._size

    def _column(self, name: str) -> Any:
        place = self._columns[name]
        if callable(place):
            return place()
        offset, code = place
        if numpy is not None:
            kind = numpy.dtype({"names": ["x"], "formats": [code], "offsets": [offset],
                                "itemsize": self._size})
            return numpy.ascontiguousarray(numpy.frombuffer(self._data, dtype=kind)["x"])
        width = struct.calcsize("=" + code)
        form = struct.Struct("=%dx%s%dx" % (offset, code, self._size - offset - width))
        return array.array(code, (value for value, in form.iter_unpack(self._data)))

    def text(self, name: str) -> List[str]:
        """A column with names in place of numbers: of messages "tcode", of blocks "comm", ..."""
        words = self.texts[name]
        return [words[number] for number in self[name]]

    def _row(self, index: int) -> Any:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("row %d of a table of %d" % (index, len(self)))
        return self._record()(*(self._cell(index, name) for name in self._columns))

    def _record(self) -> Any:
        return namedtuple("Row", self._columns)

    def _cell(self, index: int, name: str) -> Any:
        place = self._columns[name]
        if callable(place):
            return self[name][index]
        return struct.unpack_from("=" + place[1], self._data, index * self._size + place[0])[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._columns:
                raise KeyError("no column %r, there are %s" % (key, ", ".join(self._columns)))
            if key not in self._cache:
                self._cache[key] = self._column(key)
            return self._cache[key]
        return self._row(key)

    def __iter__(self) -> Iterator[Any]:
        return map(self._record()._make, zip(*(self[name] for name in self._columns)))

    def __repr__(self) -> str:
        return "<%d rows of %s>" % (len(self), ", ".join(self._columns))
