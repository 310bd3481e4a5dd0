#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=45
"""Compares the trace with the instructions that retired.

Runs the bare-metal programs of payload/ in the virtual SoC, each in BTM and HTM,
decodes the buffer with second_decoder.py, and compares the result with the flow that
the program's comments describe. A program runs with the first of VARIANTS that
it allows, programs of EVERY_VARIANT with all of them, as does every program if the
variable BLOCK_HOOK_ALL is set.

    # flow: start | stop | exception | interrupt | error
    # flow: A..B            the instructions from label A up to, not including, B
    # flow: A..B xN         N times; N may be a label: the dword in memory there
    # outcomes: TNT         all conditional branches, taken or not
    # contexts: 0x22e       PROCESS of all Ownership messages
    # options: -smp 2       of the emulator
    # only: htm             or btm, or a name of VARIANTS
    # check: NAME           a function below in place of the flow
    # value: LABEL NUMBER   the dword in memory there, at the end
    # says: PATTERN         the only message of the emulator
    # flow0: flow1:         for "check: sources": the flow of each hart
"""

import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent)]
sys.dont_write_bytecode = True
import second_decoder  # noqa: E402
from tap import done, ok  # noqa: E402

BASE = 0x80000000
MODES = {"btm": 3, "htm": 6}
VARIANTS = {
    "blocks": ["-accel", "tcg"],
    "one instruction per block": ["-accel", "tcg,one-insn-per-tb=on"],
    "instruction counter": ["-accel", "tcg,thread=single", "-icount", "shift=0"],
    "small cache": ["-accel", "tcg,tb-size=1"],
    "checked": ["-cpu", "rv64,smctr=true,ssctr=true", "-global", "ntrace-encoder.ctr-check=/dev/null"],
}
# These programs together cover each kind of transfer, trap and code change.
EVERY_VARIANT = {"transfers", "self_modifying", "interrupt"}
# The harts of these run in one thread, and in several.
EVERY_VARIANT |= {"k3", "k3_pages"}


class Payload:
    def __init__(self, path, mode, work):
        self.text = path.read_text()
        self.elf = work / f"{path.stem}.{mode}.elf"
        subprocess.run(
            ["riscv64-linux-gnu-gcc", "-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments",
             f"-Wl,-Ttext={BASE:#x}", "-Wl,--no-relax", f"-Wa,--defsym,MODE={MODES[mode]}",
             f"-I{HERE}/payload", str(path), "-o", str(self.elf)], check=True)
        self.symbols = {}
        for line in subprocess.run(["riscv64-linux-gnu-nm", str(self.elf)], check=True,
                                   capture_output=True, text=True).stdout.splitlines():
            value, _, name = line.split()
            self.symbols[name] = int(value, 16)

    def comments(self, key):
        return re.findall(rf"^# {key}: (.*?)\s*$", self.text, re.M)


class Run:
    def __init__(self, payload, mode, options, work):
        self.payload = payload
        self.options = options
        self.btm = mode == "btm"
        memory = work / "memory"
        memory.unlink(missing_ok=True)
        extra = " ".join(payload.comments("options")).split()
        self.output = subprocess.run(
            [QEMU, "-M", "virt,ntrace=on,memory-backend=ram", "-object",
             f"memory-backend-file,id=ram,size=32M,mem-path={memory},share=on",
             "-bios", "none", "-display", "none", "-serial", "none", "-monitor", "none",
             "-kernel", str(payload.elf), *options, *extra],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=True)
        self.memory = memory.read_bytes()

    def read(self, address, size):
        return int.from_bytes(self.memory[address - BASE:address - BASE + size], "little")

    def dword(self, name):
        return struct.unpack_from("<Q", self.memory, self.payload.symbols[name] - BASE)[0]

    def bytes(self):
        start = self.payload.symbols["buffer"]
        return self.memory[start - BASE:self.dword("write_pointer") - BASE]

    def flow(self, src_bits=0, src=None, stream=None):
        """The flow of a SRC. Its events are what programs describe: no periodic sync, and
        Ownership apart."""
        isa = "rv64gc_zcmp" if "zcmp" in self.payload.text else "rv64gc"
        params = {"isa": isa, "srcbits": str(src_bits), "mode": "btm" if self.btm else "htm"}
        flow = second_decoder.Flow(self.read, params, src)
        events = flow.run(self.bytes() if stream is None else stream).events
        owners = [event for event in events if str(event).startswith("owner ")]
        flow.contexts = [int(event.split()[1], 16) for event in owners]
        flow.events = ["error" if event == "lost" else event for event in events
                       if event != "sync" and event not in owners]
        return flow

    def straight(self, first, end):
        pc, stop = self.payload.symbols[first], self.payload.symbols[end]
        while pc < stop:
            yield pc
            pc += second_decoder.decode(self.read, pc, 64, "", 0)[0]
        if pc != stop:
            raise ValueError(f"{first}..{end} does not end on an instruction")

    def expected(self, key="flow"):
        events = []
        for line in self.payload.comments(key):
            match = re.fullmatch(r"(\w+)\.\.(\w+)(?: x(\w+))?", line)
            if not match:
                events.append(line)
                continue
            times = match[3] or "1"
            times = int(times) if times.isdigit() else self.dword(times)
            events += list(self.straight(match[1], match[2])) * times
        return events


