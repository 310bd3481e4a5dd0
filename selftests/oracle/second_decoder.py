# SPDX-License-Identifier: GPL-2.0-only
"""A second decoder, independent and slow: N-Trace bytes and code to the executed addresses.

It is written from the specifications alone and shares neither code nor method with lib/. It keeps
what ResourceFull reports until a message with I-CNT says how far the hart came, and then walks
instruction by instruction. One list of events is the result:

    int                                 address of a retired instruction
    "start", "sync", "stop"             sync after a gap; other sync; ProgTraceCorrelation
    "exception", "interrupt", "trap"    B-TYPE 2, 3, 1
    "owner PROCESS"                     Ownership, where what was reported before it has retired
    "lost"                              Error
    "error: text"                       a contradiction, in the stream or with the code
"""

import collections

# TCODE: name, fixed fields, variable fields
MESSAGES = {
    2: ("Ownership", [], ["PROCESS"]),
    3: ("DirectBranch", [], ["ICNT"]),
    4: ("IndirectBranch", [("BTYPE", 2)], ["ICNT", "UADDR"]),
    8: ("Error", [("ETYPE", 4)], ["ECODE"]),
    9: ("ProgTraceSync", [("SYNC", 4)], ["ICNT", "FADDR"]),
    11: ("DirectBranchSync", [("SYNC", 4)], ["ICNT", "FADDR"]),
    12: ("IndirectBranchSync", [("SYNC", 4), ("BTYPE", 2)], ["ICNT", "FADDR"]),
    27: ("ResourceFull", [("RCODE", 4)], ["RDATA"]),
    28: ("IndirectBranchHist", [("BTYPE", 2)], ["ICNT", "UADDR", "HIST"]),
    29: ("IndirectBranchHistSync", [("SYNC", 4), ("BTYPE", 2)], ["ICNT", "FADDR", "HIST"]),
    30: ("RepeatBranch", [], ["BCNT"]),
    33: ("Correlation", [("EVCODE", 4), ("CDF", 2)], ["ICNT"]),
}
REPEATABLE = ("DirectBranch", "IndirectBranch", "IndirectBranchHist")
REPEATABLE_SYNCS = ("DirectBranchSync", "IndirectBranchSync", "IndirectBranchHistSync")    # rc7
MARKERS = (0, 4, 6)
TRAPS = {1: "trap", 2: "exception", 3: "interrupt"}


def parse_params(text):
    """"srcbits=2,xlen=32,..." as the command spells it."""
    return dict(item.split("=", 1) for item in text.split(",") if item)


def messages(data, src_bits=0):
    """Yields a dictionary per message. A variable field without bits is 0; the field after the
    last one that the table demands is TSTAMP; "width" has pairs of variable field and bits."""
    position = 0
    while position < len(data):
        if data[position] & 3 == 3:
            position += 1
            continue
        offset, chunks, bits, width, mseo = position, [], 0, 0, 0
        while mseo != 3:
            if position == len(data):
                return
            byte = data[position]
            position += 1
            mseo = byte & 3
            if mseo == 2:
                raise ValueError(f"MSEO 10 at {position - 1}")
            bits |= byte >> 2 << width
            width += 6
            if mseo:
                chunks.append((bits, width))
                bits, width = 0, 0
        first, room = chunks[0]
        message = {"tcode": first & 63, "offset": offset}
        first, room = first >> 6, room - 6
        name, fixed, variable = MESSAGES.get(message["tcode"], ("unknown", [], None))
        message["name"] = name
        for field, size in ([("SRC", src_bits)] if src_bits else []) + fixed:
            message[field] = first & ((1 << size) - 1)
            first, room = first >> size, room - size
        if room < 0:
            raise ValueError(f"{name} at {offset} ends in its fixed fields")
        if variable is not None:
            variable = variable + ["HIST"] * (message.get("CDF") == 1)
            variable = variable + ["HREPEAT"] * (message.get("RCODE") == 2)
            values = [(first, room)] + chunks[1:]
            if not len(variable) <= len(values) <= len(variable) + 1:
                raise ValueError(f"{name} at {offset} with {len(values)} variable fields")
            named = list(zip(variable + ["TSTAMP"], values))
            message.update((field, value) for field, (value, _) in named)
            message["width"] = tuple((field, size) for field, (_, size) in named)
        yield message


