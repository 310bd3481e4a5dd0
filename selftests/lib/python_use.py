# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the Python module for python.sh: python_use.py DIRECTORY ROUNDS with|without (numpy)

DIRECTORY has demo (the program), trace, pcs (what was executed, written by the shell) and the
recording dir. A second opinion of the messages is second_decoder.py, which shares no code with
the library.
"""

import gc
import os
import resource
import sys

if sys.argv[3] == "without":
    sys.modules["numpy"] = None
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import second_decoder  # noqa: E402
from tap import done, ok  # noqa: E402
import ntrace  # noqa: E402
from ntrace import _session  # noqa: E402



def same(got, expected, text):
    ok(got == expected, text, "     got %.2000r" % (got,), "expected %.2000r" % (expected,))


def raises(kind, words, text, function, *arguments):
    try:
        got = function(*arguments)
    except Exception as error:
        same((isinstance(error, kind), words in str(error)), (True, True),
             "%s: %s: %s" % (text, type(error).__name__, error))
    else:
        same(got, kind, text)


def instructions(blocks):
    """PCs: all instructions of demo that stand in a block with others have 16 bits."""
    for address, count in zip(blocks["address"], blocks["instructions"]):
        for number in range(int(count)):
            yield int(address) + 2 * number


def messages(trace):
    table = ntrace.Messages(trace, "xlen=64")
    with open(trace, "rb") as file:
        expected = list(second_decoder.messages(file.read()))
    same(len(table), len(expected), "as many messages (%d) as the second opinion has" % len(expected))
    same(table.text("tcode")[0], "ProgTraceSync", "the first one's name")
    pairs = [(set(table.fields(index).items()), second) for index, second in enumerate(expected)]
    wrong = [pair for pair in pairs if not pair[0] <= set(pair[1].items())]
    same(wrong[:3], [], "and the same fields")
    same(all(mine for mine, _ in pairs), True, "none without a field")
    same(sum(table["length"]), os.path.getsize(trace), "lengths add up to the file")
    same([int(flag) for flag in table.has("FADDR")], [int("FADDR" in second) for second in expected],
         "has()")
    same((table.errors, table.pending), ([], 0), "the trace is whole")
    row = table[-1]
    same((row.offset + row.length, row), (os.path.getsize(trace), list(table)[-1]), "rows")
    with open(trace, "rb") as file:
        cut = ntrace.Messages(file.read()[:-1])
    same((len(cut), cut.pending > 0), (len(table) - 1, True), "a cut end is told")
    same(len(ntrace.Messages(b"")), 0, "nothing in an empty trace")


def raw(directory, pcs):
    with ntrace.Space("demo") as space:
        space.map(directory + "/demo")
        location = space.locate(0x1000c)
        same((location.symbol, location.offset, space.locate(1)), ("leaf", 0, None), "locate()")
        blocks = ntrace.decode(directory + "/trace", None, space)
    same(list(instructions(blocks)) == pcs, True, "decode(): the instructions that were executed")
    same({event.kind for event in blocks.events}, {"sync", "trace off"}, "and events, no error")
    same(blocks.events[-1].rows, len(blocks), "with their place among the blocks")
    same(sum(map(int, blocks["taken"])) * 6, len(blocks) * 5, "five of six blocks end in a transfer")
    same(set(blocks.text("insn_class")), {"branch", "call", "return", "jump"}, "and how")
    offsets = [int(offset) for offset in blocks["offset"]]
    same((offsets == sorted(offsets), len(set(offsets)) > 10), (True, True), "offsets of messages")
    with ntrace.Space("nothing") as space:
        kinds = {event.kind for event in ntrace.decode(directory + "/trace", "", space).events}
    same({"error", "gap"} <= kinds, True, "without the program there are errors and gaps")


def recording(directory, pcs, rounds):
    with ntrace.Session(directory + "/dir") as session:
        stream = session.streams[0]
        same((stream.cpu, stream.bytes, stream.params.xlen), (0, os.path.getsize(directory + "/trace"), 64),
             "the stream")
        same(session.description["clock"], "monotonic", "the recording")
        same(len(session.messages()) > rounds, True, "its messages")
        blocks = session.blocks()
        same(list(instructions(blocks)) == pcs, True, "Session.blocks(): what was executed")
        same((set(blocks["pid"]), set(blocks.text("comm"))), ({42}, {"demo"}), "by whom")
        same({name: blocks.text("symbol").count(name) for name in ("_start", "leaf")},
             {"_start": 5 * rounds, "leaf": rounds}, "in which function")
        same(set(blocks.text("object")), {directory + "/demo"}, "of which program")
        same(blocks.stats[0].instructions, 10 * rounds, "and how much")
        same("symbol" in session.blocks(places=False).columns, False, "without places")
        same(any("kallsyms" in note for note in session.notes), True, "notes say what is missing")
        profile = session.profile(pid=42, privileges="U,vu")
        counted = {(hex(branch.source), hex(branch.target)): branch.times for branch in profile.branches()}
        same(counted, {("0x10004", "0x10002"): 2 * rounds, ("0x10006", "0x1000c"): rounds,
                       ("0x1000c", "0x1000a"): rounds, ("0x1000a", "0x10000"): rounds}, "Profile.branches()")
        same(profile.instructions, [10 * rounds], "Profile.instructions")
        traces = profile.traces()
        same(sum(int(row.count * row.instructions) for row in traces), 10 * rounds, "Profile.traces()")
        profile.merge(session.profile())
        same(profile.instructions, [20 * rounds], "Profile.merge()")
        same(sum(session.profile(pid=7).instructions), 0, "nothing of another process")
        objects = profile.objects
        profile.close()
        same((objects[0].name, objects[0].symbol(0x1000c)), (directory + "/demo", ("leaf", 0)),
             "objects outlive the profile")
        hot = session.hot_functions(pid=42, privileges="u")
        same([(function.name, function.instructions, function.calls, function.branches)
              for function in hot], [("_start", 9 * rounds, 0, 4 * rounds), ("leaf", rounds, rounds, rounds)],
             "Session.hot_functions()")
        same((hot[1].object, hot[1].domain, hot[1].start, hot[1].pid, hot[1].process),
             (directory + "/demo", "user", 0x1000c, -1, ""), "and where they are")
        same([(function.pid, function.process) for function in session.hot_functions(by_process=True)],
             [(42, "demo"), (42, "demo")], "by process")
        same(session.hot_functions(privileges="s"), [], "none of the kernel")
        with session.profile(functions=True) as both:
            same(([function.name for function in both.functions("calls")], both.instructions),
                 (["leaf", "_start"], [10 * rounds]), "Profile.functions() beside traces")
            raises(ntrace.Error, "'x' is none of instructions, calls", "an order that is none", both.functions, "x")
        raises(ntrace.Error, "profile(functions=True) counts them", "a profile without functions says so", session.profile().functions)
        same(repr(session), "<ntrace.Session>", "a session as text")
        raises(ntrace.Error, "'ux' is not a set of u, s, m, vu, vs", "a privilege that is none", session.profile, -1, "ux")
        raises(IndexError, "no stream 7", "a stream that is none", session.blocks, [7])
        event_of, _session.event_of = _session.event_of, lambda *_: 1 // 0
        raises(ZeroDivisionError, "", "what a callback raises comes out", session.blocks)
        _session.event_of = event_of
        same(len(session.blocks()), len(blocks), "and the session works on")
    raises(ValueError, "Session is closed", "a closed one", lambda: session.streams)
    same(repr(session), "<ntrace.Session, closed>", "as text")


def cursors(directory, pcs, rounds):
    with open(directory + "/trace", "rb") as file:
        trace = file.read()
    with ntrace.Space("demo").map(directory + "/demo") as space, ntrace.Cursor(trace, None, space) as cursor:
        there = [place.address for place in cursor if place.kind == "block"]
        same(there == pcs, True, "Cursor: the instructions that were executed")
        same((cursor.place, cursor.next()), (None, None), "Cursor: no place after the last one")
        back = []
        while cursor.prev():
            back.append(cursor.place)
        same([place.address for place in reversed(back) if place.kind == "block"] == pcs, True,
             "Cursor: and backwards")
        first = cursor.first()
        start = cursor.save()
        calls = 0
        while cursor.seek_function("leaf"):
            calls += 1
        same((first.kind, calls, cursor.place.location.symbol), ("sync", rounds, "leaf"), "seek_function()")
        end = cursor.save()
        same((start < end, start == cursor.save(), end == cursor.save(), start != end),
             (True, False, True, True), "positions are ordered")
        same((cursor.restore(start), cursor.restore(end).address), (first, 0x1000c), "restore()")
        same((cursor.seek_type("trace off").kind, cursor.seek_type("gap")), ("trace off", None), "seek_type()")
        same((cursor.seek_address(0x10006, backwards=True).bytes.hex(), cursor.place.insn_class),
             (cursor.place.bytes.hex(), "call"), "seek_address()")
    with ntrace.Session(directory + "/dir") as session:
        same([(thread.pid, thread.comm, thread.instructions) for thread in ntrace.threads(session)
              if thread.instructions], [(42, "demo", 10 * rounds)], "threads()")
        cursor = ntrace.Cursor(session, pid=42, privileges="u", blocks=True)
        blocks = [place for place in cursor if place.kind == "block"]
        same((len(blocks), sum(block.instructions for block in blocks)),
             (len(session.blocks(places=False)), 10 * rounds), "blocks of a process")
        raises(ntrace.Error, "invalid", "a stream that is none", lambda: ntrace.Cursor(session, stream=7))
        raises(ValueError, "pid and tid", "values of no thread", cursor.register, "a0")
        thread = ntrace.Cursor(session, pid=42, tid=42)
        raises(ValueError, "no register q0", "no register", thread.register, "q0")
        same((thread.register("a0"), thread.memory(4096, 2)), (ntrace.Value(0, 0), [None, None]), "before the first place nothing is known")
        while thread.next().kind != "block":
            pass
        raises(ntrace.Error, "values: ", "a recording without values", thread.memory, 4096, 2)
    raises(ValueError, "Cursor is closed", "a cursor ends with its session", cursor.next)


def errors(directory):
    raises(FileNotFoundError, "/nonexistent", "no recording", ntrace.Session, "/nonexistent")
    raises(ntrace.Error, "/etc is not a recording", "another directory", ntrace.Session, "/etc")
    raises(ntrace.Error, "/etc/passwd: ", "no ELF file", ntrace.Object, "/etc/passwd")
    raises(ntrace.Error, sys.executable, "a program of another machine", ntrace.Object, sys.executable)
    raises(ntrace.Error, "cannot use 'colour=red'", "a parameter that is none", ntrace.Params,
           "srcbits=2,colour=red")
    raises(KeyError, "no column 'x', there are offset", "a column that is none",
           lambda: ntrace.Messages(b"")["x"])
    raises(IndexError, "row 0 of a table of 0", "a row that is none", lambda: ntrace.Messages(b"")[0])


def tandem(directory):
    """The example of tandem-trace.md, byte by byte, and what cannot be read or written."""
    trace = ntrace.Tandem(xlen=32)
    data = trace.start(pc=0x80000000, priv=3)
    same(data.hex(), "010b070a00000080070103" + "02", "tandem: the start")
    data += trace.group(0x00500513, pc=0x80000004, registers={"a0": 5})
    data += trace.group(0x00a32023, address=0x80001000, store=(5, 4)) + trace.group(None, priv=3, registers={"mcause": 7})
    same(data[12:].hex(), "01070a04000080040a10050000001113055000" + "02" "01112320a3000703001000800706050000000" "2"
         "01070103044203070000000" "2", "tandem: an instruction, a store, an interrupt")
    with open(os.path.join(directory, "tandem"), "wb") as file:
        file.write(data)
    fields = list(trace.read(os.path.join(directory, "tandem")))
    same([field.type for field in fields[:5]], ["begin", "init", "state", "state", "end"], "tandem: types")
    same([(field.name, field.value) for field in fields if field.name][:3],
         [("pc", 0x80000000), ("priv", 3), ("pc", 0x80000004)], "tandem: names and values")
    same(fields[7].name, "a0", "tandem: a register")
    same([field.problem != "" for field in trace.read(b"\x02")], [True], "tandem: a violation")
    raises(ntrace.Error, "offset 0x0: unknown opcode", "tandem: a damaged trace", lambda: list(trace.read(b"\x12")))
    raises(ntrace.Error, "ends in a field", "tandem: a cut trace", lambda: list(trace.read(data[:-2])))
    raises(ntrace.Error, "register 'b0'", "tandem: an unknown register", trace.group, 0x13, None, None, {"b0": 1})
    raises(ntrace.Error, "field register", "tandem: a value that is too wide", trace.group, 0x13, None, None, {"a0": 1 << 32})
    raises(ntrace.Error, "xlen", "tandem: an impossible parameter", ntrace.Tandem, 48)


def memory(directory):
    """What is closed, or forgotten, is given back."""
    def use(times):
        for _ in range(times):
            with ntrace.Session(directory + "/dir.small") as session:
                session.profile(functions=True).functions()
                session.blocks()
            ntrace.decode(directory + "/trace.small", None, ntrace.Space("x").map(directory + "/demo"))
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = use(50)
    grown = use(200) - before
    same(grown < 1024, True, "200 sessions more take no more memory (%d KiB)" % grown)


def main():
    directory, rounds = sys.argv[1], int(sys.argv[2])
    with open(directory + "/pcs") as file:
        pcs = [int(line, 0) for line in file]
    same(type(ntrace.Messages(b"")["offset"]).__name__,
         "array" if sys.argv[3] == "without" else "ndarray", "columns are of the right kind")
    messages(directory + "/trace")
    raw(directory, pcs)
    recording(directory, pcs, rounds)
    cursors(directory, pcs, rounds)
    errors(directory)
    tandem(directory)
    memory(directory)
    done()


main()
