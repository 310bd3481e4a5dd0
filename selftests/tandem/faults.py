# SPDX-License-Identifier: GPL-2.0-only
"""Falsifies a tandem trace in 60 and more ways: faults.py TRACE FALSIFIED LIST
at random places, one element of a group each: faults.py --random SEED COUNT XLEN TRACE FALSIFIED LIST
Checks what was found, as TAP:                 faults.py --check LIST FOUND

Each fault is in a group of its own. After it, a state initialisation tells the true state, as a
debugger would set it, so that one fault does not cause others. LIST gets a line for each fault:
offset of the group where it must be found, what must be found there, name of the fault.

FOUND is the output of ntrace tandem verify --json. The parser shares no code with the library.
"""

import json
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tap import done, ok  # noqa: E402

# random XLEN: 32 or 64
XLEN = int(sys.argv[4]) if sys.argv[1] == "--random" else 64
WORD = XLEN // 8
GPR, FPR, PC, PRIV = 0x1000, 0x1020, "pc", "priv"
MIE, MIP = 0x304, 0x344
MSTATUS, MEPC, MCAUSE, MTVAL, MSCRATCH, FCSR = 0x300, 0x341, 0x342, 0x343, 0x340, 3
MLEN = 8 if XLEN == 64 else 5
STATE_SIZES = {1: 1, 2: MLEN, 3: MLEN, 4: 1, 5: 2, 6: 4, 7: 8, 8: 8, 9: MLEN, 10: WORD}
NAMES = {MSTATUS: "mstatus", MEPC: "mepc", MCAUSE: "mcause", MTVAL: "mtval", MSCRATCH: "mscratch",
         FCSR: "fcsr", PC: "pc", PRIV: "priv", 0x141: "sepc", 0x142: "scause", MIE: "mie", MIP: "mip"}
MASK = (1 << XLEN) - 1


def size_of(number):
    return 8 if number >= FPR else WORD


def parse(data):
    """Yields groups: lists of (op, id, value), without begin and end."""
    at, group = 0, None
    while at < len(data):
        op = data[at]
        at += 1
        if op == 1:
            group = []
        elif op == 2:
            yield group
            group = None
        elif op in (3, 0x0b):
            group.append((op, None, None))
        elif op == 4:
            number = struct.unpack_from("<H", data, at)[0]
            size = size_of(number)
            group.append((op, number, int.from_bytes(data[at + 2:at + 2 + size], "little")))
            at += 2 + size
        elif op == 7:
            number = data[at]
            size = STATE_SIZES[number]
            group.append((op, number, int.from_bytes(data[at + 1:at + 1 + size], "little")))
            at += 1 + size
        elif op in (0x10, 0x11):
            size = 2 if op == 0x10 else 4
            group.append((op, None, int.from_bytes(data[at:at + size], "little")))
            at += size
        else:
            sys.exit(f"faults.py: opcode {op} at {at - 1}")


def encode(group):
    out = bytearray([1])
    for op, number, value in group:
        out.append(op)
        if op == 4:
            out += struct.pack("<H", number) + value.to_bytes(size_of(number), "little")
        elif op == 7:
            out.append(number)
            out += value.to_bytes(STATE_SIZES[number], "little")
        elif op == 8:
            state, data = value
            out += number.to_bytes(MLEN, "little") + bytes([(state - 4) << 4 | 1]) + data.to_bytes(STATE_SIZES[state], "little")
        elif op in (0x10, 0x11):
            out += value.to_bytes(2 if op == 0x10 else 4, "little")
    out.append(2)
    return bytes(out)


