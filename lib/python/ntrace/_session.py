# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Recordings: what ran where, as `ntrace record` has recorded it."""

import ctypes
import os
import weakref
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence

from . import _abi
from ._errors import check
from ._flow import Event, Guard, event_of
from ._image import Handle, Path, Space
from ._messages import Messages
from ._params import Params
from ._profile import Function, Profile
from ._table import Column, Table, column_of, layout


class Stream(NamedTuple):
    """A stream of a recording, as struct ntrace_stream. cpu is None for a task's."""
    file: str
    params: Params
    cpu: Optional[int]
    hartid: int
    src: int
    bytes: int
    lost: int
    lost_exact: bool
    gaps: int
    start_ns: int
    stop_ns: int


class Stats(NamedTuple):
    """Totals of decoding."""
    messages: int
    blocks: int
    instructions: int
    syncs: int
    traps: int
    gaps: int
    errors: int
    warnings: int


class SessionBlocks(Table):
    """Executed blocks, and who they belong to.

    Columns: stream, cpu, pid, tid (-1 = unknown), comm, privilege (0 user, 1 kernel, 3 firmware),
    address, last, next (if next_known), instructions, insn_class, taken, interrupted,
    provisional, next_known, last_size, offset, time (if time_known), sideband_ns; with places
    object, symbol and link_address, too. text("comm"), text("object") and text("symbol") have
    the names. events: what is no block.
    """

    events: List[Event]
    stats: List[Stats]


class _Places:
    """What stands at addresses, as numbers of names."""

    def __init__(self) -> None:
        self.locator = _abi.library.locator_new()
        if not self.locator:
            raise MemoryError("locator")
        self.objects: Dict[str, int] = {"": 0}
        self.symbols: Dict[bytes, int] = {b"": 0}
        self._names: Dict[int, str] = {}
        self.columns: Dict[str, List[int]] = {"object": [], "symbol": [], "link_address": []}

    def add(self, space: Optional[int], address: int) -> None:
        """The place of the next row."""
        found = _abi.library.locator_find(self.locator, space, address).contents
        name = ""
        if found.object:
            name = _abi.text(_abi.library.object_name(found.object))
        objects, symbols = self.objects, self.symbols
        self.columns["object"].append(objects.setdefault(name, len(objects)))
        self.columns["symbol"].append(symbols.setdefault(found.symbol or b"", len(symbols)))
        self.columns["link_address"].append(found.link_address)

    def close(self) -> None:
        """Gives the locator back."""
        _abi.library.locator_free(self.locator)


class Session(Handle):
    """A recording. notes: what a user should know of it (missing files, losses), grows by decoding."""

    _free = "session_close"

    def __init__(self, directory: Path, sysroot: Optional[Path] = None,
                 firmware: Optional[Path] = None, firmware_bias: int = 0,
                 params: Optional[str] = None, code: Optional[Space] = None) -> None:
        self.notes: List[str] = []
        # They end with the session.
        self.cursors: "weakref.WeakSet[Handle]" = weakref.WeakSet()
        # The library keeps the callback.
        self._note = _abi.NOTE_CALLBACK(
            lambda _, text: self.notes.append(_abi.text(text)))
        options = _abi.SessionOptions(
            size=ctypes.sizeof(_abi.SessionOptions), note=self._note, firmware_bias=firmware_bias,
            sysroot=os.fsencode(sysroot) if sysroot else None,
            firmware=os.fsencode(firmware) if firmware else None,
            params=params.encode() if params else None, code=code.handle if code else None)
        handle = ctypes.c_void_p()
        super().__init__(None)
        ctypes.set_errno(0)
        error = _abi.library.session_open(ctypes.byref(handle), os.fsencode(directory),
                                          ctypes.byref(options))
        check(error, os.fspath(directory), self.notes[-1] if self.notes else "")
        self._handle = handle.value

    def close(self) -> None:
        """Gives it back, with its cursors."""
        for cursor in list(getattr(self, "cursors", ())):
            cursor.close()
        super().close()

    @property
    def streams(self) -> List[Stream]:
        """Its streams."""
        result = []
        for index in range(_abi.library.session_streams(self.handle)):
            raw = _abi.library.session_stream(self.handle, index).contents
            result.append(Stream(
                os.fsdecode(raw.file), Params(raw=raw.params.contents),
                None if raw.cpu == _abi.STREAM_NO_CPU else raw.cpu, raw.hartid, raw.src, raw.bytes,
                raw.lost, raw.lost_exact, raw.gaps, raw.start_ns, raw.stop_ns))
        return result

    @property
    def description(self) -> Dict[str, str]:
        """What it says of itself: tool, module, release, machine, clock, command."""
        raw = _abi.library.session_recording(self.handle).contents
        return {name: _abi.text(getattr(raw, name))
                for name in ("tool", "module", "release", "machine", "clock", "command")}

    def _chosen(self, streams: Optional[Iterable[int]]) -> Sequence[int]:
        count = _abi.library.session_streams(self.handle)
        chosen = list(range(count) if streams is None else streams)
        for stream in chosen:
            if not 0 <= stream < count:
                raise IndexError("no stream %d: the recording has %d" % (stream, count))
        return chosen

    def messages(self, stream: int = 0) -> Messages:
        """The messages of a stream."""
        found = self.streams[self._chosen([stream])[0]]
        return Messages(found.file, found.params)

    def blocks(self, streams: Optional[Iterable[int]] = None, places: bool = True) -> SessionBlocks:
        """Decodes streams, all of them by default, one after the other.

        places: look up object and symbol of each block, which takes most of the time. For
        large recordings, profile() is much faster.
        """
        collector = _Collector(places)
        try:
            for stream in self._chosen(streams):
                collector.decode(self.handle, stream)
            return collector.table()
        finally:
            collector.close()

    def _count(self, profile: Profile, streams: Optional[Iterable[int]]) -> Profile:
        try:
            for stream in self._chosen(streams):
                # The library calls itself: nothing of Python in between.
                options = _abi.DecodeOptions(
                    size=ctypes.sizeof(_abi.DecodeOptions), stream=stream, data=profile.handle,
                    event=ctypes.cast(_abi.library.profile_event, ctypes.c_void_p),
                    segment=ctypes.cast(_abi.library.profile_segment, ctypes.c_void_p))
                check(_abi.library.session_decode(self.handle, ctypes.byref(options)),
                      "stream %d" % stream)
            check(_abi.library.profile_end(profile.handle), "profile")
        except BaseException:
            profile.close()
            raise
        return profile

    def profile(self, pid: int = -1, privileges: str = "", streams: Optional[Iterable[int]] = None,
                functions: bool = False, by_process: bool = False, tid: int = -1, comm: str = "") -> Profile:
        """Counts of everything executed: by one process or thread, under a name, in privileges such as "u" or "us".

        functions: also count functions, for Profile.functions(); by_process: of each process.
        """
        return self._count(Profile(pid, privileges, True, functions, by_process, tid, comm), streams)

    def hot_functions(self, pid: int = -1, privileges: str = "", by_process: bool = False,
                      streams: Optional[Iterable[int]] = None, tid: int = -1, comm: str = "") -> List[Function]:
        """Executed functions, those with most instructions first.

        Faster than profile() where only functions are of interest.
        """
        with self._count(Profile(pid, privileges, False, True, by_process, tid, comm), streams) as profile:
            return profile.functions()


