# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Tandem traces: every effect of each instruction of a hart."""

import ctypes
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _abi
from ._errors import Error, check
from ._messages import Source, read

_ROOM = 256
_CHUNK = 1 << 20
_NAME_MAX = 16

Register = Union[int, str]


class TandemField(NamedTuple):
    """One field. type is a name such as "register", "insn32"; id the number of a register or of additional state."""

    offset: int
    type: str
    id: int
    value: int
    address: int
    operation: int
    bytes: int
    failed: bool
    problem: str

    @property
    def name(self) -> str:
        """Name of the register or of the additional state, "" for other types."""
        if self.type in ("register", "add", "or"):
            return register_name(self.id)
        if self.type == "state":
            return (_abi.library.tandem_state_name(self.id) or b"").decode()
        return ""


def register_name(number: int) -> str:
    """Name of a register: "a0", "mepc", "csr0x7c0"."""
    text = ctypes.create_string_buffer(_NAME_MAX)
    return bytes(_abi.library.tandem_register_name(number, text)).decode()


def register_number(register: Register) -> int:
    """Number of a register in a trace: CSRs from 0, x registers from 0x1000, f registers from 0x1020 on."""
    number = int(_abi.library.tandem_register_number(register.encode()) if isinstance(register, str) else register)
    if number < 0:
        raise Error(number, "register '%s'" % register)
    return number


def _types() -> Dict[int, str]:
    """The name of each type, which is its first byte."""
    names = _abi.names(_abi.library.tandem_type_name, 0x12)
    return {number: name for number, name in enumerate(names) if name}


class Tandem:
    """A reader and a writer with the parameters that are not in a trace.

    trace = ntrace.Tandem(xlen=32)
    for field in trace.read("core.tandem"): ...
    file.write(trace.start(pc=0x80000000, priv=3))
    file.write(trace.group(0x00500513, pc=0x80000004, registers={"a0": 5}))
    """

    def __init__(self, xlen: int = 64, mlen: Optional[int] = None, flen: int = 64, flags: int = 0) -> None:
        self.raw = _abi.TandemParams()
        _abi.library.tandem_params_init(ctypes.byref(self.raw))
        self.raw.xlen, self.raw.mlen, self.raw.flen, self.raw.flags = xlen, mlen or xlen, flen, flags
        refusal = _abi.library.tandem_params_refusal(ctypes.byref(self.raw))
        if refusal:
            raise Error(_abi.ERR_INVALID, _abi.text(refusal))
        self.types = _types()
        self.numbers = {name: number for number, name in self.types.items()}

    # ---- reading ----

    def read(self, source: Source) -> Iterator[TandemField]:
        """The fields of a trace: bytes, or the name of a file. A damaged or cut trace is an Error after the fields before it."""
        library, reader = _abi.library, _abi.TandemReader()
        rows = (_abi.TandemField * _ROOM)()
        check(library.tandem_reader_init(ctypes.byref(reader), ctypes.byref(self.raw)), "tandem trace")
        data = read(source)
        for start in range(0, len(data), _CHUNK):
            chunk = data[start:start + _CHUNK]
            library.tandem_reader_feed(ctypes.byref(reader), chunk, len(chunk))
            while True:
                count = library.tandem_read(ctypes.byref(reader), rows, _ROOM)
                if count < 0:
                    raise Error(count, "offset 0x%x: %s" % (reader.offset, _abi.text(reader.error)))
                if not count:
                    break
                for row in rows[:count]:
                    yield self._field(row)
        if library.tandem_reader_pending(ctypes.byref(reader)):
            raise Error(_abi.ERR_FORMAT, "offset 0x%x: the trace ends in a field" % reader.offset)

    def _field(self, row: Any) -> TandemField:
        problem = (_abi.library.tandem_problem(row.flags) or b"").decode()
        return TandemField(row.offset, self.types[row.type], row.id, row.value, row.address, row.op,
                           1 << (row.size & 3), bool(row.size & _abi.TANDEM_FAILED), problem)

    # ---- writing ----

    def field(self, type: str, id: int = 0, value: int = 0) -> bytes:
        """The bytes of a field."""
        raw = _abi.TandemField(type=self.numbers[type], id=id, value=value & 0xffffffffffffffff)
        out = (ctypes.c_uint8 * _abi.TANDEM_FIELD_MAX)()
        length = _abi.library.tandem_write(ctypes.byref(self.raw), ctypes.byref(raw), out)
        if length < 0:
            raise Error(length, "field %s %d = 0x%x" % (type, id, value))
        return bytes(out[:length])

    def _state(self, pc: Optional[int], priv: Optional[int], registers: Mapping[Register, int]) -> List[bytes]:
        out = []
        if pc is not None:
            out.append(self.field("state", _abi.TANDEM_STATE_PC, pc))
        if priv is not None:
            out.append(self.field("state", _abi.TANDEM_STATE_PRIV, priv))
        return out + [self.field("register", register_number(name), value) for name, value in registers.items()]

    def start(self, pc: int, priv: Optional[int] = None, registers: Optional[Mapping[Register, int]] = None) -> bytes:
        """The group of the state before the first instruction."""
        return b"".join([self.field("begin"), self.field("init"), *self._state(pc, priv, registers or {}), self.field("end")])

    def group(self, insn: Optional[int], pc: Optional[int] = None, priv: Optional[int] = None,
              registers: Optional[Mapping[Register, int]] = None, address: Optional[int] = None,
              store: Optional[Tuple[int, int]] = None) -> bytes:
        """The group of an instruction, or of an interrupt (insn None): the state after it.

        address: effective address of its memory access; store: the value that it stores, and its bytes.
        """
        out = [self.field("begin"), *self._state(pc, priv, registers or {})]
        if insn is not None:
            out.append(self.field("insn32" if insn & 3 == 3 else "insn16", 0, insn))
        if address is not None:
            out.append(self.field("state", _abi.TANDEM_STATE_EADDR, address))
        if store is not None:
            out.append(self.field("state", _abi.TANDEM_STATE_STORE8 + store[1].bit_length() - 1, store[0]))
        return b"".join([*out, self.field("end")])