class Group:
    def __init__(self, fields, before):
        self.fields, self.before = fields, before
        self.insn = next((v for op, _, v in fields if op in (0x10, 0x11)), None)
        self.long = any(op == 0x11 for op, _, _ in fields)
        self.regs = {i: v for op, i, v in fields if op == 4}
        self.states = {i: v for op, i, v in fields if op == 7}
        self.init = any(op == 0x0b for op, _, _ in fields)
        self.after = dict(before)
        self.after.update(self.regs)
        if 1 in self.states:
            self.after[PRIV] = self.states[1]
        if 10 in self.states:
            self.after[PC] = self.states[10]
        elif any(op == 3 for op, _, _ in fields):
            self.after[PC] = before[PC] + (4 if self.long else 2)
        self.cause = self.regs.get(MCAUSE, self.regs.get(0x142))
        self.trap = self.cause is not None and 1 in self.states and not self.init
        self.interrupt = self.trap and self.insn is None and self.cause >> (XLEN - 1) == 1
        self.opcode = self.insn & 0x7f if self.long else None
        self.funct3 = self.insn >> 12 & 7 if self.long else None
        self.store = next(((i, v) for i, v in self.states.items() if 4 <= i <= 7), None)
        self.device = self.states.get(2, 1 << 40) < 0x80000000

    def changed(self, number):
        return number in self.regs and self.before.get(number) != self.regs[number]

    def gpr(self):
        return next((i for i in self.regs if GPR < i < FPR), None)

    def fpr(self):
        return next((i for i in self.regs if FPR <= i < 0x1040), None)


GPRS = "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6".split()
FPRS = ("ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 "
        "fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11").split()


def name(number):
    if number in NAMES:
        return NAMES[number]
    return GPRS[number - GPR] if number < FPR else FPRS[number - FPR]


# ---- ways to falsify: (groups, index) -> (new groups, what must be found) ----

def alter(number, how):
    def edit(group):
        n = number(group) if callable(number) else number
        fields = [(op, i, how(v) & MASK if op == 4 and i == n else v) for op, i, v in group.fields]
        return fields, name(n)
    return edit


def drop(number):
    def edit(group):
        n = number(group) if callable(number) else number
        return [f for f in group.fields if not (f[0] == 4 and f[1] == n)], name(n)
    return edit


def add(number):
    def edit(group):
        return group.fields + [(4, number, group.before.get(number, 0) ^ 0x10)], name(number)
    return edit


def renumber(number, step):
    def edit(group):
        n = number(group)
        return [(op, i + step if op == 4 and i == n else i, v) for op, i, v in group.fields], name(n)
    return edit


def alter_state(number, how, found):
    def edit(group):
        return [(op, i, how(v) if op == 7 and i == number else v) for op, i, v in group.fields], found
    return edit


def drop_state(number, found):
    def edit(group):
        return [f for f in group.fields if not (f[0] == 7 and f[1] == number)], found
    return edit


def set_pc(how):
    def edit(group):
        fields = [f for f in group.fields if f[0] != 3 and not (f[0] == 7 and f[1] == 10)]
        return [(7, 10, how(group) & MASK)] + fields, "pc"
    return edit


def alter_store(how):
    def edit(group):
        i, value = group.store
        return alter_state(i, lambda v: how(v) & ((1 << 8 * STATE_SIZES[i]) - 1), "store")(group)
    return edit


def resize_store(size):
    def edit(group):
        i, value = group.store
        fields = [f for f in group.fields if not (f[0] == 7 and f[1] == i)]
        return fields + [(7, 4 + size, value & ((1 << 8 << size) - 1))], "width"
    return edit


def drop_access(group):
    return [f for f in group.fields if not (f[0] == 7 and 2 <= f[1] <= 7)], "access"


def drop_store(group):
    return [f for f in group.fields if not (f[0] == 7 and 4 <= f[1] <= 7)], "access"


def add_access(*states):
    def edit(group):
        return group.fields + [(7, i, 0x80000400) for i in states], "access"
    return edit


def found_as(what, edit):
    return lambda group: (edit(group)[0], what)


def alter_insn(group):
    return [(op, i, v ^ 0x80 if op in (0x10, 0x11) else v) for op, i, v in group.fields], "instruction"


def second_insn(group):
    return group.fields + [(0x10, None, 1)], "format"


def no_insn(group):
    """Then the pc cannot be incremented."""
    return [f for f in group.fields if f[0] not in (0x10, 0x11)], "format"