class _Collector:
    """Blocks of streams as they are decoded. A record is the event of the flow and that of the session."""

    def __init__(self, places: bool) -> None:
        self.records = bytearray()
        self.events: List[Event] = []
        self.stats: List[Stats] = []
        self.comms: Dict[bytes, int] = {}
        self.comm: List[int] = []
        self.places = _Places() if places else None
        self.size = ctypes.sizeof(_abi.FlowEvent) + ctypes.sizeof(_abi.SessionEvent)
        self.kinds = _abi.names(_abi.library.flow_type_name, _abi.FLOW_EVENT_TYPES)
        self.guard = Guard()
        self.callback = self.guard.wrap(_abi.SESSION_CALLBACK, self._event)

    def decode(self, session: int, stream: int) -> None:
        """Appends a stream."""
        stats = _abi.FlowStats()
        options = _abi.DecodeOptions(
            size=ctypes.sizeof(_abi.DecodeOptions), stream=stream,
            event=ctypes.cast(self.callback, ctypes.c_void_p), stats=ctypes.addressof(stats))
        result = _abi.library.session_decode(session, ctypes.byref(options))
        self.guard.check(result, "stream %d" % stream)
        self.stats.append(Stats(*(getattr(stats, name) for name in Stats._fields)))

    def _event(self, pointer: int) -> None:
        event = _abi.SessionEvent.from_address(pointer)
        address = event.flow
        flow = _abi.FlowEvent.from_address(address)
        if flow.type != _abi.FLOW_BLOCK:
            self.events.append(event_of(address, len(self.comm), self.kinds))
            return
        self.records += ctypes.string_at(address, ctypes.sizeof(_abi.FlowEvent))
        self.records += ctypes.string_at(pointer, ctypes.sizeof(_abi.SessionEvent))
        self.comm.append(self.comms.setdefault(event.comm, len(self.comms)))
        if self.places:
            self.places.add(flow.space, flow.address)

    def table(self) -> SessionBlocks:
        """All of it."""
        columns: Dict[str, Column] = {}
        columns.update(layout(_abi.SessionEvent, "stream cpu pid tid privilege",
                              ctypes.sizeof(_abi.FlowEvent)))
        columns["comm"] = lambda: column_of("I", self.comm)
        columns.update(layout(_abi.FlowEvent, "address last next instructions insn_class taken "
                              "interrupted provisional next_known last_size offset time time_known"))
        columns.update(layout(_abi.SessionEvent, "sideband_ns", ctypes.sizeof(_abi.FlowEvent)))
        texts = {"comm": [_abi.text(comm) for comm in self.comms],
                 "insn_class": _abi.names(_abi.library.insn_class_name, _abi.INSN_CLASS_COUNT)}
        if self.places:
            found = self.places
            columns["object"] = lambda: column_of("I", found.columns["object"])
            columns["symbol"] = lambda: column_of("I", found.columns["symbol"])
            columns["link_address"] = lambda: column_of("Q", found.columns["link_address"])
            texts["object"] = list(found.objects)
            texts["symbol"] = [_abi.text(symbol) for symbol in found.symbols]
        blocks = SessionBlocks(bytes(self.records), self.size, columns, texts)
        blocks.events, blocks.stats = self.events, self.stats
        return blocks

    def close(self) -> None:
        """Gives back what the library lent."""
        if self.places:
            self.places.close()
