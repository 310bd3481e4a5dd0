# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Profiles: executed control flow, added up."""

import ctypes
from typing import Dict, List, NamedTuple, Tuple

from . import _abi
from ._errors import Error, check
from ._image import Handle, Object
from ._table import Column, Table, column_of, layout


class Branch(NamedTuple):
    """A transfer of control, and how often it was executed. Addresses are link addresses.

    source_object and object are numbers of Profile.objects, -1: it is not known where it came
    from, or went.
    """
    source_object: int
    source: int
    object: int
    target: int
    times: int
    insn_class: str


class Function(NamedTuple):
    """A function and what was executed of it.

    name: demangled, "" where no function is known; object: path of the file, "" if unknown;
    domain: "user", "kernel", "firmware" or "other"; pid and process: -1 and "" unless the profile
    distinguishes processes; calls: by call instructions and jumps from other functions; branches:
    control transfers that its instructions made; start: link address.
    """
    name: str
    object: str
    domain: str
    pid: int
    process: str
    instructions: int
    calls: int
    branches: int
    start: int


class Traces(Table):
    """Transfers and the straight runs behind them, as struct ntrace_profile_trace.

    Columns: source_object and source (where control came from; source_object -1: unknown),
    source_class, object, start, end (the run), instructions (of the run), count, end_class, taken.
    Objects are numbers of Profile.objects, -1: unknown.
    """


class Profile(Handle):
    """Counts of what was executed: Session.profile() makes it."""

    _free = "profile_free"

    def __init__(self, pid: int = -1, privileges: str = "", traces: bool = True,
                 functions: bool = False, by_process: bool = False, tid: int = -1, comm: str = "") -> None:
        """An empty one. pid, tid, comm: only a process, a thread, threads while they have this name; privileges:
        letters u, s, m, vu, vs; "" = all.

        traces and functions: what it counts; by_process: functions of each process.
        """
        mask = ctypes.c_uint32()
        if privileges and _abi.library.priv_parse(ctypes.byref(mask), privileges.encode()):
            raise Error(_abi.ERR_INVALID,
                        "privileges: '%s' is not a set of u, s, m, vu, vs" % privileges)
        # The profile borrows it.
        self._filter = _abi.ThreadFilter(pid, tid, comm.encode() if comm else None)
        options = _abi.ProfileOptions(size=ctypes.sizeof(_abi.ProfileOptions), threads=ctypes.pointer(self._filter),
                                      privileges=mask.value, by_process=by_process,
                                      parts=(_abi.PROFILE_TRACES if traces else 0) |
                                      (_abi.PROFILE_FUNCTIONS if functions else 0))
        handle = ctypes.c_void_p()
        super().__init__(None)
        self._has_functions = functions
        check(_abi.library.profile_new(ctypes.byref(handle), ctypes.byref(options)), "profile")
        self._handle = handle.value

    def merge(self, other: "Profile") -> None:
        """Adds what another one counted."""
        check(_abi.library.profile_merge(self.handle, other.handle), "profile")

    def _objects(self) -> List[Tuple[int, int]]:
        count = ctypes.c_size_t()
        found = _abi.library.profile_objects(self.handle, ctypes.byref(count))
        return [(found[index].object, found[index].instructions) for index in range(count.value)]

    @property
    def objects(self) -> List[Object]:
        """Programs and libraries of which something was executed, most instructions first."""
        return [Object.borrowed(pointer) for pointer, _ in self._objects()]

    @property
    def instructions(self) -> List[int]:
        """Executed instructions of each of the objects."""
        return [instructions for _, instructions in self._objects()]

    def traces(self) -> Traces:
        """All that was counted, in the order of the library: the same counts, the same order."""
        count = ctypes.c_size_t()
        size = ctypes.sizeof(_abi.ProfileTrace)
        found = _abi.library.profile_traces(self.handle, ctypes.byref(count))
        records = ctypes.string_at(found, count.value * size) if count.value else b""
        numbers = {pointer: number for number, (pointer, _) in enumerate(self._objects())}
        columns: Dict[str, Column] = {}
        pointers = Table(records, size, layout(_abi.ProfileTrace, "from_object object"))
        for column, pointer in (("source_object", "from_object"), ("object", "object")):
            of_rows = [numbers.get(int(value), -1) for value in pointers[pointer]]
            columns[column] = lambda of_rows=of_rows: column_of("i", of_rows)  # type: ignore[misc]
        columns.update(layout(_abi.ProfileTrace, "source=from source_class=from_class start end "
                              "instructions count end_class taken"))
        classes = _abi.names(_abi.library.insn_class_name, _abi.INSN_CLASS_COUNT)
        return Traces(records, size, columns, {"source_class": classes, "end_class": classes})

    def branches(self) -> List[Branch]:
        """Transfers with a known beginning, the most frequent first."""
        counts: Dict[Tuple[int, int, int, int, int], int] = {}
        for row in self.traces():
            if row.source_object >= 0:
                key = (int(row.source_object), int(row.source), int(row.object), int(row.start),
                       int(row.source_class))
                counts[key] = counts.get(key, 0) + int(row.count)
        classes = _abi.names(_abi.library.insn_class_name, _abi.INSN_CLASS_COUNT)
        found = [Branch(source_object, source, target_object, target, times, classes[kind])
                 for (source_object, source, target_object, target, kind), times in counts.items()]
        return sorted(found, key=lambda branch: (-branch.times, branch[:4]))

    def functions(self, order: str = "instructions") -> List[Function]:
        """Functions of a profile made with functions=True, in an order such as "calls" or "name".

        Numbers are in descending order, names in ascending order.
        """
        if not self._has_functions:
            raise Error(_abi.ERR_INVALID, "this profile has no functions: profile(functions=True) counts them")
        if order not in ("instructions", "calls", "name", "object"):
            raise Error(_abi.ERR_INVALID,
                        "order: '%s' is none of instructions, calls, name, object" % order)
        count = ctypes.c_size_t()
        found = _abi.library.profile_functions(self.handle, _abi.ORDERS.index(order),
                                               ctypes.byref(count))
        domains = _abi.names(_abi.library.domain_name, _abi.DOMAINS)
        return [_function(found[index], domains) for index in range(count.value)]


def _function(raw: _abi.ProfileFunction, domains: List[str]) -> Function:
    name = _abi.library.object_name(raw.object) if raw.object else b""
    return Function(_abi.text(raw.demangled), _abi.text(name),
                    domains[_abi.library.domain_of(raw.privilege)], raw.pid, _abi.text(raw.comm),
                    raw.instructions, raw.calls, raw.branches, raw.start)
