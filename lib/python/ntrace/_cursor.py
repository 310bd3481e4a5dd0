# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""A place in a trace that moves forwards and backwards."""

import ctypes
import functools
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import _abi
from ._errors import check
from ._flow import describe
from ._image import Handle, Location, Space
from ._params import Params, take
from ._session import Session


class Place(NamedTuple):
    """A place of a cursor, as struct ntrace_cursor_place.

    kind: "block" for instructions and blocks, else as Event.kind; bytes: the instruction, empty if
    there is none; time is None if no timestamp applies; location: None if nothing is known at
    address; text: one line.
    """
    kind: str
    address: int
    bytes: bytes
    index: int
    instructions: int
    insn_class: str
    code: int
    value: int
    taken: bool
    next: Optional[int]
    offset: int
    time: Optional[int]
    stream: int
    cpu: int
    pid: int
    tid: int
    comm: str
    privilege: Optional[int]
    sideband_ns: int
    location: Optional[Location]
    text: str


class Thread(NamedTuple):
    """A thread of a recording, as struct ntrace_cursor_thread; times are None without timestamps."""
    pid: int
    tid: int
    comm: str
    instructions: int
    runs: int
    first_ns: int
    last_ns: int
    first_time: Optional[int]
    last_time: Optional[int]


class Value(NamedTuple):
    """What is known of a register: bits, and which of them are known; those that are not are 0."""
    bits: int
    known: int

    @property
    def value(self) -> Optional[int]:
        """The number, None if a bit of it is not known."""
        return self.bits if self.known == 0xffffffffffffffff else None