def sign(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def pick(insn, *places):
    """Assembles an immediate from parts: (low bit in insn, width, low bit in the immediate)."""
    return sum((insn >> low & ((1 << width) - 1)) << to for low, width, to in places)


def jalr(length, rd, rs1, offset):
    """The class of an indirect jump follows from its link registers x1 and x5."""
    if rs1 not in (1, 5):
        kind = "indirect call" if rd in (1, 5) else "indirect"
    elif rd not in (1, 5):
        kind = "return"
    else:
        kind = "indirect call" if rd == rs1 else "swap"
    return length, kind, (rs1, offset)


def decode(read, pc, xlen, isa, jvt):
    """Returns (length, kind, target). Target of upper: (register, value), of an indirect
    transfer: (register, offset)."""
    insn = read(pc, 2)
    if insn & 3 == 3:
        if insn & 0x1f == 0x1f:
            length = (6 if not insn & 0x20 else 8 if not insn & 0x40 else
                      10 + 2 * (insn >> 12 & 7))
            return length, None, None
        insn |= read(pc + 2, 2) << 16
        opcode, rd, funct3, rs1 = insn & 0x7f, insn >> 7 & 31, insn >> 12 & 7, insn >> 15 & 31
        if opcode == 0x63 and funct3 not in (2, 3):
            offset = pick(insn, (8, 4, 1), (25, 6, 5), (7, 1, 11), (31, 1, 12))
            return 4, "branch", pc + sign(offset, 13)
        if opcode == 0x6f:
            offset = pick(insn, (21, 10, 1), (20, 1, 11), (12, 8, 12), (31, 1, 20))
            return 4, "call" if rd in (1, 5) else "jump", pc + sign(offset, 21)
        if opcode == 0x67 and funct3 == 0:
            return jalr(4, rd, rs1, sign(insn >> 20, 12))
        if opcode in (0x17, 0x37):
            base = pc if opcode == 0x17 else 0
            return 4, "upper", (rd, base + sign(insn & 0xfffff000, 32))
        if insn in (0x30200073, 0x10200073, 0x00200073, 0x70200073):
            return 4, "trap return", None
        return 4, "environment" if insn in (0x73, 0x100073) else None, None
    quadrant, top, register = insn & 3, insn >> 13, insn >> 7 & 31
    if quadrant == 1 and (top == 5 or (top == 1 and xlen == 32)):
        offset = pick(insn, (3, 3, 1), (11, 1, 4), (2, 1, 5), (7, 1, 6), (6, 1, 7),
                      (9, 2, 8), (8, 1, 10), (12, 1, 11))
        return 2, "jump" if top == 5 else "call", pc + sign(offset, 12)
    if quadrant == 1 and top in (6, 7):
        offset = pick(insn, (3, 2, 1), (10, 2, 3), (2, 1, 5), (5, 2, 6), (12, 1, 8))
        return 2, "branch", pc + sign(offset, 9)
    if quadrant == 1 and top == 3 and register not in (0, 2):
        return 2, "upper", (register, sign(pick(insn, (2, 5, 12), (12, 1, 17)), 18))
    if insn == 0x9002:
        return 2, "environment", None
    if insn & 0xe07f == 0x8002 and register:
        return jalr(2, insn >> 12 & 1, register, 0)
    if "zcmp" in isa and insn & 0xfd03 == 0xbc02:
        return 2, "return", (None, 0)
    if "zcmt" in isa and insn & 0xfc03 == 0xa002:
        index = insn >> 2 & 255
        return 2, "call" if index >= 32 else "jump", read(jvt + index * xlen // 8, xlen // 8)
    return 2, None, None


class Flow:
    """Decodes the messages of one SRC. @read(address, size) returns a little-endian number or
    raises KeyError; @params are those of parse_params()."""

    def __init__(self, read, params=None, src=None):
        params = params or {}
        self.read, self.src = read, src
        self.xlen = int(params.get("xlen", "64"))
        self.isa = params.get("isa", "")
        self.jvt = int(params.get("jvt", "0"), 0)
        self.all_jumps = params.get("alljumps") == "1"
        self.extend = params.get("extaddr") == "1"
        self.address_bits = int(params.get("addrbits", "0")) % 64
        self.src_bits = int(params.get("srcbits", "0"))
        self.time_bits = int(params.get("tsbits", "0")) or 64
        self.sifive = params.get("dialect") == "sifive-v0"
        self.rc7 = params.get("dialect") == "rc7"
        self.delta = params.get("tsdelta", "xor" if self.sifive else "add")
        self.repeat_message = params.get("repeat") == "message"
        self.history_mode = params.get("mode") == "htm"
        self.events, self.outcomes = [], ""
        self.times = {}     # index of an event that is no address: time of its message
        self.reference, self.time = 0, None
        self.lose()

    def lose(self):
        """Nothing that was reported before is known any more."""
        self.pc, self.branch, self.previous = None, None, None
        self.parcels, self.bits, self.owners = 0, collections.deque(), []
        self.stack = collections.deque(maxlen=1024)

    def run(self, data):
        every = [m for m in messages(data, self.src_bits)
                 if self.src is None or m.get("SRC", 0) == self.src]
        self.history_mode |= any(
            "HIST" in m or (m["name"] == "ResourceFull" and m["RCODE"] != 0) for m in every)
        for message in every:
            try:
                self.message(message)
            except (ValueError, KeyError, IndexError) as error:
                self.lose()
                self.note(f"error: {message['name']} at {message['offset']}: {error}")
        return self

    def note(self, event, time=None):
        self.times[len(self.events)] = self.time if time is None else time
        self.events.append(event)

    def stamp(self, message):
        if "TSTAMP" not in message:
            return
        value, period = message["TSTAMP"], 1 << self.time_bits
        if self.time is None and "SYNC" not in message and self.delta != "abs":
            return
        if "SYNC" in message or self.delta == "abs":
            new = value
        elif self.delta == "xor":
            new = self.time % period ^ value
        else:
            new = self.time + value
        if self.time is not None and new < self.time:
            new += self.time - self.time % period
            new += period * (new < self.time)
        self.time = new & ((1 << 64) - 1)

    def address(self, message, field):
        value, width = message[field], dict(message["width"])[field]
        if self.extend and value >> (width - 1):
            value |= -1 << width
        value <<= 1
        if field == "UADDR":
            value ^= self.reference
        if self.address_bits:
            value = sign(value & ((2 << self.address_bits) - 1), self.address_bits + 1)
        self.reference = value & ((1 << self.xlen) - 1)
        return self.reference

    def add_history(self, value, count=1):
        if value == 0:
            raise ValueError("HIST without stop bit")
        for _ in range(count):
            self.bits.extend(bit == "1" for bit in bin(value)[3:])

    def due_owners(self, parcels, bits):
        """Notes what has retired up to @parcels and @bits. Where an I-CNT of its own places it, not the history
        before it, it has the time of the message that reports that code."""
        for owner in self.owners:
            if owner[1] <= bits and owner[0] > parcels:
                owner[3] = None
        while self.owners and self.owners[0][0] <= parcels and self.owners[0][1] <= bits:
            _, _, process, time = self.owners.pop(0)
            self.note(f"owner {process:#x}", time)

    def walk(self, parcels, direct, partial=False):
        """Retires @parcels; @direct: the last of them is a taken branch; @partial: no I-CNT will
        come, go to the last branch that is in the history."""
        total, used, ended = parcels, 0, False
        while parcels > 0 or (partial and self.bits):
            self.due_owners(total - parcels, used)
            if ended:
                raise ValueError(f"I-CNT goes on after the transfer before {self.pc:#x}")
            pc = self.pc
            length, kind, target = decode(self.read, pc, self.xlen, self.isa, self.jvt)
            parcels -= length // 2
            if parcels < 0 and not partial:
                raise ValueError(f"I-CNT ends inside the instruction at {pc:#x}")
            self.events.append(pc)
            last, after, jumps = parcels == 0, pc + length, kind in ("jump", "call")
            upper, self.previous = self.previous, target if kind == "upper" else None
            self.pc = after
            if kind == "branch":
                if self.bits:
                    taken = self.bits.popleft()
                    used += 1
                elif self.history_mode and not last:
                    raise ValueError(f"no history for the branch at {pc:#x}")
                else:
                    taken = last and direct
                self.outcomes += "T" if taken else "N"
                self.pc = target if taken else after
            elif jumps:
                if self.all_jumps and self.history_mode:
                    used += 1
                    if not self.bits.popleft():
                        raise ValueError(f"direct jump not taken at {pc:#x}")
                elif self.all_jumps and not last:
                    raise ValueError(f"direct jump without DirectBranch at {pc:#x}")
                self.pc = target
            elif kind in ("return", "swap"):
                self.pc = self.stack.pop() if self.stack else None
            elif kind in ("indirect", "indirect call"):
                self.pc = None
            elif kind in ("environment", "trap return"):
                ended = True
            if kind in ("indirect", "indirect call", "swap") and upper and upper[0] == target[0]:
                self.pc = upper[1] + target[1] & ~1
            if kind in ("call", "indirect call", "swap"):
                self.stack.append(after)
            if self.pc is None:
                ended, self.pc = True, after
            self.pc &= (1 << self.xlen) - 1
            if direct and last and kind != "branch" and not (jumps and self.all_jumps):
                raise ValueError(f"DirectBranch ends on no branch at {pc:#x}")
        if self.bits:
            raise ValueError("history left over")
        self.due_owners(total - parcels, used)

    def retire(self, message, again=False):
        """The instructions that a message with I-CNT reports."""
        if "HIST" in message:
            self.add_history(message["HIST"])
        direct = message["name"] == "DirectBranch" or (again and "BTYPE" not in message)
        self.walk(self.parcels + message["ICNT"], direct)
        self.parcels = 0

    def message(self, message):
        name = message["name"]
        self.stamp(message)
        if name == "Error" or (name == "ResourceFull" and message["RCODE"] > 2 and
                               not (self.sifive and message["RCODE"] in (8, 9))):
            if self.pc is not None:
                # What waits for an I-CNT, and Ownership behind it, is lost.
                self.walk(0, False, True)
            self.lose()
            self.note("lost")
        elif name == "Ownership":
            self.owners.append([self.parcels, len(self.bits), message["PROCESS"], self.time])
            self.due_owners(0, 0)
        elif self.pc is None and "SYNC" not in message:
            return
        elif name == "ResourceFull":
            self.branch, rcode = None, message["RCODE"]
            if rcode == 0:
                self.parcels += message["RDATA"]
            elif rcode > 2:
                self.bits.extend([rcode == 9] * message["RDATA"])
            else:
                self.add_history(message["RDATA"], message.get("HREPEAT", 1))
        elif name == "RepeatBranch":
            if self.branch is None:
                raise ValueError("nothing to repeat")
            for _ in range(message["BCNT"]):
                self.branch_message(self.branch, again=True)
        elif name in REPEATABLE:
            self.branch_message(message)
            self.branch = message
        elif name != "unknown":
            self.other_message(message)
            if self.rc7 and name in REPEATABLE_SYNCS:
                self.branch = message

    def branch_message(self, message, again=False):
        self.retire(message, again)
        if message.get("BTYPE"):
            self.note(TRAPS[message["BTYPE"]])
        if "UADDR" in message and again and not self.repeat_message:
            self.pc = self.reference
        elif "UADDR" in message or "FADDR" in message:
            self.pc = self.address(message, "UADDR" if "UADDR" in message else "FADDR")

    def other_message(self, message):
        self.branch = None
        started = self.pc is None
        if not started:
            self.retire(message)
        if message.get("BTYPE") and not started:
            self.note(TRAPS[message["BTYPE"]])
        if message["name"] == "Correlation":
            self.note("stop")
            self.lose()
        else:
            self.note("start" if started else "sync")
            self.pc = self.address(message, "FADDR")
            if message["SYNC"] not in MARKERS:
                self.stack.clear()