def show(run, event):
    if not isinstance(event, int):
        return str(event)
    name, value = max(((name, value) for name, value in run.payload.symbols.items() if value <= event),
                      key=lambda item: item[1])
    return f"{event:#x} {name}+{event - value:#x}"


def difference(run, got, expected):
    for i in range(max(len(got), len(expected))):
        a = got[i] if i < len(got) else "the end"
        b = expected[i] if i < len(expected) else "the end"
        if a != b:
            return f"step {i}: got {show(run, a)}, expected {show(run, b)}"
    return ""


def check_flow(run, tail=()):
    flow = run.flow()
    why = difference(run, flow.events, run.expected() + list(tail))
    if why:
        return why
    for contexts in run.payload.comments("contexts"):
        got = " ".join(map(hex, flow.contexts))
        if got != contexts:
            return f"Ownership: got {got}, expected {contexts}"
    for outcomes in run.payload.comments("outcomes"):
        if flow.outcomes != outcomes:
            return f"branches: got {flow.outcomes}, expected {outcomes}"
    return check_values(run)


def check_interrupted_loop(run):
    """The written flow, then a loop that a timer ends at the place that the program has stored."""
    symbols = run.payload.symbols
    turn = list(run.straight("loop", "loop_end"))
    turns, where = run.dword("turns"), run.dword("where")
    if where == symbols["loop"]:
        loop = turn * turns
    else:
        loop = turn * (turns - 1) + [pc for pc in turn if pc < where]
    tail = loop + ["interrupt"] + list(run.straight("timer", "left_end")) + ["stop"]
    if turns < 2:
        return "the loop did not turn: no test"
    return check_flow(run, tail)


def check_sources(run):
    """SRC has one bit; flow0 and flow1 are the flows of the two harts."""
    for src in (0, 1):
        why = difference(run, run.flow(1, src).events, run.expected(f"flow{src}"))
        if why:
            return f"SRC {src}, {why}"
    return ""


def pages(run):
    """The addresses of the pages of a scatter-gather table, in the order of the buffer."""
    at = run.payload.symbols["table"]
    while True:
        entry, = struct.unpack_from("<I", run.memory, at - BASE)
        address, kind = (entry & ~15) << 8, entry & 3
        at = address if kind == 3 else at + 4
        if kind != 3:
            yield address
        if kind == 1:
            return


def k3_buffer(run):
    """The frames, from the first address of the buffer to the write pointer."""
    end = run.dword("write_pointer")
    if ".set\tSCATTER, 0" in run.payload.text:
        return run.memory[run.payload.symbols["buffer"] - BASE:end - BASE]
    frames = b""
    for page in pages(run):
        if page <= end < page + 4096:
            return frames + run.memory[page - BASE:end - BASE]
        frames += run.memory[page - BASE:page - BASE + 4096]
    raise ValueError("the write pointer is in none of the pages")


def deframe(data):
    """Yields (ID, byte) of CoreSight formatter frames."""
    source = None
    for frame in (data[i:i + 16] for i in range(0, len(data), 16)):
        for k in range(8):
            low, even = frame[15] >> k & 1, frame[2 * k]
            odd = frame[2 * k + 1:2 * k + 2] if k < 7 else b""
            before = source
            if even & 1:
                source = even >> 1
            else:
                yield source, even | low
            for byte in odd:
                yield before if even & 1 and low else source, byte


def check_k3(run):
    """Each hart has a trace ID; the formatter's frames switch between them inside messages."""
    other = 1 + 2 * int(re.search(r"OTHER, (\d+)", run.payload.text)[1])
    streams = {1: b"", other: b""}
    switches, last = 0, None
    for source, byte in deframe(k3_buffer(run)):
        if source == 0:
            continue
        if last in streams and source != last:
            switches += streams[last][-1] & 3 != 3
        streams[source] += bytes([byte])
        last = source
    for src, stream in enumerate(streams.values()):
        for message in second_decoder.messages(stream, 1):
            if message["SRC"] != src:
                return f"a message of SRC {message['SRC']} has the ID of hart {src}"
        flow = run.flow(1, src, stream)
        why = difference(run, flow.events, run.expected(f"flow{src}"))
        if why:
            return f"SRC {src}, {why}"
    # Harts in threads of their own may happen to run one after the other.
    if not switches and "-icount" in run.options:
        return "no switch inside a message"
    return check_values(run)


def check_values(run):
    """The program has stored the values that registers returned."""
    for line in run.payload.comments("value"):
        name, value = line.split()
        if run.dword(name) != int(value, 0):
            return f"{name} is {run.dword(name):#x}, not {value}"
    for pattern in run.payload.comments("says"):
        if not re.fullmatch(f"\\S+: {pattern}\n", run.output.stderr):
            return f"the emulator does not say: {pattern}\n{run.output.stderr}"
    return ""