def both_pcs(group):
    return group.fields + [(7, 10, group.after[PC])], "format"


def flip(bit):
    return lambda v: v ^ 1 << bit


def is_op(*opcodes, funct3=None, funct7=None):
    def test(g):
        return g.long and g.opcode in opcodes and not g.trap and \
            (funct3 is None or g.funct3 == funct3) and (funct7 is None or g.insn >> 25 == funct7)
    return test


def with_gpr(test):
    return lambda g: test(g) and g.gpr() is not None and g.changed(g.gpr()) and not g.device


def amo(funct5):
    return with_gpr(lambda g: is_op(0x2f)(g) and g.insn >> 27 == funct5)


def plain(g):
    """No memory, no CSR, no control transfer."""
    return g.insn is not None and not g.trap and not g.states and not (g.long and g.opcode == 0x73) and \
        any(f[0] == 3 for f in g.fields) and g.gpr() is not None and g.changed(g.gpr())


def csr_write(number):
    return lambda g: is_op(0x73)(g) and g.changed(number)


def exception(cause):
    return lambda g: g.trap and not g.interrupt and g.regs.get(MCAUSE) == cause


def top3(g):
    """funct3 of a 16-bit instruction that is not of quadrant 1."""
    return None if g.insn is None or g.long or g.insn & 3 == 1 else g.insn >> 13


def store_of(size):
    return lambda g: g.store and g.store[0] == 4 + size and not g.device and not g.trap


def load_of(*funct3):
    return lambda g: is_op(0x03)(g) and 3 in g.states and not g.device and g.funct3 in funct3


def is_mret(g):
    return g.insn == 0x30200073 and not g.trap


def taken(g):
    return is_op(0x63)(g) and 10 in g.states


def not_taken(g):
    return is_op(0x63)(g) and 10 not in g.states


