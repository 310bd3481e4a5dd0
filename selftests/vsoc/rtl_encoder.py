#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=20
"""The trace encoder in Verilog (selftests/vsoc/rtl) without a guest.

This script is the SoC's side of the co-simulation port (tools/vsoc/remote.h). It programs the encoder and the RAM
sink, retires the blocks of a random walk through a random program, and collects what the sink writes to memory.
`ntrace decode` and second_decoder.py must both find the walk in it. Then the same with losses and with stalls.
"""

import itertools
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
ENCODER, FUNNEL, SINK = 0x6000000, 0x6020000, 0x6040000
BUFFER, BUFFER_SIZE = 0x90000000, 1 << 20
KERNEL, USER = 0xffffffff80200000, 0x10000
INSTRUCTIONS = 6000


class Port:
    """The SoC's end of the port."""

    def __init__(self, directory, *arguments):
        path = f"{directory}/socket"
        self.funnel = "--funnel" in arguments
        command = [SERVER] + ["--funnel"] * self.funnel + [path] + [str(n) for n in arguments if n != "--funnel"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
                    word = jal(rd, offset) if kind == "jump" else branch(offset) if length == 4 else c_beqz(offset)
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


def switch_on(port, hart, setup):
    """Programs an encoder. Tracing begins."""
    encoder = ENCODER + 0x1000 * hart
    port.write(encoder, 0)
    port.write(encoder, 1)
    port.write(encoder + 8, setup.features(hart))
    if setup.privileges is not None:
        port.write(encoder + 0x404, sum(1 << priv for priv in setup.privileges))
        port.write(encoder + 0x400, 3)
        port.write(encoder + 0xc, 1)
    port.write(encoder + 0x40, 0x8010 if setup.timestamps else 0)
    port.write(encoder, setup.control | 3)
    port.write(encoder, setup.control | 7)
    assert hart in port.active


def switch_off(port, component, value):
    port.write(component, value)
    while port.read(component) & 8 == 0:
        pass


def retire(port, walks):
    """The harts take turns of three blocks."""
    harts = {hart: iter(walk.blocks) for hart, walk in walks.items()}
    context = {}
    for turn in itertools.count():
        for hart in list(harts):
            blocks = list(itertools.islice(harts[hart], 3))
            if not blocks:
                del harts[hart]
            for itype, iretire, ilastsize, priv, scontext, iaddr in blocks:
                if scontext != context.get(hart):
                    port.send(STATE, hart, scontext)
                    context[hart] = scontext
                port.send(BLOCK, iretire | itype << 8 | ilastsize << 12 | priv << 13 | hart << 16, iaddr)
        if turn % 32 == 31 or not harts:
            port.time += 1000
            port.send(TIME, 0, port.time)
            port.sync()
        if not harts:
            break


def trace(port, walks, setup):
    """Records a walk per hart; several go through the funnel. Returns the bytes, and trTeControl of each hart before
    tracing ends."""
    sink = SINK if port.funnel else SINK + 0x1000 * min(walks)
    for page in [sink] + [FUNNEL] * port.funnel:
        port.write(page, 0)
        port.write(page, 1)
    port.write(sink + 0x10, BUFFER)
    port.write(sink + 0x18, BUFFER + BUFFER_SIZE - 8)
    port.write(sink + 0x20, BUFFER)
    port.write(sink, 3)
    if port.funnel:
        port.write(FUNNEL, 3)
    port.memory.clear()
    for hart in walks:
        switch_on(port, hart, setup)
    retire(port, walks)
    status = {hart: port.read(ENCODER + 0x1000 * hart) for hart in walks}
    for hart in walks:
        switch_off(port, ENCODER + 0x1000 * hart, setup.control | 1)
    assert port.active == set()
    if port.funnel:
        switch_off(port, FUNNEL, 1)
    switch_off(port, sink, 1)
    end = port.read(sink + 0x20)
    assert end & 1 == 0, "the buffer is too small for the test"
    return b"".join(port.memory[address] for address in range(BUFFER, end, 8)), status


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
    command = [NTRACE, "decode", "--level", "pc", "--params", params, f"{directory}/trace"]
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
        self.src_bits, self.extend_address = rng.choice((0, 4, 7, 12)), rng.choice((False, True))
        self.first_src = rng.randrange(1 << self.src_bits) & ~1
        self.timestamps = rng.choice((False, True))
        self.privileges = rng.choice((None, None, (1,), (1, 3), (0, 1, 5, 6)))    # the walk begins in S-mode

    def src(self, hart):
        """None if the messages have no SRC."""
        return self.first_src | hart if self.src_bits and not self.control >> 15 & 1 else None

    def features(self, hart):
        return self.src_bits << 28 | (self.first_src | hart) << 16 | self.extend_address << 10

    def params(self):
        return ",".join([f"srcbits={self.src_bits}"] * (self.src(0) is not None) + ["extaddr=1"] * self.extend_address +
                        ["tsbits=48"] * self.timestamps + [f"mode={'btm' if self.control >> 4 & 7 == BTM else 'htm'}"])


class Bench:
    """A random program, and a server that is started with @arguments."""

    def __init__(self, directory, rng, straight, *arguments):
        self.directory, self.rng = directory, rng
        self.program = Program(rng, straight)
        for base, image in self.program.images.items():
            pathlib.Path(directory, f"{base:x}").write_bytes(image)
        self.port = Port(directory, *arguments)

    def record(self, harts, setup):
        """A walk per hart."""
        self.setup, self.walks = setup, {hart: Walk(self.program, self.rng, INSTRUCTIONS) for hart in harts}
        self.data, self.status = trace(self.port, self.walks, setup)

    def choose(self, hart):
        """The checks are about this hart."""
        self.walk, self.params, self.src = self.walks[hart], self.setup.params(), self.setup.src(hart)
        self.ownership, self.filtered = self.setup.control >> 9 & 1, self.setup.privileges is not None
        self.overflow = self.status[hart] >> 12 & 1
        self.text = (f"hart {hart}, {self.params}, trTeControl {self.setup.control:#x}, "
                     f"privileges {self.setup.privileges}")
        # What the second decoder must find
        self.executed = [what if isinstance(what, str) else (what, priv if self.ownership else None)
                         for what, priv in self.walk.events if not self.filtered or priv in self.setup.privileges]

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
        check = subprocess.run([NTRACE, "check", "--params", self.params, f"{self.directory}/trace"], capture_output=True,
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
        ok(self.overflow, f"{self.text}: trTeInstStallOrOverflow says so")
        self.expect_same(3, events, "ntrace decodes the same, and reports the losses")


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        for straight in 1, 30:
            bench = Bench(directory, rng, straight)
            for number in range(8):
                hart = number >> 2 & 1
                bench.record([hart], Setup(rng, HTM if number & 1 else BTM, number >> 1 & 1))
                bench.choose(hart)
                bench.expect_walk()
                ok(not bench.overflow, f"{bench.text}: no overflow")
            ok(bench.port.close() == 0, "the server ends with its connection")
        # Two encoders that share a sink.
        bench = Bench(directory, rng, 1, "--funnel")
        for mode in BTM, HTM:
            setup = Setup(rng, mode, True)
            setup.src_bits, setup.first_src, setup.control = 4, 6, setup.control & ~(1 << 15)
            bench.record([0, 1], setup)
            for hart in 0, 1:
                bench.choose(hart)
                bench.expect_walk()
        bench.port.close()
        # Memory that is too slow: blocks are lost, or the hart waits.
        bench = Bench(directory, rng, 1, 1, 30)
        for mode in BTM, HTM:
            setup = Setup(rng, mode, True)
            setup.privileges = None if mode == BTM else (0, 1, 5, 6)
            bench.record([0], setup)
            bench.choose(0)
            bench.expect_losses()
            bench.port.stalled = 0
            setup.control |= 1 << 13
            bench.record([0], setup)
            bench.choose(0)
            bench.expect_walk()
            ok(bench.port.stalled and bench.overflow,
               f"{bench.text}: the hart waited {bench.port.stalled} cycles, and trTeInstStallOrOverflow says so")
        bench.port.close()
    done()


if __name__ == "__main__":
    main()
