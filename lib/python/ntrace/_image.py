# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Programs, and where they are in memory."""

import ctypes
import os
from typing import Any, NamedTuple, Optional, Tuple, Union

from . import _abi
from ._errors import check

Path = Union[str, "os.PathLike[str]"]


class Handle:
    """Something of the library that is given back by close(), or at the end of a with block."""

    _free: Optional[str] = None

    def __init__(self, handle: Optional[int]) -> None:
        self._handle = handle

    @property
    def handle(self) -> int:
        """The pointer of the library."""
        if not self._handle:
            raise ValueError("%s is closed" % type(self).__name__)
        return self._handle

    def close(self) -> None:
        """Gives it back. Tables that were made from it stay."""
        handle, self._handle = self._handle, None
        if handle and self._free:
            getattr(_abi.library, self._free)(handle)

    def __repr__(self) -> str:
        return "<ntrace.%s%s>" % (type(self).__name__, "" if self._handle else ", closed")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()


class Location(NamedTuple):
    """What stands at an address. name: the object's, symbol: None if there is none."""
    name: str
    link_address: int
    symbol: Optional[str]
    offset: int


class Space(Handle):
    """An address space: programs at addresses."""

    _free = "space_put"

    def __init__(self, name: str = "") -> None:
        handle = ctypes.c_void_p()
        check(_abi.library.space_new(ctypes.byref(handle), name.encode(), None), name)
        super().__init__(handle.value)

    def map(self, program: Union["Object", Path], bias: int = 0) -> "Space":
        """Maps a program where it is linked plus bias. Returns the space."""
        if isinstance(program, Object):
            check(_abi.library.space_map_linked(self.handle, program.handle, bias), program.name)
        else:
            with Object(program) as opened:
                self.map(opened, bias)
        return self

    def locate(self, address: int) -> Optional[Location]:
        """What stands at an address; None: nothing is known there."""
        location = _abi.Location()
        if _abi.library.space_locate(self.handle, address, ctypes.byref(location)):
            return None
        name = _abi.text(_abi.library.object_name(location.object))
        symbol = _abi.text(location.symbol) if location.symbol else None
        offset = location.link_address - location.symbol_start if symbol else 0
        return Location(name, location.link_address, symbol, offset)


class Object(Handle):
    """A program or library, an ELF file for RISC-V."""

    _free = "object_put"

    def __init__(self, path: Path, debug: bool = True) -> None:
        """debug: its separate debug file is looked for, too, where /usr/lib/debug has it."""
        handle = ctypes.c_void_p()
        encoded = os.fsencode(path)
        check(_abi.library.object_open_elf(ctypes.byref(handle), encoded), os.fspath(path))
        super().__init__(handle.value)
        self._linked: Optional[Space] = None
        if debug:
            # That there is none is no error.
            _abi.library.object_add_debug_file(handle, None)

    @classmethod
    def borrowed(cls, pointer: int) -> "Object":
        """One that something else has opened: a reference to it."""
        self = cls.__new__(cls)
        Handle.__init__(self, _abi.library.object_get(pointer))
        self._linked = None
        return self

    @property
    def name(self) -> str:
        """Its path."""
        return _abi.text(_abi.library.object_name(self.handle))

    @property
    def build_id(self) -> bytes:
        """Empty if it has none."""
        size = ctypes.c_size_t()
        data = _abi.library.object_build_id(self.handle, ctypes.byref(size))
        return ctypes.string_at(data, size.value) if data and size.value else b""

    def symbol(self, link_address: int) -> Tuple[Optional[str], int]:
        """Function that holds a link address, and how far behind its beginning."""
        if self._linked is None:
            self._linked = Space(self.name).map(self)
        location = self._linked.locate(link_address)
        return (location.symbol, location.offset) if location else (None, 0)

    def close(self) -> None:
        """Gives it back."""
        if self._linked is not None:
            self._linked.close()
            self._linked = None
        super().close()