GPR_OF, FPR_OF = Group.gpr, Group.fpr
FAULTS = [
    ("lui: lowest bit", with_gpr(is_op(0x37)), alter(GPR_OF, flip(12))),
    ("auipc: page", with_gpr(is_op(0x17)), alter(GPR_OF, flip(12))),
    ("addi: lowest bit", with_gpr(is_op(0x13, funct3=0)), alter(GPR_OF, flip(0))),
    ("add: highest bit", with_gpr(is_op(0x33, funct3=0, funct7=0)), alter(GPR_OF, flip(63))),
    ("mul: a bit", with_gpr(is_op(0x33, funct3=0, funct7=1)), alter(GPR_OF, flip(17))),
    ("mulh: a bit", with_gpr(is_op(0x33, funct3=1, funct7=1)), alter(GPR_OF, flip(40))),
    ("div: off by one", with_gpr(is_op(0x33, funct3=4, funct7=1)), alter(GPR_OF, lambda v: v + 1)),
    ("remu: negated", with_gpr(is_op(0x33, funct3=7, funct7=1)), alter(GPR_OF, lambda v: -v)),
    ("sraiw: not sign-extended", with_gpr(is_op(0x1b, funct3=5)), alter(GPR_OF, lambda v: v ^ 0xffffffff << 32)),
    ("xori: inverted", with_gpr(is_op(0x13, funct3=4)), alter(GPR_OF, lambda v: ~v)),
    ("compressed: a bit", lambda g: plain(g) and not g.long, alter(GPR_OF, flip(3))),
    ("lb: zero-extended", with_gpr(is_op(0x03, funct3=0)), alter(GPR_OF, lambda v: v ^ 0xffffffffffffff << 8)),
    ("lhu: sign-extended", with_gpr(is_op(0x03, funct3=5)), alter(GPR_OF, lambda v: v ^ 0xffffffffffff << 16)),
    ("lwu: a bit", with_gpr(is_op(0x03, funct3=6)), alter(GPR_OF, flip(31))),
    ("ld: bytes swapped", with_gpr(is_op(0x03, funct3=3)),
     alter(GPR_OF, lambda v: int.from_bytes(v.to_bytes(8, "little"), "big"))),
    ("lr: a bit", amo(2), alter(GPR_OF, flip(5))),
    ("sc: result", amo(3), alter(GPR_OF, flip(0))),
    ("amoswap: old value", amo(1), alter(GPR_OF, flip(2))),
    ("amoadd: old value", amo(0), alter(GPR_OF, flip(2))),
    ("feq, fmv, fcvt to a GPR", with_gpr(is_op(0x53)), alter(GPR_OF, flip(0))),
    ("csr read: a bit", with_gpr(lambda g: csr_write(MSCRATCH)(g)), alter(GPR_OF, flip(9))),
    ("link of a jump", with_gpr(is_op(0x6f)), alter(GPR_OF, lambda v: v + 2)),
    ("missing GPR", plain, drop(GPR_OF)),
    ("another GPR as well", lambda g: plain(g) and g.gpr() != GPR + 22, add(GPR + 22)),
    ("wrong GPR number", lambda g: plain(g) and GPR + 9 < g.gpr() < GPR + 18, renumber(GPR_OF, 4)),
    ("fadd: lowest bit", lambda g: is_op(0x53)(g) and g.fpr() and g.changed(g.fpr()), alter(FPR_OF, flip(0))),
    ("fmadd: sign", lambda g: is_op(0x43)(g) and g.fpr() and g.changed(g.fpr()), alter(FPR_OF, flip(63))),
    ("fld: a bit", lambda g: (is_op(0x07)(g) or top3(g) == 1) and g.fpr() and g.changed(g.fpr()), alter(FPR_OF, flip(20))),
    ("missing FPR", lambda g: is_op(0x53)(g) and g.fpr() and g.changed(g.fpr()), drop(FPR_OF)),
    ("wrong FPR number", lambda g: is_op(0x53)(g) and g.fpr() and g.changed(g.fpr()) and g.fpr() < FPR + 20,
     renumber(FPR_OF, 8)),
    ("wrong fcsr", lambda g: is_op(0x53)(g) and g.changed(FCSR), alter(FCSR, flip(1))),
    ("missing fcsr", lambda g: is_op(0x53)(g) and g.changed(FCSR), drop(FCSR)),
    ("fcsr without reason", lambda g: is_op(0x53)(g) and FCSR not in g.regs, add(FCSR)),
    ("taken branch to another target", taken, set_pc(lambda g: g.after[PC] + 2)),
    ("branch not taken", taken, set_pc(lambda g: g.before[PC] + 4)),
    ("branch taken", not_taken, set_pc(lambda g: g.before[PC] - 8)),
    ("jalr to another target", is_op(0x67), set_pc(lambda g: g.after[PC] + 4)),
    ("missing pc", lambda g: is_op(0x67)(g), drop_state(10, "pc")),
    ("wrong mscratch", csr_write(MSCRATCH), alter(MSCRATCH, flip(4))),
    ("missing mscratch", csr_write(MSCRATCH), drop(MSCRATCH)),
    ("missing mie", csr_write(0x304), drop(0x304)),
    ("a CSR without reason", lambda g: is_op(0x73)(g) and 0x340 not in g.regs and g.insn >> 12 & 3, add(MSCRATCH)),
    ("illegal instruction: mepc", exception(2), alter(MEPC, lambda v: v + 4)),
    ("illegal instruction: missing mcause", lambda g: exception(2)(g) and g.changed(MCAUSE), drop(MCAUSE)),
    ("illegal instruction: mtval", exception(2), alter(MTVAL, flip(3))),
    ("fetch fault: mepc", exception(1), alter(MEPC, lambda v: v + 2)),
    ("load fault: mtval", exception(5), alter(MTVAL, lambda v: v + 8)),
    ("store fault: mcause", exception(7), alter(MCAUSE, flip(1))),
    ("ecall: missing mepc", lambda g: exception(11)(g) and g.changed(MEPC), drop(MEPC)),
    ("ecall: mstatus.MPP", exception(9), alter(MSTATUS, flip(11))),
    ("ecall from U: privilege", lambda g: g.trap and g.regs.get(0x142) == 8, alter_state(1, lambda v: 3, "priv")),
    ("ecall: another handler", exception(11), set_pc(lambda g: g.after[PC] + 4)),
    ("interrupt: mepc", lambda g: g.interrupt, alter(MEPC, lambda v: v + 2)),
    ("interrupt: mstatus.MPIE", lambda g: g.interrupt, alter(MSTATUS, flip(7))),
    ("interrupt: vector", lambda g: g.interrupt, set_pc(lambda g: g.after[PC] + 4)),
    ("mret: mstatus", lambda g: is_mret(g) and MSTATUS in g.regs, alter(MSTATUS, flip(7))),
    ("mret: missing privilege", lambda g: is_mret(g) and 1 in g.states, drop_state(1, "priv")),
    ("sb: a bit", store_of(0), alter_store(flip(0))),
    ("sh: highest bit", store_of(1), alter_store(flip(15))),
    ("sw: inverted", store_of(2), alter_store(lambda v: ~v)),
    ("sd: a bit", lambda g: store_of(3)(g) and (g.opcode == 0x23 or top3(g) == 7), alter_store(flip(33))),
    ("fsd: a bit", lambda g: store_of(3)(g) and (g.opcode == 0x27 or top3(g) == 5), alter_store(flip(52))),
    ("amo: stored value", lambda g: store_of(3)(g) and g.opcode == 0x2f, alter_store(flip(7))),
    ("store at another address", store_of(2), alter_state(3, lambda v: v + 4, "address")),
    ("sw of 1 byte", store_of(2), resize_store(0)),
    ("sw of 2 bytes", store_of(2), resize_store(1)),
    ("sb of 4 bytes", store_of(0), resize_store(2)),
    ("missing store", store_of(1), drop_access),
    ("missing store data", store_of(3), drop_store),
    ("missing store of an amo", lambda g: g.store and g.opcode == 0x2f and g.insn >> 27 not in (2, 3), drop_store),
    ("load from another address", load_of(2, 6), alter_state(3, lambda v: v + 8, "address")),
    ("load of a byte from another address", load_of(0, 4), alter_state(3, lambda v: v ^ 1, "address")),
    ("load from another physical address", load_of(1, 5), alter_state(2, lambda v: v ^ 0x1000, "address")),
    ("load without an access", load_of(2, 3, 6), drop_access),
    ("load that stores", load_of(2, 3, 6), add_access(6)),
    ("an instruction without memory that loads", plain, add_access(3)),
    ("an instruction without memory that stores", plain, add_access(3, 6)),
    ("lr from another address", lambda g: is_op(0x2f)(g) and g.insn >> 27 == 2, alter_state(3, lambda v: v + 4, "address")),
    ("interrupt: cause that is not enabled", lambda g: g.interrupt, found_as("mie", alter(MCAUSE, lambda v: v ^ 4))),
    ("interrupt: reserved cause", lambda g: g.interrupt, alter(MCAUSE, lambda v: v ^ 8 ^ 7 ^ 6)),
    ("interrupt: mtval", lambda g: g.interrupt, alter(MTVAL, lambda v: v ^ 0x40)),
    ("interrupt: another register", lambda g: g.interrupt, found_as("s5", add(GPR + 21))),
    ("interrupt: mie", lambda g: g.interrupt, add(MIE)),
    ("interrupt: missing mstatus", lambda g: g.interrupt, drop(MSTATUS)),
    ("interrupt: missing mepc", lambda g: g.interrupt and g.changed(MEPC), drop(MEPC)),
    ("interrupt: privilege", lambda g: g.interrupt, alter_state(1, lambda v: 1, "priv")),
    ("interrupt that is not pending", lambda g: g.interrupt, lambda g: (g.fields + [(4, MIP, 0)], "mip")),
    ("another instruction", plain, alter_insn),
    ("two instructions", plain, second_insn),
    ("no instruction", plain, no_insn),
    ("pc told twice", plain, both_pcs),
]