@functools.total_ordering
class Mark:
    """A saved position; positions of one trace are ordered."""

    def __init__(self) -> None:
        self.raw = _abi.CursorMark()

    def _compare(self, other: "Mark") -> int:
        return int(_abi.library.cursor_compare(ctypes.byref(self.raw), ctypes.byref(other.raw)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mark) and not self._compare(other)

    def __lt__(self, other: "Mark") -> bool:
        return self._compare(other) < 0

    def __hash__(self) -> int:
        return hash((self.raw.run, self.raw.item, self.raw.index))


class _State(Handle):
    """Registers and memory of a thread."""

    _free = "values_free"

    def __init__(self, session: Session, pid: int, tid: int) -> None:
        super().__init__(None)
        config = _abi.ValuesConfig(size=ctypes.sizeof(_abi.ValuesConfig), session=session.handle, pid=pid, tid=tid)
        handle = ctypes.c_void_p()
        ctypes.set_errno(0)
        check(_abi.library.values_new(ctypes.byref(handle), ctypes.byref(config)), "values")
        self._handle = handle.value


class Cursor(Handle):
    """Places of a trace: cursor.next(), cursor.prev(), or a loop over the cursor.

    source: a Session, or the bytes of a trace with its params and space. Moves return the Place, or
    None past an end. With session, pid and tid, register() and memory() tell the state before the instruction.
    """

    _free = "cursor_free"
    _state: Optional[_State] = None
    _thread: Optional[Tuple[int, int]] = None

    def __init__(self, source: Union[Session, bytes], params: Union[Params, str, None] = None,
                 space: Optional[Space] = None, stream: int = 0, pid: Optional[int] = None,
                 tid: Optional[int] = None, privileges: str = "", blocks: bool = False,
                 src: int = 0) -> None:
        """blocks: steps of blocks instead of instructions; pid, tid: only what these executed."""
        super().__init__(None)
        config = _abi.CursorConfig()
        _abi.library.cursor_config_init(ctypes.byref(config))
        config.step = int(blocks)
        if privileges:
            wanted = ctypes.c_uint32()
            check(_abi.library.priv_parse(ctypes.byref(wanted), privileges.encode()), privileges)
            config.privileges = wanted.value
        # What the library borrows lives as long as the cursor.
        self._source: Any = source
        if isinstance(source, Session):
            config.session = source.handle
            config.stream = stream
            config.pid = _abi.CURSOR_ANY if pid is None else pid
            config.tid = _abi.CURSOR_ANY if tid is None else tid
            self._thread = config.pid, config.tid
        else:
            self._params = take(params)
            self._source = ctypes.create_string_buffer(source, max(len(source), 1))
            config.params = ctypes.pointer(self._params.raw)
            config.data = ctypes.addressof(self._source)
            config.data_size = len(source)
            config.space = space.handle if space else None
            config.src = src
        handle = ctypes.c_void_p()
        ctypes.set_errno(0)
        check(_abi.library.cursor_new(ctypes.byref(handle), ctypes.byref(config)), "cursor")
        self._handle = handle.value
        if isinstance(source, Session):
            source.cursors.add(self)
        self._kinds = _abi.names(_abi.library.flow_type_name, _abi.FLOW_EVENT_TYPES)
        self._classes = _abi.names(_abi.library.insn_class_name, _abi.INSN_CLASS_COUNT)

    @property
    def place(self) -> Optional[Place]:
        """Where it is; None before the first and after the last place."""
        pointer = _abi.library.cursor_place(self.handle)
        if not pointer:
            return None
        raw = pointer.contents
        flow = _abi.FlowEvent.from_address(raw.flow)
        return Place(
            self._kinds[raw.type], raw.address, ctypes.string_at(raw.bytes, raw.size), raw.index,
            raw.instructions, self._classes[raw.insn_class] if raw.instructions else "", flow.code,
            flow.value, flow.taken, flow.next if flow.next_known else None, raw.offset,
            raw.time if raw.time_kind else None, raw.stream, raw.cpu, raw.pid, raw.tid,
            _abi.text(raw.comm),
            None if raw.privilege == _abi.CURSOR_NO_PRIVILEGE else raw.privilege, raw.sideband_ns,
            self._locate(flow.space, raw.address), describe(raw.flow))

    @staticmethod
    def _locate(space: Optional[int], address: int) -> Optional[Location]:
        found = _abi.Location()
        if not space or _abi.library.space_locate(space, address, ctypes.byref(found)):
            return None
        symbol = _abi.text(found.symbol) if found.symbol else None
        return Location(_abi.text(_abi.library.object_name(found.object)),
                        found.link_address, symbol,
                        found.link_address - found.symbol_start if symbol else 0)

    def _moved(self, result: int) -> Optional[Place]:
        return None if check(result, "cursor") else self.place

    def next(self) -> Optional[Place]:
        """The next place."""
        return self._moved(_abi.library.cursor_next(self.handle))

    def prev(self) -> Optional[Place]:
        """The place before."""
        return self._moved(_abi.library.cursor_prev(self.handle))

    def first(self) -> Optional[Place]:
        """The first place."""
        return self._moved(_abi.library.cursor_first(self.handle))

    def last(self) -> Optional[Place]:
        """The last place."""
        return self._moved(_abi.library.cursor_last(self.handle))

    def seek_time(self, time: int) -> Optional[Place]:
        """The first place that is not before a time, in ticks."""
        return self._moved(_abi.library.cursor_seek_time(self.handle, time))

    def seek_address(self, address: int, backwards: bool = False) -> Optional[Place]:
        """The next execution of an address; if there is none, the cursor stays."""
        return self._moved(_abi.library.cursor_seek_address(self.handle, address, backwards))

    def seek_function(self, name: str, backwards: bool = False) -> Optional[Place]:
        """The next execution of a function's first instruction; if there is none, the cursor stays."""
        return self._moved(_abi.library.cursor_seek_function(self.handle, name.encode(), backwards))

    def seek_type(self, kind: str, backwards: bool = False) -> Optional[Place]:
        """The next event of a kind, such as "gap"; if there is none, the cursor stays."""
        return self._moved(_abi.library.cursor_seek_type(self.handle, self._kinds.index(kind),
                                                         backwards))

    def save(self) -> Mark:
        """The position."""
        mark = Mark()
        _abi.library.cursor_save(self.handle, ctypes.byref(mark.raw))
        return mark

    def restore(self, mark: Mark) -> Optional[Place]:
        """Moves to a saved position."""
        return self._moved(_abi.library.cursor_restore(self.handle, ctypes.byref(mark.raw)))

    def _values(self) -> Optional[int]:
        """The values before the instruction where it is; None if nothing is known there."""
        place = self.place
        if self._thread is None or _abi.CURSOR_ANY in self._thread:
            raise ValueError("only a cursor with session, pid and tid has values")
        if place is None or place.kind != "block":
            return None
        if self._state is None:
            self._state = _State(self._source, *self._thread)
            self._source.cursors.add(self._state)
        mark = self.save()
        result = check(_abi.library.values_seek(self._state.handle, ctypes.byref(mark.raw),
                                                place.index), "values")
        return None if result else self._state.handle

    def register(self, name: str) -> Value:
        """A register before the instruction, such as "a0", "fa0", "fcsr". The recording needs --values."""
        number = _abi.library.tandem_register_number(name.encode())
        values, found = self._values(), _abi.ExecValue()
        if number < 0:
            raise ValueError("there is no register %s" % name)
        if values is not None:
            check(_abi.library.values_register(values, number, ctypes.byref(found)), name)
        # fflags, frm and fcsr are a byte.
        return Value(found.bits, 0xffffffffffffffff if number < 0x1000 and found.known == 0xff else found.known)

    def memory(self, address: int, size: int) -> List[Optional[int]]:
        """Bytes of memory before the instruction; None for each that is not known."""
        values, found, some = self._values(), _abi.ExecValue(), []
        for at in range(address, address + size if values is not None else address):
            check(_abi.library.values_memory(values, at, 1, ctypes.byref(found)), "memory")
            some.append(found.bits if found.known == 0xff else None)
        return some + [None] * (size - len(some))

    def close(self) -> None:
        """Gives it back, with its values."""
        if self._state is not None:
            self._state.close()
        super().close()

    def __iter__(self) -> Iterator[Place]:
        """The places after the present one."""
        while True:
            place = self.next()
            if place is None:
                return
            yield place


def threads(session: Session) -> List[Thread]:
    """The threads that a recording shows running, by pid and tid. The first call decodes all of it."""
    first = ctypes.POINTER(_abi.CursorThread)()
    count = ctypes.c_size_t()
    ctypes.set_errno(0)
    check(_abi.library.cursor_threads(session.handle, ctypes.byref(first), ctypes.byref(count)),
          "threads")
    return [Thread(raw.pid, raw.tid, _abi.text(raw.comm), raw.instructions, raw.runs,
                   raw.first_ns, raw.last_ns, raw.first_time if raw.time_known else None,
                   raw.last_time if raw.time_known else None)
            for raw in (first[index] for index in range(count.value))]