def check_v0(run):
    """A v0 encoder always sends two bits of SRC."""
    why = difference(run, run.flow(2, 0).events, run.expected("flow0"))
    return why or check_values(run)


def timed_messages(run):
    messages = list(second_decoder.messages(run.bytes()))
    if any("TSTAMP" not in message for message in messages):
        raise ValueError("a message without TSTAMP")
    return messages


def check_core_time(run):
    """A cycle is a parcel, so time is I-CNT; in BTM, I-CNT at the begin of a message's last
    block."""
    messages = timed_messages(run)
    time = parcels = 0
    for i, message in enumerate(messages):
        time += message["TSTAMP"]
        parcels += message["ICNT"]
        if not 0 <= parcels - time <= (4 if run.btm else 0):
            return f"message {i} at {time}, after {parcels} parcels: {message}"
    counter = parcels
    if counter != run.dword("counter"):
        return f"trTsCounter is {run.dword('counter')}, not {counter}"
    return check_values(run) if len(messages) > 1000 else "hardly any messages"


def check_system_time(run):
    """TSTAMP is absolute in messages with SYNC, a difference in others; all times lie between
    two readings.

    With an instruction counter, a block counts as executed when it begins."""
    time = run.dword("before")
    messages = timed_messages(run)
    for i, message in enumerate(messages):
        before, time = time, message["TSTAMP"] + (0 if "SYNC" in message else time)
        if time < before:
            return f"message {i}: {time} after {before}"
    if not run.dword("before") < time <= run.dword("after") + 16:
        return f"the last one at {time} is not between {run.dword('before')} and {run.dword('after')}"
    return check_values(run) if len(messages) > 1000 else "hardly any messages"


def check_losses(run):
    """Losses occur repeatedly: each has an Error message, and the trace then continues
    correctly."""
    events = run.flow().events
    errors = [i for i, event in enumerate(events) if event == "error"]
    if len(errors) < 3:
        return f"only {len(errors)} losses"
    if any(i + 1 < len(events) and events[i + 1] != "start" for i in errors):
        return "an Error without a new start"
    if events[0] != "start" or sum(isinstance(event, int) for event in events) < 300:
        return "hardly any trace"
    return check_values(run)


def check_random_calls(run):
    """The other hart starts and stops the trace: each span is one run of a sequence that never
    repeats."""
    state, sequence = 1, []
    for _ in range(run.dword("iterations")):
        state = (state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        sequence.append(state >> 62)
    places = {run.payload.symbols[f"f{i}"]: i for i in range(4)}
    flow = run.flow()
    spans, calls = 0, []
    text = "".join(map(str, sequence))
    for event in flow.events:
        if event == "start":
            calls = []
        elif event == "stop":
            spans += 1
            if "".join(map(str, calls)) not in text:
                return f"span {spans}: {len(calls)} calls are no run of the sequence"
            if not calls and spans <= run.dword("spans"):
                return f"span {spans} is empty"
        elif event in places:
            calls.append(places[event])
    # There are as many spans as starts. One more start follows when the hart is done: it is nearly
    # always asleep by then, and sends nothing.
    wanted = run.dword("spans")
    return "" if spans in (wanted, wanted + 1) else f"{spans} spans, not {wanted}"


def main():
    global QEMU
    QEMU = os.environ.get("QEMU") or subprocess.run(
        [str(TOP / "tools/vsoc/qemu/build"), "--path"], check=True, capture_output=True, text=True).stdout.strip()
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="block_hook.") as name:
        work = pathlib.Path(name)
        for path in sorted((HERE / "payload").glob("*.S")):
            if "# flow:" not in path.read_text() and "# check:" not in path.read_text():
                continue
            if wanted and path.stem not in wanted:
                continue
            comment = path.read_text().split("/*")[2].split("*/")[0]
            title = " ".join(comment.replace("\n *", "\n").split()).split(".")[0]
            for mode in MODES:
                payload = Payload(path, mode, work)
                only = payload.comments("only")
                if set(only) & set(MODES) and mode not in only:
                    continue
                allowed = [name for name in VARIANTS if name in only] or list(VARIANTS)
                if not os.environ.get("BLOCK_HOOK_ALL") and path.stem not in EVERY_VARIANT:
                    allowed = allowed[:1]
                for variant in allowed:
                    options = VARIANTS[variant]
                    why = ""
                    try:
                        run = Run(payload, mode, options, work)
                        check = payload.comments("check")
                        why = globals()["check_" + check[0]](run) if check else check_flow(run)
                        if run.output.stderr and not payload.comments("says"):
                            why += "\n" + run.output.stderr
                    except subprocess.TimeoutExpired:
                        why = "the program did not end"
                    except subprocess.CalledProcessError as error:
                        why = error.stderr
                    except (ValueError, KeyError, IndexError, struct.error) as error:
                        why = f"decoder: {error!r}"
                    ok(not why, f"{path.stem}: {title}, {mode.upper()}, {variant}", why)
    done()


if __name__ == "__main__":
    main()