def restoration(group):
    """The true state after the group, as a debugger would set it."""
    fields = [(0x0b, None, None), (7, 10, group.after[PC])]
    # QEMU drops the reservation of an lr when the privilege is written.
    fields += [(7, 1, group.after[PRIV])] if 1 in group.states else []
    fields += [(4, i, v) for i, v in group.after.items() if isinstance(i, int)]
    return encode(fields)


# Locked, or with effects beyond their own group: pmpcfg0 to pmpaddr63, misa.
FIXED = {0x301, *range(0x3a0, 0x3f0)}
# What the trace decides: mip, counters, time.
CHOSEN = {MIP, *range(0xb00, 0xb20), *range(0xb80, 0xba0), *range(0xc00, 0xc20), *range(0xc80, 0xca0)}


def random_fault(group, draw):
    """One element that is altered, dropped or added: (fields, name), or None if it would not be wrong."""
    index = draw.randrange(len(group.fields))
    op, number, value = group.fields[index]
    others = group.fields[:index] + group.fields[index + 1:]
    reads_chosen = group.opcode == 0x73 and group.insn >> 20 in CHOSEN or group.device
    way = draw.choice(("alter", "alter", "drop", "add"))
    if way == "add":
        number = draw.choice([GPR + draw.randrange(1, 32), FPR + draw.randrange(32), MSCRATCH, MEPC, MCAUSE, MTVAL])
        # Floating-point registers and CSRs are compared when the group may change them, or tells them.
        if number in group.regs or number not in group.before:
            return None
        value = group.before[number] ^ 1 << draw.randrange(8 * size_of(number))
        return group.fields + [(4, number, value)], f"added register {number:#x}"
    if op == 4:
        if number in FIXED | CHOSEN or (reads_chosen and number >= GPR):
            return None
        if way == "drop":
            if not group.changed(number):
                return None
            return others, f"dropped register {number:#x}"
        altered = (op, number, value ^ 1 << draw.randrange(8 * size_of(number)))
        return others + [altered], f"altered register {number:#x}"
    if op == 7:
        untranslated = group.before.get(PRIV) == 3 and not group.before.get(MSTATUS, 0) & 1 << 17
        if group.trap and number in range(2, 8) or number == 2 and (way == "drop" or not untranslated):
            return None
        if number == 1 and (way == "drop" and group.after[PRIV] == group.before[PRIV]):
            return None
        if number == 10 and way == "drop" and group.after[PC] == group.before[PC]:
            return None
        if way == "drop":
            return others, f"dropped state {number}"
        bits = 8 * STATE_SIZES[number] if number != 1 else 2
        if number in (2, 3):
            bits = XLEN
        return others + [(op, number, value ^ 1 << draw.randrange(bits))], f"altered state {number}"
    if op in (0x10, 0x11):
        if way == "drop":
            return None
        # The length stays as it is.
        bit = draw.randrange(2, 16 if op == 0x10 else 32)
        return others + [(op, number, value ^ 1 << bit)], "altered instruction"
    if op == 3:
        return others, "dropped pc"
    return None


