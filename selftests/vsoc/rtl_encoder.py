#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=20
"""The trace encoder in Verilog (selftests/vsoc/rtl) without a guest.

This script is the SoC's side of the co-simulation port (tools/vsoc/remote.h). It programs the encoder and the RAM
sink, retires the blocks of a random walk through a random program, and collects what the sink writes to memory.
`ntrace decode` and second_decoder.py must both find the walk in it. Then the same with losses and with stalls.
"""

import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "selftests"), str(TOP / "selftests/oracle")]
sys.dont_write_bytecode = True
import second_decoder  # noqa: E402
from tap import done, ok  # noqa: E402

SERVER, NTRACE = os.environ.get("RTL_SERVER", TOP / "build/vsoc/rtl_server"), TOP / "build/ntrace"
SEED = int(os.environ.get("SEED", "1"))
HELLO, PAGE, READ, WRITE, REPLY, BLOCK, STATE, TIME, SYNC, MEM, ACTIVE, STALL, RESET = range(1, 14)
BTM, HTM = 3, 6
ENCODER, SINK = 0x6000000, 0x6040000
BUFFER, BUFFER_SIZE = 0x90000000, 1 << 20
KERNEL, USER = 0xffffffff80200000, 0x10000
INSTRUCTIONS = 6000


class Port:
    """The SoC's end of the port."""

    def __init__(self, directory, *arguments):
        path = f"{directory}/socket"
        self.process = subprocess.Popen([SERVER, path, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.stream = self.socket.makefile("rb")
        self.memory, self.active, self.stalled = {}, set(), 0
        self.accesses, self.time, self.waiting = 0, 0, b""
        op, _, _, self.itype_bits, pages = self.receive()
        assert op == HELLO and self.itype_bits == 4
        self.pages = [self.receive() for _ in range(pages)]
        self.send(RESET)

    def receive(self):
        return struct.unpack("<IIQQQ", self.stream.read(32))

    def send(self, op, id=0, a=0, b=0, c=0):
        self.waiting += struct.pack("<IIQQQ", op, id, a, b, c)

    def answer(self, wanted):
        self.socket.sendall(self.waiting)
        self.waiting = b""
        while True:
            op, id, a, b, c = self.receive()
            if op == MEM:
                self.memory[a] = struct.pack("<QQ", b, c)[:id]
            elif op == ACTIVE:
                (self.active.add if a else self.active.discard)(id)
            elif op == STALL:
                self.stalled += a
            else:
                assert (op, id) == (wanted, self.accesses), (op, id)
                return a, b

    def access(self, op, address, value=0):
        self.accesses += 1
        self.send(op, self.accesses, address, value)
        value, error = self.answer(REPLY)
        assert not error, hex(address)
        return value

    def read(self, address):
        return self.access(READ, address)

    def write(self, address, value):
        self.access(WRITE, address, value)

    def sync(self):
        self.accesses += 1
        self.send(SYNC, self.accesses)
        self.answer(SYNC)

    def close(self):
        self.socket.close()
        self.stream.close()
        self.process.stdout.close()
        return self.process.wait()


def field(value, *places):
    """Scatters an immediate: (low bit in the value, width, low bit in the instruction)."""
    return sum((value >> low & ((1 << width) - 1)) << to for low, width, to in places)


def branch(offset):
    return 0x63 | field(offset, (11, 1, 7), (1, 4, 8), (5, 6, 25), (12, 1, 31))


def jal(rd, offset):
    return 0x6f | rd << 7 | field(offset, (12, 8, 12), (11, 1, 20), (1, 10, 21), (20, 1, 31))


def c_beqz(offset):
    return 0xc001 | field(offset, (5, 1, 2), (1, 2, 3), (6, 2, 5), (3, 2, 10), (8, 1, 12))


# Instructions without a target: length, word, itype if they retire
PLAIN = [(2, 0x0001, 0), (4, 0x13, 0), (4, 0x00100093, 0)]
INDIRECT = [(4, 0x000500e7, 8), (2, 0x9502, 8), (2, 0x8502, 10), (4, 0x000303e7, 14), (4, 0x00008067, 13),
            (2, 0x8082, 13), (4, 0x000280e7, 12)]
RETURN = [(4, 0x10200073, 3), (4, 0x30200073, 3)]


class Program:
    """Instructions in two regions: {address: (length, itype, target)}."""

    def __init__(self, rng, straight):
        """@straight: a higher number makes indirect jumps and traps rarer."""
        self.code, self.images, self.trap_rate = {}, {}, 0.01 / straight
        weights = {"plain": 8, "branch": 4, "short": 2, "jump": 1, "indirect": 2 / straight, "return": 0.5 / straight}
        for base in KERNEL, USER:
            places, address, kinds = [], base, []
            for _ in range(120):
                kind = rng.choices(list(weights), weights.values())[0]
                length, word, itype = rng.choice({"indirect": INDIRECT, "return": RETURN}.get(kind, PLAIN))
                length = {"branch": 4, "short": 2, "jump": 4}.get(kind, length)
                places.append((address, kind, length, word, itype))
                address += length
            image = b""
            for address, kind, length, word, itype in places:
                near = [place[0] for place in places if -250 < place[0] - address < 250]
                target = None
                if kind in ("branch", "short", "jump"):
                    target = rng.choice(near)
                    rd = rng.choice((0, 1, 7))
                    itype = {"branch": 4, "short": 4}.get(kind, {0: 11, 1: 9, 7: 15}[rd])
                    offset = target - address
                    word = branch(offset) if kind == "branch" else c_beqz(offset) if kind == "short" else jal(rd, offset)
                self.code[address] = length, itype, target
                image += word.to_bytes(length, "little")
            last = places[-1][0] + places[-1][2]
            self.code[last] = 4, 11, base
            self.images[base] = image + jal(0, base - last).to_bytes(4, "little")
        self.addresses = list(self.code)

    def read(self, address, size):
        for base, image in self.images.items():
            if base <= address and address + size <= base + len(image):
                return int.from_bytes(image[address - base:address - base + size], "little")
        raise KeyError(f"no memory at {address:#x}")


class Walk:
    """A random execution: blocks (itype, iretire, ilastsize, priv, scontext, iaddr); events (address of an
    instruction, or "exception" or "interrupt"; priv); values of scontext."""

    def __init__(self, program, rng, count):
        self.blocks, self.events, self.contexts = [], [], [0]
        pc, priv, itype = KERNEL, 1, 0
        # The target of the last transfer is not reported.
        while len(self.events) < count or itype in (1, 2):
            start, parcels, itype, length, after = pc, 0, 0, 2, None
            for _ in range(rng.randint(1, 15)):
                if rng.random() < program.trap_rate:
                    itype = rng.choice((1, 2))
                    break
                length, itype, target = program.code[pc]
                if itype == 3 and priv == 0:
                    itype = 1
                    break
                self.events.append((pc, priv))
                parcels += length // 2
                if itype == 4 and rng.random() < 0.6:
                    itype = 5
                pc = target if itype in (5, 9, 11, 15) else pc + length
                if itype:
                    break
            self.blocks.append((itype, parcels, length // 4, priv, self.contexts[-1], start))
            if itype in (1, 2):
                self.events.append(("exception" if itype == 1 else "interrupt", priv))
                priv = rng.choice((1, 3))
            elif itype == 3:
                priv = rng.choice([mode for mode in (0, 1, 3, 5, 6) if mode != 3 or priv == 3])
            if itype in (1, 2, 3, 8, 10, 12, 13, 14):
                pc = rng.choice(program.addresses)
            if rng.random() < 0.01 and len(self.events) < count:
                self.contexts.append(rng.getrandbits(32))


def trace(port, walk, hart, control, features, timestamps, privileges):
    """Records the walk. @privileges: what the filter matches, or None.
    Returns the bytes, and trTeControl before tracing ends."""
    encoder, sink = ENCODER + 0x1000 * hart, SINK + 0x1000 * hart
    for page in encoder, sink:
        port.write(page, 0)
        port.write(page, 1)
    port.write(sink + 0x10, BUFFER)
    port.write(sink + 0x18, BUFFER + BUFFER_SIZE - 8)
    port.write(sink + 0x20, BUFFER)
    port.write(sink, 3)
    port.write(encoder + 8, features)
    if privileges is not None:
        port.write(encoder + 0x404, sum(1 << priv for priv in privileges))
        port.write(encoder + 0x400, 3)
        port.write(encoder + 0xc, 1)
    port.write(encoder + 0x40, 0x8010 if timestamps else 0)
    port.write(encoder, control | 3)
    port.write(encoder, control | 7)
    assert port.active == {hart}
    port.memory.clear()
    context = 0
    for i, (itype, iretire, ilastsize, priv, scontext, iaddr) in enumerate(walk.blocks):
        if scontext != context or i == 0:
            port.send(STATE, hart, scontext)
            context = scontext
        port.send(BLOCK, iretire | itype << 8 | ilastsize << 12 | priv << 13 | hart << 16, iaddr)
        if i % 97 == 96:
            port.time += 1000
            port.send(TIME, 0, port.time)
            port.sync()
    port.sync()
    status = port.read(encoder)
    port.write(encoder, control | 1)
    assert port.active == set()
    while port.read(encoder) & 8 == 0:
        pass
    port.write(sink, 1)
    while port.read(sink) & 8 == 0:
        pass
    end = port.read(sink + 0x20)
    assert end & 1 == 0, "the buffer is too small for the test"
    return b"".join(port.memory[address] for address in range(BUFFER, end, 8)), status


def params_of(control, features, timestamps):
    params = []
    if features >> 28 and not control >> 15 & 1:
        params.append(f"srcbits={features >> 28}")
    if features >> 10 & 1:
        params.append("extaddr=1")
    if timestamps:
        params.append("tsbits=48")
    params.append(f"mode={'btm' if control >> 4 & 7 == BTM else 'htm'}")
    return ",".join(params)


def state_of(process):
    """(priv, scontext or None) of PROCESS."""
    modes = {(0, 0): 0, (0, 1): 1, (0, 3): 3, (1, 0): 5, (1, 1): 6}
    return modes[process >> 4 & 1, process >> 2 & 3], process >> 5 if process & 3 == 2 else None


def decoded(program, data, params, src):
    """Events of second_decoder.py like those of Walk, the values of scontext, and other events."""
    flow = second_decoder.Flow(program.read, second_decoder.parse_params(params), src).run(data)
    events, contexts, others, priv = [], [], [], None
    for event in flow.events:
        if isinstance(event, int):
            events.append((event, priv))
        elif event in ("exception", "interrupt", "lost"):
            events.append(event)
        elif event.startswith("owner "):
            priv, context = state_of(int(event[6:], 16))
            if context is not None and context not in contexts[-1:]:
                contexts.append(context)
        else:
            others.append(event)
    return events, contexts, others


def ntrace_decode(directory, data, params, src):
    with open(f"{directory}/trace", "wb") as file:
        file.write(data)
    command = [NTRACE, "decode", "--level", "pc", "-p", params, f"{directory}/trace"]
    for base in KERNEL, USER:
        command += ["--raw", f"{directory}/{base:x}@{base:#x}"]
    if src is not None:
        command += ["--src", str(src)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, [int(line, 16) for line in result.stdout.split()], result.stderr


def first_difference(got, want):
    for i, (one, other) in enumerate(zip(got + ["end"], want + ["end"])):
        if one != other:
            return f"event {i}: got {got[i - 3:i + 3]}, executed {want[i - 3:i + 3]}"
    return ""


class Setup:
    """A random choice of modes and options."""

    def __init__(self, rng, mode, ownership):
        self.control = mode << 4 | ownership << 9 | rng.choice((0, 0, 1 << 15))
        self.control |= rng.choice((0, 1, 3)) << 16 | rng.randint(0, 6) << 20
        bits = rng.choice((0, 4, 7, 12))
        self.features = bits << 28 | rng.getrandbits(bits) << 16 | rng.choice((0, 1 << 10))
        self.timestamps = rng.choice((False, True))
        self.privileges = rng.choice((None, None, (1,), (1, 3), (0, 1, 5, 6)))    # the walk begins in S-mode


class Bench:
    """A random program, and a server that is started with @arguments."""

    def __init__(self, directory, rng, straight, *arguments):
        self.directory, self.rng = directory, rng
        self.program = Program(rng, straight)
        for base, image in self.program.images.items():
            pathlib.Path(directory, f"{base:x}").write_bytes(image)
        self.port = Port(directory, *arguments)

    def record(self, hart, setup):
        """One walk. Sets what the checks read."""
        self.walk = Walk(self.program, self.rng, INSTRUCTIONS)
        self.data, self.status = trace(self.port, self.walk, hart, setup.control, setup.features, setup.timestamps,
                                       setup.privileges)
        self.params = params_of(setup.control, setup.features, setup.timestamps)
        self.src = setup.features >> 16 & 0xfff if "srcbits" in self.params else None
        self.ownership, self.filtered = setup.control >> 9 & 1, setup.privileges is not None
        self.text = f"{self.params}, trTeControl {setup.control:#x}, privileges {setup.privileges}"
        # What the second decoder must find
        self.executed = [what if isinstance(what, str) else (what, priv if self.ownership else None)
                         for what, priv in self.walk.events if not self.filtered or priv in setup.privileges]

    def expect_same(self, rc, events, what):
        got_rc, got, err = ntrace_decode(self.directory, self.data, self.params, self.src)
        want = [event[0] for event in events if isinstance(event, tuple)]
        ok(got_rc == rc and got == want, f"{self.text}: {what}", f"exit {got_rc}, {err}", first_difference(got, want))

    def decoded(self):
        """Events like self.executed, and the values of scontext."""
        events, contexts, others = decoded(self.program, self.data, self.params, self.src)
        wrong = [event for event in others if event not in ("start", "sync", "stop")]
        ok(not wrong and others[0] == "start", f"{self.text}: without contradictions", *wrong)
        return events, contexts, others[-1]

    def expect_walk(self):
        self.expect_same(0, self.executed, "ntrace decodes the walk")
        events, contexts, end = self.decoded()
        ok(events == self.executed, f"{self.text}: the second decoder, too", first_difference(events, self.executed))
        ok(end == "stop", f"{self.text}: the trace ends with ProgTraceCorrelation", end)
        if self.ownership and not self.filtered:
            ok(contexts == self.walk.contexts, f"{self.text}: the values of scontext", contexts, self.walk.contexts)
        check = subprocess.run([NTRACE, "check", "-p", self.params, f"{self.directory}/trace"], capture_output=True,
                               text=True, check=False)
        ok(check.stdout.endswith(": 0 errors, 0 warnings, 0 infos\n"), f"{self.text}: the messages obey the rules",
           check.stdout)

    def expect_losses(self):
        """Each part between two losses is a part of the walk, after the part before it."""
        events, _, _ = self.decoded()
        place, parts, missing = 0, [[]], []
        for event in events:
            if event == "lost":
                parts.append([])
            else:
                parts[-1].append(event)
        for part in parts:
            at = next((at for at in range(place, len(self.executed) - len(part) + 1)
                       if self.executed[at:at + len(part)] == part), None)
            if at is None:
                missing.append(part)
            else:
                place = at + len(part)
        ok(not missing, f"{self.text}: {len(parts) - 1} losses, and each part between them was executed", *missing)
        ok(len(parts) > 2 and len(events) < len(self.executed), f"{self.text}: blocks are lost")
        src_bits = int(second_decoder.parse_params(self.params).get("srcbits", "0"))
        sent = list(second_decoder.messages(self.data, src_bits))
        after = [message.get("SYNC") for error, message in zip(sent, sent[1:]) if error["name"] == "Error"]
        ok(set(after) == {7}, f"{self.text}: a synchronization after overrun follows each Error", after)
        ok(self.status >> 12 & 1, f"{self.text}: trTeInstStallOrOverflow says so")
        self.expect_same(3, events, "ntrace decodes the same, and reports the losses")


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        for straight in 1, 30:
            bench = Bench(directory, rng, straight)
            for number in range(8):
                bench.record(number >> 2 & 1, Setup(rng, HTM if number & 1 else BTM, number >> 1 & 1))
                bench.expect_walk()
                ok(not bench.status >> 12 & 1, f"{bench.text}: no overflow")
            ok(bench.port.close() == 0, "the server ends with its connection")
        # Memory that is too slow: blocks are lost, or the hart waits.
        bench = Bench(directory, rng, 1, 1, 30)
        for mode in BTM, HTM:
            setup = Setup(rng, mode, True)
            setup.privileges = None
            bench.record(0, setup)
            bench.expect_losses()
            bench.port.stalled = 0
            setup.control |= 1 << 13
            bench.record(0, setup)
            bench.expect_walk()
            ok(bench.port.stalled and bench.status >> 12 & 1,
               f"{bench.text}: the hart waited {bench.port.stalled} cycles, and trTeInstStallOrOverflow says so")
        bench.port.close()
    done()


if __name__ == "__main__":
    main()
