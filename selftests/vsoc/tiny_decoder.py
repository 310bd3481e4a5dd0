# SPDX-License-Identifier: GPL-2.0-only
"""A second, independent decoder for the tests of the virtual SoC: N-Trace bytes to PCs.

It is written from the specification alone and shares no code with lib/. It is as short as
possible, therefore slow, and raises an exception for anything unexpected.
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
    33: ("Correlation", [("EVCODE", 4), ("CDF", 2)], ["ICNT", "HIST"]),
}


def messages(data, src_bits=0, timed=False):
    """Yields a dictionary of fields per message; TSTAMP is the field after the last mandatory
    one."""
    position = 0
    while position < len(data):
        if data[position] == 0xff:
            position += 1
            continue
        fields, bits, width = [], 0, 0
        while True:
            byte = data[position]
            position += 1
            mseo = byte & 3
            if mseo == 2:
                raise ValueError(f"MSEO 10 at {position - 1}")
            bits |= byte >> 2 << width
            width += 6
            if mseo:
                fields.append((bits, width))
                bits, width = 0, 0
            if mseo == 3:
                break
        first = fields[0][0]
        name, fixed, variable = MESSAGES[first & 63]
        first >>= 6
        message = {"name": name}
        if src_bits:
            message["SRC"] = first & ((1 << src_bits) - 1)
            first >>= src_bits
        for field, field_width in fixed:
            message[field] = first & ((1 << field_width) - 1)
            first >>= field_width
        values = [first] + [value for value, _ in fields[1:]]
        if name == "Correlation" and message["CDF"] == 0:
            variable = ["ICNT"]
        if timed and len(values) == len(variable) + 1:
            message["TSTAMP"] = values.pop()
        if len(values) != len(variable):
            raise ValueError(f"{name} with {len(values)} variable fields")
        message.update(zip(variable, values))
        yield message


def sign(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def pick(insn, *places):
    """Assembles an immediate from parts: (low bit in insn, width, low bit in the immediate)."""
    return sum((insn >> low & ((1 << width) - 1)) << to for low, width, to in places)


def decode(insn, pc):
    """Returns (length, kind, target); kind is None, branch, jump, indirect or trap."""
    if insn & 3 == 3:
        opcode = insn & 0x7f
        if opcode == 0x63:
            offset = pick(insn, (8, 4, 1), (25, 6, 5), (7, 1, 11), (31, 1, 12))
            return 4, "branch", pc + sign(offset, 13)
        if opcode == 0x6f:
            offset = pick(insn, (21, 10, 1), (20, 1, 11), (12, 8, 12), (31, 1, 20))
            return 4, "jump", pc + sign(offset, 21)
        if opcode == 0x67 or insn in (0x30200073, 0x10200073):
            return 4, "indirect", None
        if insn in (0x73, 0x100073):
            return 4, "trap", None
        return 4, None, None
    insn &= 0xffff
    top = insn >> 13
    if insn & 3 == 1 and top == 5:
        offset = pick(insn, (3, 3, 1), (11, 1, 4), (2, 1, 5), (7, 1, 6), (6, 1, 7),
                      (9, 2, 8), (8, 1, 10), (12, 1, 11))
        return 2, "jump", pc + sign(offset, 12)
    if insn & 3 == 1 and top in (6, 7):
        offset = pick(insn, (3, 2, 1), (10, 2, 3), (2, 1, 5), (5, 2, 6), (12, 1, 8))
        return 2, "branch", pc + sign(offset, 9)
    if insn == 0x9002:
        return 2, "trap", None
    if insn & 0xe07f == 0x8002 and insn >> 7 & 31:
        return 2, "indirect", None
    return 2, None, None


class Flow:
    """events: integers are PCs, strings are start, stop, exception, interrupt, error"""

    def __init__(self, fetch, btm, zcmp=False):
        self.fetch = fetch
        self.btm = btm
        self.zcmp = zcmp
        self.events = []
        self.outcomes = ""
        self.pc = None
        self.reference = 0
        self.icnt = 0
        self.history = collections.deque()
        self.tcodes = []
        self.contexts = []

    def walk(self, parcels, direct_branch):
        open_end = False
        while parcels:
            if len(self.events) > 5000000:
                raise ValueError("more than a payload should make")
            if open_end:
                raise ValueError(f"I-CNT goes on behind an indirect jump at {self.pc:#x}")
            pc = self.pc
            length, kind, target = decode(self.fetch(pc), pc)
            if self.zcmp and self.fetch(pc) & 0xfd03 == 0xbc02:
                kind = "indirect"
            self.events.append(pc)
            parcels -= length // 2
            if parcels < 0:
                raise ValueError(f"I-CNT ends inside the instruction at {pc:#x}")
            self.pc = pc + length
            if kind == "branch":
                taken = (parcels == 0 and direct_branch) if self.btm else self.history.popleft()
                self.outcomes += "T" if taken else "N"
                if taken:
                    self.pc = target
            elif kind == "jump":
                self.pc = target
            elif kind == "trap":
                raise ValueError(f"ECALL or EBREAK at {pc:#x} counted as retired")
            open_end = kind == "indirect"
            if direct_branch and parcels == 0 and kind != "branch":
                raise ValueError(f"DirectBranch ends on no branch at {pc:#x}")
        if self.history:
            raise ValueError("history left over")

    def message(self, message):
        name = message["name"]
        self.tcodes.append(name)
        if name == "ResourceFull":
            if message["RCODE"] == 0:
                self.icnt += message["RDATA"]
            else:
                self.add_history(message["RDATA"])
            return
        if name == "Ownership":
            self.contexts.append(message["PROCESS"])
            return
        if name == "Error":
            self.events.append("error")
            self.pc = None
            return
        if "HIST" in message:
            self.add_history(message["HIST"])
        if self.pc is None:
            if "FADDR" not in message:
                raise ValueError(f"{name} before any synchronization")
            self.events.append("start")
        else:
            self.walk(self.icnt + message["ICNT"], name == "DirectBranch")
        self.icnt = 0
        if message.get("BTYPE"):
            self.events.append([None, "trap", "exception", "interrupt"][message["BTYPE"]])
        if "FADDR" in message:
            self.reference = message["FADDR"] << 1
            self.pc = self.reference
        elif "UADDR" in message:
            self.reference ^= message["UADDR"] << 1
            self.pc = self.reference
        if name == "Correlation":
            self.events.append("stop")
            self.pc = None

    def add_history(self, value):
        if value == 0:
            raise ValueError("HIST without stop bit")
        self.history.extend(bit == "1" for bit in bin(value)[3:])