def main_random(seed, count, trace, falsified, listed):
    draw = random.Random(seed)
    groups, state = [], {}
    for fields in parse(open(trace, "rb").read()):
        groups.append(Group(fields, state))
        state = groups[-1].after
    wanted = set(draw.sample(range(1, len(groups) - 20), min(3 * count, len(groups) - 21)))
    out, lines, last = bytearray(), [], 0
    for i, group in enumerate(groups[:-20]):
        fault = random_fault(group, draw) if i in wanted and i > last + 3 and len(lines) < count and not group.init else None
        if not fault:
            out += encode(group.fields)
            continue
        last = i
        lines.append(f"{len(out)} any {fault[1]} in group {i} of {group.insn or 0:#x}")
        out += encode(fault[0])
        out += restoration(group)
    open(falsified, "wb").write(out)
    open(listed, "w").write("\n".join(lines) + "\n")


def main():
    data = open(sys.argv[1], "rb").read()
    groups, state = [], {}
    for fields in parse(data):
        group = Group(fields, state)
        state = group.after
        if group.regs.get(GPR + 5) == 0x100000:
            break       # then the machine is powered off
        groups.append(group)

    # The first group that suits, with two groups of distance to others. Rare groups come first.
    suits = {fault: [i for i, g in enumerate(groups[1:-4], 1) if fault[1](g)] for fault in FAULTS}
    used, chosen = set(), {}
    for fault in sorted(FAULTS, key=lambda f: len(suits[f])):
        index = next((i for i in suits[fault] if not used & set(range(i - 2, i + 3))), None)
        if index is None:
            sys.exit(f"faults.py: no group for '{fault[0]}'")
        used.add(index)
        chosen[index] = fault
    # Whole groups: dropped, duplicated, swapped with the next, and interrupts that cannot be.
    whole = ["dropped group", "duplicated group", "swapped groups", "interrupt with MIE 0"]
    for kind in whole:
        index = next(i for i in range(2, len(groups) - 8)
                     if all(plain(groups[j]) for j in range(i, i + 3)) and groups[i].after[PRIV] == 3 and
                     not groups[i].after[MSTATUS] & 8 and not used & set(range(i - 3, i + 6)))
        used |= set(range(index, index + 3))
        chosen[index] = (kind,)

    out, lines, i = bytearray(), [], 0
    while i < len(groups):
        fault = chosen.get(i)
        group = groups[i]
        if fault is None:
            out += encode(group.fields)
        elif len(fault) == 3:
            fields, found = fault[2](group)
            lines.append(f"{len(out)} {found} {fault[0]}")
            out += encode(fields)
            out += restoration(group)
        else:
            if fault[0] == "dropped group":
                i += 1
                lines.append(f"{len(out)} instruction {fault[0]}")
                out += encode(groups[i].fields)
            elif fault[0] == "interrupt with MIE 0":
                out += encode(group.fields)
                lines.append(f"{len(out)} mstatus {fault[0]}")
                status = group.after[MSTATUS]
                out += encode([(7, 10, group.after[0x305]), (4, MEPC, group.after[PC]), (4, MCAUSE, 1 << 63 | 7),
                               (4, MTVAL, 0), (7, 1, 3),
                               (4, MSTATUS, status & ~0x1888 | (status & 8) << 4 | group.after[PRIV] << 11)])
            elif fault[0] == "duplicated group":
                out += encode(group.fields)
                lines.append(f"{len(out)} instruction {fault[0]}")
                out += encode(group.fields)
            else:
                i += 1
                for swapped in (groups[i], group):
                    lines.append(f"{len(out)} instruction {fault[0]}")
                    out += encode(swapped.fields)
            out += restoration(groups[i])
        i += 1
    open(sys.argv[2], "wb").write(out)
    open(sys.argv[3], "w").write("\n".join(lines) + "\n")


def check(faults, found):
    seen = {}
    for line in open(found):
        record = json.loads(line)
        if "kind" in record:
            what = record["register"] if record["kind"] in ("register", "interrupt") else record["kind"]
            seen.setdefault(record["offset"], []).append(what)
    expected = [line.split(" ", 2) for line in open(faults).read().splitlines()]
    for offset, what, fault in expected:
        ok(what in seen.get(int(offset), []) or what == "any" and int(offset) in seen, f"{fault}: found at its instruction, as {what}",
           f"found: {seen.get(int(offset))}")
    others = sorted(set(seen) - {int(e[0]) for e in expected})
    ok(not others, "no other group differs", *(f"{o}: {seen[o]}" for o in others[:20]))
    ok(len({e[2] for e in expected}) > 50, "more than 50 faults")
    done()


if sys.argv[1] == "--check":
    check(*sys.argv[2:])
elif sys.argv[1] == "--random":
    main_random(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[5:])
else:
    main()
