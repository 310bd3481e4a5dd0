# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""What was executed, from a trace without a recording around it."""

import ctypes
from typing import Any, Dict, List, NamedTuple, Optional, Union

from . import _abi
from ._errors import check
from ._image import Space
from ._messages import Source, read, walk
from ._params import Params, take
from ._table import Column, Table, bits, layout, repeated

_HARTS_MAX = 1 << _abi.SRC_BITS_MAX


class Event(NamedTuple):
    """What is no block: kind is "sync", "trap", "trace off", "ownership", "error", "gap", "warning",
    "circuit", "data".

    rows: blocks that came before it; text: all that is to be said of it.
    """
    kind: str
    code: int
    address: int
    value: int
    offset: int
    src: int
    rows: int
    text: str


def describe(pointer: int) -> str:
    """An event as a line of text, within its callback."""
    text = ctypes.create_string_buffer(1024)
    _abi.library.flow_describe(pointer, text, len(text))
    return _abi.text(text.value)


def event_of(pointer: int, rows: int, kinds: List[str]) -> Event:
    """A copy of an event."""
    flow = _abi.FlowEvent.from_address(pointer)
    return Event(kinds[flow.type], flow.code, flow.address, flow.value, flow.offset, flow.src,
                 rows, describe(pointer))


class Guard:
    """Keeps what a callback raises: it cannot pass through the library."""

    def __init__(self) -> None:
        self.raised: Optional[BaseException] = None

    def wrap(self, kind: Any, function: Any) -> Any:
        """function(pointer) as a callback of the library, which stops if it raises."""
        def call(_: Any, pointer: int) -> int:
            try:
                function(pointer)
            except BaseException as raised:  # pylint: disable=broad-except
                self.raised = raised
                return 1
            return 0
        return kind(call)

    def check(self, result: int, what: str) -> None:
        """Of a call that has called back."""
        if self.raised is not None:
            raise self.raised
        check(result, what)


class Blocks(Table):
    """Executed blocks: runs of instructions up to a control transfer.

    Columns: address, next (if next_known), instructions, bytes, insn_class of the last one,
    last_size, flags (enum ntrace_block_flag), taken, interrupted, provisional, next_known, offset
    of the message, time (if time_known), src. events: what is no block, with the number of blocks before it.
    """

    events: List[Event]


def decode(source: Source, params: Union[Params, str, None], space: Space) -> Blocks:
    """Decodes a trace against what is mapped in a space, all its harts.

    source: bytes, or the name of a file with nothing but trace in it.
    """
    wanted = take(params)
    batches: Dict[str, List[int]] = {name: [] for name in ("count", "offset", "time", "known", "src")}
    records, events, guard = bytearray(), [], Guard()
    kinds = _abi.names(_abi.library.flow_type_name, _abi.FLOW_EVENT_TYPES)
    size = ctypes.sizeof(_abi.Block)

    def on_blocks(pointer: int) -> None:
        batch = _abi.BlockBatch.from_address(pointer)
        records.extend(ctypes.string_at(batch.blocks, batch.count * size))
        for name, value in zip(batches, (batch.count, batch.offset, batch.time,
                                         batch.time_known, batch.src)):
            batches[name].append(value)

    def on_event(pointer: int) -> None:
        events.append(event_of(pointer, len(records) // size, kinds))

    config = _abi.FlowConfig(size=ctypes.sizeof(_abi.FlowConfig), params=ctypes.pointer(wanted.raw),
                             space=space.handle, event=guard.wrap(_abi.FLOW_CALLBACK, on_event),
                             blocks=guard.wrap(_abi.FLOW_CALLBACK, on_blocks))
    handle = ctypes.c_void_p()
    check(_abi.library.demux_new(ctypes.byref(handle), ctypes.byref(config), _HARTS_MAX),
          "stream parameters")
    rows = (_abi.Message * 1)()
    at = ctypes.addressof(rows)
    try:
        library = _abi.library
        pending = walk(
            read(source), wanted,
            lambda _: guard.check(library.demux_message(handle, at), "decode"),
            lambda row: guard.check(library.demux_wire_error(handle, row.offset), "decode"), rows)
        guard.check(library.demux_end(handle, pending), "decode")
    finally:
        _abi.library.demux_free(handle)
    return _blocks(bytes(records), batches, events)


def _blocks(records: bytes, batches: Dict[str, List[int]], events: List[Event]) -> Blocks:
    blocks: Blocks
    columns: Dict[str, Column] = dict(layout(_abi.Block, "address next instructions bytes "
                                             "insn_class last_size flags"))
    for name, mask in (("taken", _abi.BLOCK_TAKEN), ("interrupted", _abi.BLOCK_INTERRUPTED),
                       ("provisional", _abi.BLOCK_PROVISIONAL),
                       ("next_known", _abi.BLOCK_NEXT_KNOWN)):
        columns[name] = lambda mask=mask: bits(blocks["flags"], mask)  # type: ignore[misc]
    for name, batch, code in (("offset", "offset", "Q"), ("time", "time", "Q"),
                              ("time_known", "known", "B"), ("src", "src", "H")):
        columns[name] = lambda batch=batch, code=code: repeated(  # type: ignore[misc]
            code, batches[batch], batches["count"])
    classes = _abi.names(_abi.library.insn_class_name, _abi.INSN_CLASS_COUNT)
    blocks = Blocks(records, ctypes.sizeof(_abi.Block), columns, {"insn_class": classes})
    blocks.events = events
    return blocks
