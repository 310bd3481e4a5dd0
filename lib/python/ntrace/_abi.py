# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""libntrace.so.0 as ctypes sees it: constants, structs and functions.

Names and order are those of the C headers. selftests/lib/python.sh has a compiler
compare all of it with them.
"""

import codecs
import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_int, c_int32,
                    c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type

OK, ERR_INVALID, ERR_NOMEM, ERR_IO, ERR_EOS, ERR_AGAIN, ERR_FORMAT = 0, -1, -2, -3, -4, -5, -6
WIRE_MESSAGE, WIRE_ERROR = 0, 1
FLOW_BLOCK = 0
FLOW_EVENT_TYPES = 10
BLOCK_TAKEN, BLOCK_INTERRUPTED, BLOCK_PROVISIONAL, BLOCK_NEXT_KNOWN = 1, 2, 4, 8
INSN_CLASS_COUNT = 12
SRC_BITS_MAX = 12
STREAM_NO_CPU = 0xffffffff
CURSOR_ANY, CURSOR_NO_PRIVILEGE = -0x80000000, 0xffffffff
PROFILE_TRACES, PROFILE_FUNCTIONS = 1, 2
DOMAINS = 4
TANDEM_FIELD_MAX, TANDEM_FAILED = 18, 0x10
TANDEM_STATE_PRIV, TANDEM_STATE_EADDR, TANDEM_STATE_STORE8, TANDEM_STATE_PC = 1, 3, 4, 10

# Orders of functions, as enum ntrace_profile_order.
ORDERS = ("instructions", "total", "calls", "time", "total_time", "name", "object")

# Fields of a message, in the order of enum ntrace_field.
FIELDS = ("SRC", "SYNC", "BTYPE", "ETYPE", "EVCODE", "CDF", "RCODE", "ICNT", "FADDR", "UADDR",
          "HIST", "HREPEAT", "BCNT", "RDATA", "ECODE", "PROCESS",
          "CKSRC", "CKDF", "CKDATA0", "CKDATA1", "IDTAG", "DQDATA", "DSZ",
          "DADDR", "DATA", "TSTAMP")

# Constant: the same in C.
CONSTANTS: Dict[str, int] = {
    "NTRACE_ERR_INVALID": ERR_INVALID, "NTRACE_ERR_NOMEM": ERR_NOMEM, "NTRACE_ERR_IO": ERR_IO,
    "NTRACE_ERR_EOS": ERR_EOS, "NTRACE_ERR_AGAIN": ERR_AGAIN, "NTRACE_ERR_FORMAT": ERR_FORMAT,
    "NTRACE_WIRE_MESSAGE": WIRE_MESSAGE, "NTRACE_WIRE_ERROR": WIRE_ERROR,
    "NTRACE_FLOW_BLOCK": FLOW_BLOCK, "NTRACE_FLOW_DATA": FLOW_EVENT_TYPES - 1,
    "NTRACE_BLOCK_TAKEN": BLOCK_TAKEN, "NTRACE_BLOCK_INTERRUPTED": BLOCK_INTERRUPTED,
    "NTRACE_BLOCK_PROVISIONAL": BLOCK_PROVISIONAL, "NTRACE_BLOCK_NEXT_KNOWN": BLOCK_NEXT_KNOWN,
    "NTRACE_INSN_CLASS_COUNT": INSN_CLASS_COUNT, "NTRACE_SRC_BITS_MAX": SRC_BITS_MAX,
    "NTRACE_CURSOR_ANY": CURSOR_ANY, "NTRACE_CURSOR_NO_PRIVILEGE": CURSOR_NO_PRIVILEGE,
    "NTRACE_STREAM_NO_CPU": STREAM_NO_CPU, "NTRACE_FIELD_COUNT": len(FIELDS),
    "NTRACE_PROFILE_TRACES": PROFILE_TRACES, "NTRACE_PROFILE_FUNCTIONS": PROFILE_FUNCTIONS,
    "NTRACE_TANDEM_FIELD_MAX": TANDEM_FIELD_MAX, "NTRACE_TANDEM_FAILED": TANDEM_FAILED,
    "NTRACE_TANDEM_STATE_PRIV": TANDEM_STATE_PRIV, "NTRACE_TANDEM_STATE_EADDR": TANDEM_STATE_EADDR,
    "NTRACE_TANDEM_STATE_STORE8": TANDEM_STATE_STORE8, "NTRACE_TANDEM_STATE_PC": TANDEM_STATE_PC,
    "NTRACE_DOMAINS": DOMAINS, "NTRACE_PROFILE_ORDERS": len(ORDERS),
}
for _index, _name in enumerate(ORDERS):
    CONSTANTS["NTRACE_PROFILE_BY_" + _name.upper()] = _index
for _index, _name in enumerate(FIELDS):
    CONSTANTS["NTRACE_FIELD_" + _name] = _index


class Params(Structure):
    """struct ntrace_params"""
    _fields_ = [("size", c_size_t), ("src_bits", c_uint), ("xlen", c_uint),
                ("extend_address", c_bool), ("all_jumps", c_bool), ("mode", c_uint),
                ("dialect", c_uint), ("timestamp_bits", c_uint), ("timestamp_hz", c_uint64),
                ("timestamp_delta", c_uint), ("implicit_return", c_uint), ("keep_stack", c_bool),
                ("isa", c_char_p), ("jvt", c_uint64), ("jvt_known", c_bool),
                ("address_bits", c_uint), ("atid", c_uint), ("owner", c_uint),
                ("repeat_message", c_bool), ("vendor_timestamps", c_bool)]


class Message(Structure):
    """struct ntrace_message"""
    _fields_ = [("tcode", c_uint8), ("flags", c_uint8), ("address_msb", c_uint8),
                ("address_bytes", c_uint8), ("present", c_uint32), ("offset", c_uint64),
                ("length", c_uint64), ("field", c_uint64 * len(FIELDS))]


class ReaderPart(Structure):
    """struct ntrace_reader_part"""
    _fields_ = [("value", c_uint64), ("high", c_uint64), ("bits", c_uint32),
                ("last_mdo", c_uint8), ("dropped", c_uint8), ("reserved", c_uint8 * 2)]


class Reader(Structure):
    """struct ntrace_reader"""
    _fields_ = [("next", c_void_p), ("end", c_void_p), ("offset", c_uint64),
                ("idles", c_uint64), ("errors", c_uint64), ("start", c_uint64),
                ("state", c_uint32), ("parts", c_uint32), ("src_bits", c_uint32),
                ("vendor_timed", c_uint32), ("part", ReaderPart * 5),
                ("rows", c_void_p), ("reserved", c_uint64 * 7)]


class Location(Structure):
    """struct ntrace_location"""
    _fields_ = [("object", c_void_p), ("link_address", c_uint64), ("symbol", c_char_p),
                ("symbol_start", c_uint64), ("symbol_size", c_uint64), ("uncertain", c_bool),
                ("function", c_char_p), ("function_start", c_uint64)]


class FlowEvent(Structure):
    """struct ntrace_flow_event"""
    _fields_ = [("type", c_uint8), ("code", c_uint8), ("insn_class", c_uint8), ("taken", c_bool),
                ("interrupted", c_bool), ("provisional", c_bool), ("next_known", c_bool),
                ("last_size", c_uint8), ("etype", c_uint8), ("dialect", c_uint8),
                ("time_known", c_bool), ("reserved", c_uint8), ("src", c_uint16),
                ("reserved16", c_uint16), ("instructions", c_uint32), ("address", c_uint64),
                ("last", c_uint64), ("next", c_uint64), ("value", c_uint64),
                ("offset", c_uint64), ("time", c_uint64), ("context", c_void_p),
                ("space", c_void_p), ("isa", c_void_p)]


class Block(Structure):
    """struct ntrace_block"""
    _fields_ = [("address", c_uint64), ("next", c_uint64), ("instructions", c_uint32),
                ("bytes", c_uint32), ("id", c_uint32), ("insn_class", c_uint8),
                ("last_size", c_uint8), ("flags", c_uint8), ("reserved", c_uint8)]


class BlockBatch(Structure):
    """struct ntrace_block_batch"""
    _fields_ = [("blocks", c_void_p), ("count", c_size_t), ("space", c_void_p),
                ("isa", c_void_p), ("offset", c_uint64), ("time", c_uint64),
                ("time_known", c_bool), ("watched", c_bool), ("reserved", c_uint8 * 4),
                ("src", c_uint16)]


# Callbacks get addresses as numbers: what stands there is copied as a whole, which
# is faster than to look at one member after the other.
FLOW_CALLBACK = CFUNCTYPE(c_int, c_void_p, c_void_p)
SESSION_CALLBACK = CFUNCTYPE(c_int, c_void_p, c_void_p)
NOTE_CALLBACK = CFUNCTYPE(None, c_void_p, c_char_p)


class FlowConfig(Structure):
    """struct ntrace_flow_config"""
    _fields_ = [("size", c_size_t), ("params", POINTER(Params)), ("src", c_uint),
                ("event", FLOW_CALLBACK), ("select", c_void_p), ("contexts", c_void_p),
                ("space", c_void_p), ("data", c_void_p), ("blocks", FLOW_CALLBACK),
                ("watch", POINTER(c_uint64)), ("watch_count", c_size_t),
                ("effect", c_void_p), ("run", c_void_p), ("borders", POINTER(c_uint64)),
                ("border_count", c_size_t), ("remember", c_bool)]


class FlowStats(Structure):
    """struct ntrace_flow_stats"""
    _fields_ = [(_name, c_uint64) for _name in ("messages", "blocks", "instructions", "syncs",
                                                "traps", "gaps", "errors", "warnings")]


class Stream(Structure):
    """struct ntrace_stream"""
    _fields_ = [("file", c_char_p), ("params", POINTER(Params)), ("cpu", c_uint), ("hartid", c_uint64),
                ("src", c_uint), ("bytes", c_uint64), ("lost", c_uint64), ("lost_exact", c_bool),
                ("gaps", c_uint64), ("start_ns", c_uint64), ("stop_ns", c_uint64),
                ("event", c_uint64), ("position", c_uint64), ("loss", c_uint64), ("reserved", c_uint64 * 7)]


class Recording(Structure):
    """struct ntrace_recording"""
    _fields_ = [("size", c_size_t), ("tool", c_char_p), ("module", c_char_p),
                ("release", c_char_p), ("machine", c_char_p), ("clock", c_char_p),
                ("command", c_char_p), ("privilege", c_uint32), ("stream_count", c_uint),
                ("streams", c_void_p), ("unfinished", c_uint32), ("reserved", c_uint32)]


class SessionOptions(Structure):
    """struct ntrace_session_options"""
    _fields_ = [("size", c_size_t), ("sysroot", c_char_p), ("firmware", c_char_p),
                ("firmware_bias", c_uint64), ("note", NOTE_CALLBACK), ("note_data", c_void_p),
                ("params", c_char_p), ("progress", c_void_p), ("progress_data", c_void_p),
                ("live", c_bool), ("code", c_void_p)]


class SessionEvent(Structure):
    """struct ntrace_session_event"""
    _fields_ = [("flow", c_void_p), ("stream", c_uint), ("cpu", c_uint), ("pid", c_int32),
                ("tid", c_int32), ("comm", c_char_p), ("privilege", c_uint), ("cut", c_bool),
                ("sideband_ns", c_uint64), ("turn", c_uint64), ("program", c_uint64),
                ("origin", c_void_p), ("made", c_uint64), ("time", c_uint64), ("turn_end", c_uint64),
                ("time_error", c_uint32), ("time_unit", c_uint32)]


class DecodeOptions(Structure):
    """struct ntrace_decode_options"""
    _fields_ = [("size", c_size_t), ("stream", c_uint32), ("needs", c_uint32), ("event", c_void_p),
                ("segment", c_void_p), ("end", c_void_p), ("data", c_void_p), ("range", c_void_p),
                ("stats", c_void_p), ("wants", c_void_p), ("jobs", c_uint), ("job_data", c_void_p)]


class ProfileTrace(Structure):
    """struct ntrace_profile_trace"""
    _fields_ = [("from_object", c_void_p), ("object", c_void_p), ("from", c_uint64),
                ("start", c_uint64), ("end", c_uint64), ("count", c_uint64),
                ("instructions", c_uint32), ("from_class", c_uint8), ("end_class", c_uint8),
                ("taken", c_bool), ("privilege", c_uint8), ("process", c_uint32), ("reserved", c_uint32)]


class ThreadFilter(Structure):
    """struct ntrace_thread_filter"""
    _fields_ = [("pid", c_int32), ("tid", c_int32), ("comm", c_char_p)]


class ProfileOptions(Structure):
    """struct ntrace_profile_options"""
    _fields_ = [("size", c_size_t), ("threads", POINTER(ThreadFilter)), ("privileges", c_uint32),
                ("parts", c_uint32), ("by_process", c_bool), ("by_privilege", c_bool),
                ("reserved", c_uint8 * 6),
                ("session", c_void_p)]


class ProfileObject(Structure):
    """struct ntrace_profile_object"""
    _fields_ = [("object", c_void_p), ("instructions", c_uint64)]


class ProfileFunction(Structure):
    """struct ntrace_profile_function"""
    _fields_ = [("object", c_void_p), ("name", c_char_p), ("demangled", c_char_p),
                ("comm", c_char_p), ("start", c_uint64), ("privilege", c_uint32),
                ("pid", c_int32), ("instructions", c_uint64), ("calls", c_uint64),
                ("branches", c_uint64), ("total", c_uint64), ("ticks", c_uint64),
                ("total_ticks", c_uint64)]


class CursorConfig(Structure):
    """struct ntrace_cursor_config"""
    _fields_ = [("size", c_size_t), ("step", c_uint), ("stream", c_uint), ("session", c_void_p),
                ("pid", c_int32), ("tid", c_int32), ("privileges", c_uint32), ("src", c_uint),
                ("params", POINTER(Params)), ("data", c_void_p), ("data_size", c_uint64),
                ("fd", c_int), ("cut", c_bool), ("reserved", c_uint8 * 3), ("space", c_void_p),
                ("window", c_uint32), ("reserved32", c_uint32), ("stop", c_void_p),
                ("stop_data", c_void_p)]


class CursorPlace(Structure):
    """struct ntrace_cursor_place"""
    _fields_ = [("type", c_uint8), ("time_kind", c_uint8), ("size", c_uint8),
                ("insn_class", c_uint8), ("bytes", c_uint8 * 8), ("address", c_uint64),
                ("index", c_uint32), ("instructions", c_uint32), ("offset", c_uint64),
                ("time", c_uint64), ("flow", c_void_p), ("stream", c_uint), ("cpu", c_uint),
                ("pid", c_int32), ("tid", c_int32), ("comm", c_char_p), ("privilege", c_uint32),
                ("sideband_ns", c_uint64)]


class CursorMark(Structure):
    """struct ntrace_cursor_mark"""
    _fields_ = [("run", c_uint64), ("item", c_uint64), ("index", c_uint64)]


class ExecValue(Structure):
    """struct ntrace_exec_value"""
    _fields_ = [("bits", c_uint64), ("known", c_uint64)]


class ValuesConfig(Structure):
    """struct ntrace_values_config"""
    _fields_ = [("size", c_size_t), ("session", c_void_p), ("pid", c_int32), ("tid", c_int32),
                ("reach", c_uint64), ("core", c_void_p)]


class CursorThread(Structure):
    """struct ntrace_cursor_thread"""
    _fields_ = [("pid", c_int32), ("tid", c_int32), ("time_known", c_bool),
                ("reserved", c_uint8 * 7), ("comm", c_char_p), ("instructions", c_uint64),
                ("runs", c_uint64), ("first_ns", c_uint64), ("last_ns", c_uint64),
                ("first_time", c_uint64), ("last_time", c_uint64)]


class TandemParams(Structure):
    """struct ntrace_tandem_params"""
    _fields_ = [("size", c_size_t), ("xlen", c_uint), ("mlen", c_uint), ("flen", c_uint), ("flags", c_uint)]


class TandemField(Structure):
    """struct ntrace_tandem_field"""
    _fields_ = [("offset", c_uint64), ("value", c_uint64), ("address", c_uint64), ("id", c_uint16), ("flags", c_uint16),
                ("type", c_uint8), ("length", c_uint8), ("op", c_uint8), ("size", c_uint8)]


class TandemReader(Structure):
    """struct ntrace_tandem_reader"""
    _fields_ = [("offset", c_uint64), ("error", c_char_p), ("wrong", c_uint64), ("open", c_uint),
                ("mlen_bytes", c_uint), ("xlen_bytes", c_uint), ("flen_bytes", c_uint), ("params_flags", c_uint),
                ("held", c_uint), ("request", c_uint), ("request_size", c_uint), ("request_address", c_uint64),
                ("next", c_void_p), ("end", c_void_p), ("state_bytes", c_uint8 * 16), ("bytes", c_uint8 * 64),
                ("reserved", c_uint64 * 4)]


# Name in C: the struct here.
STRUCTS: Dict[str, Type[Structure]] = {
    "ntrace_params": Params, "ntrace_message": Message, "ntrace_reader_part": ReaderPart,
    "ntrace_reader": Reader, "ntrace_location": Location, "ntrace_flow_event": FlowEvent,
    "ntrace_block": Block, "ntrace_block_batch": BlockBatch, "ntrace_flow_config": FlowConfig,
    "ntrace_flow_stats": FlowStats, "ntrace_stream": Stream, "ntrace_recording": Recording,
    "ntrace_session_options": SessionOptions, "ntrace_session_event": SessionEvent,
    "ntrace_decode_options": DecodeOptions,
    "ntrace_profile_trace": ProfileTrace, "ntrace_profile_options": ProfileOptions,
    "ntrace_profile_object": ProfileObject, "ntrace_profile_function": ProfileFunction,
    "ntrace_cursor_config": CursorConfig, "ntrace_cursor_place": CursorPlace,
    "ntrace_tandem_params": TandemParams, "ntrace_tandem_field": TandemField, "ntrace_tandem_reader": TandemReader,
    "ntrace_cursor_mark": CursorMark, "ntrace_cursor_thread": CursorThread,
    "ntrace_exec_value": ExecValue, "ntrace_values_config": ValuesConfig,
}

_HANDLE = POINTER(c_void_p)
# Name without "ntrace_": result, arguments.
FUNCTIONS: Dict[str, Tuple[Any, Sequence[Any]]] = {
    "strerror": (c_char_p, [c_int]),
    "version": (c_char_p, []),
    "insn_class_name": (c_char_p, [c_uint]),
    "priv_parse": (c_int, [POINTER(c_uint32), c_char_p]),
    "params_init": (None, [POINTER(Params)]),
    "params_parse": (c_int, [POINTER(Params), c_char_p, POINTER(c_char_p)]),
    "params_format": (c_int, [POINTER(Params), c_char_p, c_size_t]),
    "tcode_dialect_name": (c_char_p, [c_uint, c_uint]),
    "field_name": (c_char_p, [c_uint]),
    "reader_init": (c_int, [POINTER(Reader), POINTER(Params), c_bool]),
    "reader_feed": (None, [POINTER(Reader), c_void_p, c_size_t]),
    "reader_next": (c_int, [POINTER(Reader), c_void_p]),
    "reader_pending": (c_uint64, [POINTER(Reader)]),
    "object_open_elf": (c_int, [_HANDLE, c_char_p]),
    "object_add_debug_file": (c_int, [c_void_p, POINTER(c_char_p)]),
    "object_get": (c_void_p, [c_void_p]),
    "object_put": (None, [c_void_p]),
    "object_name": (c_char_p, [c_void_p]),
    "object_build_id": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "space_new": (c_int, [_HANDLE, c_char_p, c_void_p]),
    "space_put": (None, [c_void_p]),
    "space_map_linked": (c_int, [c_void_p, c_void_p, c_uint64]),
    "space_locate": (c_int, [c_void_p, c_uint64, POINTER(Location)]),
    "space_version": (c_uint64, [c_void_p]),
    "locator_new": (c_void_p, []),
    "locator_free": (None, [c_void_p]),
    "locator_find": (POINTER(Location), [c_void_p, c_void_p, c_uint64]),
    "flow_type_name": (c_char_p, [c_uint]),
    "flow_describe": (c_int, [c_void_p, c_char_p, c_size_t]),
    "demux_new": (c_int, [_HANDLE, POINTER(FlowConfig), c_uint]),
    "demux_free": (None, [c_void_p]),
    "demux_message": (c_int, [c_void_p, c_void_p]),
    "demux_wire_error": (c_int, [c_void_p, c_uint64]),
    "demux_end": (c_int, [c_void_p, c_uint64]),
    "session_open": (c_int, [_HANDLE, c_char_p, POINTER(SessionOptions)]),
    "session_close": (None, [c_void_p]),
    "session_streams": (c_uint, [c_void_p]),
    "session_stream": (POINTER(Stream), [c_void_p, c_uint]),
    "session_recording": (POINTER(Recording), [c_void_p]),
    "session_decode": (c_int, [c_void_p, POINTER(DecodeOptions)]),
    "profile_new": (c_int, [_HANDLE, POINTER(ProfileOptions)]),
    "profile_free": (None, [c_void_p]),
    "profile_event": (c_int, [c_void_p, c_void_p]),
    "profile_segment": (c_int, [c_void_p, c_void_p]),
    "profile_end": (c_int, [c_void_p]),
    "profile_merge": (c_int, [c_void_p, c_void_p]),
    "profile_traces": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "profile_objects": (POINTER(ProfileObject), [c_void_p, POINTER(c_size_t)]),
    "profile_functions": (POINTER(ProfileFunction), [c_void_p, c_uint, POINTER(c_size_t)]),
    "cursor_config_init": (None, [POINTER(CursorConfig)]),
    "cursor_new": (c_int, [_HANDLE, POINTER(CursorConfig)]),
    "cursor_free": (None, [c_void_p]),
    "cursor_place": (POINTER(CursorPlace), [c_void_p]),
    "cursor_next": (c_int, [c_void_p]),
    "cursor_prev": (c_int, [c_void_p]),
    "cursor_first": (c_int, [c_void_p]),
    "cursor_last": (c_int, [c_void_p]),
    "cursor_seek_time": (c_int, [c_void_p, c_uint64]),
    "cursor_seek_address": (c_int, [c_void_p, c_uint64, c_bool]),
    "cursor_seek_function": (c_int, [c_void_p, c_char_p, c_bool]),
    "cursor_seek_type": (c_int, [c_void_p, c_uint, c_bool]),
    "cursor_save": (None, [c_void_p, POINTER(CursorMark)]),
    "cursor_restore": (c_int, [c_void_p, POINTER(CursorMark)]),
    "cursor_compare": (c_int, [POINTER(CursorMark), POINTER(CursorMark)]),
    "cursor_threads": (c_int, [c_void_p, POINTER(POINTER(CursorThread)), POINTER(c_size_t)]),
    "values_new": (c_int, [_HANDLE, POINTER(ValuesConfig)]),
    "values_free": (None, [c_void_p]),
    "values_seek": (c_int, [c_void_p, POINTER(CursorMark), c_uint32]),
    "values_register": (c_int, [c_void_p, c_uint, POINTER(ExecValue)]),
    "values_memory": (c_int, [c_void_p, c_uint64, c_uint, POINTER(ExecValue)]),
    "tandem_params_init": (None, [POINTER(TandemParams)]),
    "tandem_params_refusal": (c_char_p, [POINTER(TandemParams)]),
    "tandem_reader_init": (c_int, [POINTER(TandemReader), POINTER(TandemParams)]),
    "tandem_reader_feed": (None, [POINTER(TandemReader), c_void_p, c_size_t]),
    "tandem_read": (c_int, [POINTER(TandemReader), POINTER(TandemField), c_size_t]),
    "tandem_reader_pending": (c_uint, [POINTER(TandemReader)]),
    "tandem_write": (c_int, [POINTER(TandemParams), POINTER(TandemField), c_void_p]),
    "tandem_register_name": (c_char_p, [c_uint, c_void_p]),
    "tandem_register_number": (c_int, [c_char_p]),
    "tandem_type_name": (c_char_p, [c_uint]),
    "tandem_state_name": (c_char_p, [c_uint]),
    "tandem_problem": (c_char_p, [c_uint]),
    "domain_of": (c_uint, [c_uint]),
    "domain_name": (c_char_p, [c_uint]),
}


def library_path() -> str:
    """$NTRACE_LIBRARY, else the library of the wheel, of the prefix (lib/pythonX.Y/dist-packages/ntrace), or of the build in
    whose tree the module is, else the one that the system finds. A library of the module's own tree fits it."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, *where, "libntrace.so.0") for where in ((), ("..", "..", ".."), ("..", "..", "..", "build"))]
    return os.environ.get("NTRACE_LIBRARY") or next(filter(os.path.exists, places), "libntrace.so.0")


def load() -> ctypes.CDLL:
    path = library_path()
    try:
        found = ctypes.CDLL(path, use_errno=True)
    except OSError as error:
        raise ImportError("cannot load libntrace (NTRACE_LIBRARY can name it): %s" % error) from None
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = found["ntrace_" + name]
        except AttributeError:
            raise ImportError("%s is older than this module: it has no ntrace_%s"
                              % (path, name)) from None
        function.restype = result
        function.argtypes = list(arguments)
        setattr(found, name, function)
    return found


library: Any = load()


def names(function: Any, count: int, *arguments: int) -> List[str]:
    """What a function that names numbers calls those below count."""
    return [(function(number, *arguments) or b"").decode() for number in range(count)]


def _latin1(error: UnicodeError) -> Tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start:error.end].decode("latin-1"), error.end


codecs.register_error("ntrace.latin1", _latin1)


def text(name: Optional[bytes]) -> str:
    """A name, which may have any bytes, as ntrace/text.h has it in UTF-8; "" for None."""
    return (name or b"").decode(errors="ntrace.latin1")
