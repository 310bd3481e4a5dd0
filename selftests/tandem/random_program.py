# SPDX-License-Identifier: GPL-2.0-only
"""Prints a random program for the virt machine of QEMU, in assembly: random_program.py SEED XLEN INSTRUCTIONS ROUNDS

It executes about INSTRUCTIONS different instructions in ROUNDS rounds, in M, S and U mode: integer, floating-point, compressed
and atomic instructions, branches and jumps, loads and stores of all sizes at aligned, misaligned and missing addresses, CSR
instructions of all kinds, code that is replaced, exceptions of all kinds, and timer and software interrupts, with random
delegation. The handlers change the privilege, and continue after the instruction. Then the machine is powered off.

Registers: sp is the middle of the data, gp a temporary, tp belongs to the handlers, s11 counts the rounds.
"""

import random
import sys

SEED, XLEN, COUNT, ROUNDS = (int(word) for word in sys.argv[1:5])
draw = random.Random(SEED)
WIDE = XLEN == 64
REGISTERS = ["ra"] + [f"t{i}" for i in range(7)] + [f"a{i}" for i in range(8)] + [f"s{i}" for i in range(11)]
LOAD, STORE = ("ld", "sd") if WIDE else ("lw", "sw")

ALU = "add sub and or xor sll srl sra slt sltu mul mulh mulhu mulhsu div divu rem remu".split()
ALU_W = "addw subw sllw srlw sraw mulw divw divuw remw remuw".split()
BITS = "andn orn xnor max maxu min minu rol ror sh1add sh2add sh3add bclr bext binv bset".split()
ONE = "clz ctz cpop sext.b sext.h orc.b rev8".split()
IMMEDIATE = "addi andi ori xori slti sltiu".split()
SHIFTS = "slli srli srai rori bclri bexti binvi bseti".split()
LOADS = [("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4)] + ([("lwu", 4), ("ld", 8)] if WIDE else [])
STORES = [("sb", 1), ("sh", 2), ("sw", 4)] + ([("sd", 8)] if WIDE else [])
AMOS = "amoswap amoadd amoxor amoand amoor amomin amomax amominu amomaxu".split()
BRANCHES = "beq bne blt bge bltu bgeu".split()
FLOAT_2 = "fadd fsub fmul fdiv fmin fmax fsgnj fsgnjn fsgnjx".split()
FLOAT_4 = "fmadd fmsub fnmadd fnmsub".split()
COMPARE = "feq flt fle".split()
# Read and written with any value. mie keeps its timer, mideleg has no effect on it.
CSRS = ["sscratch", "mcause", "scause", "mtval", "stval", "mcounteren", "scounteren", "fflags", "frm",
        "fcsr", "pmpaddr4", "pmpaddr5", "medeleg", "mideleg", "sie", "sip", "mip", "mcountinhibit", "mhpmevent3"]
READ_ONLY = ["mhartid", "marchid", "mvendorid", "misa", "cycle", "time", "instret", "mcycle", "minstret", "mscratch", "satp",
             "mtvec", "stvec", "mstatus", "sstatus", "mie", "pmpcfg0", "0x7ff", "0xcff", "mconfigptr", "menvcfg"]
# Bits that cannot end the program: no big endian, and no TSR, with which the handler of S mode could not return.
STATUS = [1 << 1, 1 << 3, 1 << 5, 1 << 7, 1 << 8, 3 << 11, 1 << 11, 3 << 13, 3 << 13, 1 << 17, 1 << 18, 1 << 19, 1 << 20]
ILLEGAL = [".4byte 0xffffffff", ".2byte 0", ".4byte 0x0000700b", "csrw mhartid, zero", "csrr t0, 0x7c5", "mret_in_user"]

labels = 0
lines = []


def emit(text):
    lines.append(text)


def register():
    return draw.choice(REGISTERS)


def fregister():
    return f"f{draw.randrange(32)}"


def label():
    global labels
    labels += 1
    return f"L{labels}"


def arithmetic():
    kind = draw.randrange(7)
    if kind < 2:
        emit(f"{draw.choice(ALU + (ALU_W if WIDE else []) + BITS)} {register()}, {register()}, {register()}")
    elif kind == 2:
        emit(f"{draw.choice(IMMEDIATE)} {register()}, {register()}, {draw.randrange(-2048, 2048)}")
    elif kind == 3:
        emit(f"{draw.choice(SHIFTS)} {register()}, {register()}, {draw.randrange(XLEN)}")
    elif kind == 4:
        emit(f"{draw.choice(ONE)} {register()}, {register()}")
    elif kind == 5:
        emit(f"li {register()}, {draw.choice((draw.randrange(-32, 32), draw.getrandbits(XLEN), 1 << draw.randrange(XLEN)))}")
    else:
        rd = register()
        emit(draw.choice((f"mv {rd}, {register()}", f"add {rd}, {rd}, {register()}", f"addi {rd}, {rd}, {draw.randrange(1, 31)}",
                          f"auipc {rd}, {draw.randrange(1 << 20)}", f"lui {rd}, {draw.randrange(1 << 20)}")))


def memory():
    (name, size), stores = draw.choice(LOADS), draw.randrange(2)
    if stores:
        name, size = draw.choice(STORES)
    offset = draw.randrange(-1024 // size, 1024 // size) * size + (draw.randrange(size) if draw.randrange(12) == 0 else 0)
    base = "sp"
    if draw.randrange(30) == 0:
        base = "gp"
        emit(f"li gp, {draw.choice((0x18000000, 0x11000000, 0x28000000))}")
        offset = 0
    emit(f"{name} {register()}, {offset}({base})")


def atomic():
    size = draw.choice("wd" if WIDE else "w")
    bytes_ = 8 if size == "d" else 4
    emit(f"addi gp, sp, {draw.randrange(-100, 100) * bytes_ + (2 if draw.randrange(20) == 0 else 0)}")
    kind = draw.randrange(4)
    if kind == 0:
        emit(f"lr.{size} {register()}, (gp)")
        for _ in range(draw.randrange(3)):
            arithmetic()
        emit(f"sc.{size} {register()}, {register()}, (gp)")
    elif kind == 1 and draw.randrange(3) == 0:
        emit(f"sc.{size} {register()}, {register()}, (gp)")
    else:
        emit(f"{draw.choice(AMOS)}.{size}{draw.choice(('', '.aq', '.rl', '.aqrl'))} {register()}, {register()}, (gp)")


def floating():
    size = draw.choice("sd")
    kind = draw.randrange(8)
    if kind == 0:
        name = {"s": "w", "d": "d"}[size]
        store = draw.randrange(2)
        emit(f"f{'s' if store else 'l'}{name} {fregister()}, {draw.randrange(-100, 100) * 8}(sp)")
    elif kind == 1:
        emit(f"{draw.choice(FLOAT_4)}.{size} {fregister()}, {fregister()}, {fregister()}, {fregister()}")
    elif kind == 2:
        emit(f"{draw.choice(COMPARE)}.{size} {register()}, {fregister()}, {fregister()}")
    elif kind == 3:
        emit(f"fcvt.{draw.choice(['w', 'wu'] + (['l', 'lu'] if WIDE else []))}.{size} {register()}, {fregister()}")
    elif kind == 4:
        emit(f"fcvt.{size}.{draw.choice(['w', 'wu'] + (['l', 'lu'] if WIDE else []))} {fregister()}, {register()}")
    elif kind == 5:
        emit(draw.choice((f"fmv.x.w {register()}, {fregister()}", f"fmv.w.x {fregister()}, {register()}",
                          f"fclass.{size} {register()}, {fregister()}", f"fsqrt.{size} {fregister()}, {fregister()}",
                          f"fcvt.s.d {fregister()}, {fregister()}", f"fcvt.d.s {fregister()}, {fregister()}")))
    else:
        emit(f"{draw.choice(FLOAT_2)}.{size} {fregister()}, {fregister()}, {fregister()}")


def control():
    """Forwards only, so that each round ends."""
    target = label()
    kind = draw.randrange(5)
    if kind < 3:
        emit(f"{draw.choice(BRANCHES)} {register()}, {register()}, {target}")
    elif kind == 3:
        emit(f"{draw.choice(('j', 'jal ' + register() + ','))} {target}")
    else:
        emit(f"la gp, {target}")
        emit(f"jalr {draw.choice(['zero'] + REGISTERS)}, {draw.choice((0, 1))}(gp)")
    for _ in range(draw.randrange(4)):
        one()
    emit(f"{target}:")


def csr():
    kind = draw.randrange(8)
    if kind < 3:
        number, op = draw.choice(CSRS), draw.choice(("csrrw", "csrrs", "csrrc"))
        if draw.randrange(2):
            emit(f"{op} {draw.choice(['zero', register()])}, {number}, {draw.choice(['zero', register()])}")
        else:
            emit(f"{op}i {draw.choice(['zero', register()])}, {number}, {draw.choice((0, draw.randrange(32)))}")
    elif kind < 5:
        emit(f"csrr {register()}, {draw.choice(READ_ONLY + CSRS)}")
    elif kind == 5:
        emit(f"li gp, {draw.choice((1 << 1, 1 << 3, 1 << 5, 1 << 9, 1 << 11))}")
        emit(f"{draw.choice(('csrs', 'csrc'))} {draw.choice(('mie', 'sie'))}, gp")
    else:
        bits = sum(set(draw.choices(STATUS[:6] + STATUS[7:], k=draw.randrange(1, 4))))
        emit(f"li gp, {bits}")
        emit(f"{draw.choice(('csrs', 'csrc'))} {draw.choice(('mstatus', 'mstatus', 'sstatus'))}, gp")


def trap():
    kind = draw.randrange(10)
    if kind < 3:
        emit("ecall")
    elif kind == 3:
        emit(draw.choice(("ebreak", "c.ebreak")))
    elif kind == 4:
        emit(draw.choice(ILLEGAL[:5]))
    elif kind == 5:
        target = label()
        emit(f"la gp, {target}")
        name = draw.choice("ms")
        emit(f"csrw {name}epc, gp")
        emit(f"{name}ret")
        emit(f"{target}:")
    elif kind == 6:
        emit(draw.choice(("wfi", "sfence.vma", "fence", "fence.i", "fence rw, w")))
    elif kind == 7:
        # A software interrupt, which the handler ends.
        emit("li gp, 0x2000000")
        emit("sw gp, 0(gp)" if draw.randrange(2) else "sw ra, 0(gp)")
    elif kind == 8:
        # The fetch faults; the handler goes on at ra.
        emit("la ra, 1f")
        emit(f"li gp, {draw.choice((0x18000000, 0x11000002, 0x28000100))}")
        emit("jr gp")
        emit("1:")
    else:
        # Code that is replaced: li t0, a number of 12 bits.
        emit("la gp, 1f")
        emit(f"li t0, {draw.randrange(1 << 12) << 20 | 0x293:#x}")
        emit("sw t0, 0(gp)")
        emit("fence.i")
        emit(".option push")
        emit(".option norvc")
        emit(".balign 4")
        emit("1: li t0, 5")
        emit(".option pop")


def one():
    draw.choices((arithmetic, memory, atomic, floating, control, csr, trap), (40, 20, 6, 14, 8, 9, 5))[0]()


def handler(name, machine):
    """A trap handler: tp has the address of its memory. It changes t0 to t2 only, and restores them."""
    x, status, save = ("m", "mstatus", 0) if machine else ("s", "sstatus", 32)
    emit(f".balign 4\n{name}:")
    emit(f"{STORE} t0, {save}(tp)\n{STORE} t1, {save + 8}(tp)\n{STORE} t2, {save + 16}(tp)")
    emit(f"csrr t0, {x}cause\nbltz t0, 5f")
    # Where to go on: at ra after a fault of a fetch, which is of code that is not there.
    emit(f"csrr t1, {x}epc\nli t2, 1\nbne t0, t2, 1f\nmv t1, ra\nj 3f")
    emit("1: lhu t2, 0(t1)\nandi t2, t2, 3\naddi t1, t1, 2\naddi t2, t2, -3\nbnez t2, 3f\naddi t1, t1, 2")
    emit(f"3: csrw {x}epc, t1")
    # The privilege after it: by a counter.
    emit(f"{LOAD} t1, {save + 24}(tp)\naddi t1, t1, 1\n{STORE} t1, {save + 24}(tp)")
    if machine:
        emit(f"andi t1, t1, 3\nli t2, 3 << 11\ncsrc {status}, t2\nli t2, 2\nbeq t1, t2, 4f\nslli t1, t1, 11\ncsrs {status}, t1\n4:")
        # MPRV would make the handler's own accesses those of a lower privilege, which is allowed; FS is switched on sometimes.
        emit(f"andi t1, t0, 1\nbeqz t1, 6f\nli t1, 3 << 13\ncsrs {status}, t1\nj 6f")
        emit("5: slli t0, t0, 1\nsrli t0, t0, 1\nli t1, 7\nbeq t0, t1, 7f\nli t1, 3\nbeq t0, t1, 8f")
        # Interrupts of S mode: no longer pending.
        emit("li t1, 0x222\ncsrc mip, t1\nj 6f")
        emit("8: li t1, 0x2000000\nsw zero, 0(t1)\nj 6f")
        emit("7: li t1, 0x200bff8\nlw t1, 0(t1)\naddi t1, t1, 15\nli t2, 0x2004000\nsw t1, 0(t2)\nsw zero, 4(t2)\nli t1, 0x80\ncsrs mie, t1")
    else:
        emit("j 6f\n5: li t1, 0x222\ncsrc sip, t1\ncsrc sie, t1")
    emit(f"6: {LOAD} t0, {save}(tp)\n{LOAD} t1, {save + 8}(tp)\n{LOAD} t2, {save + 16}(tp)\n{x}ret")


emit(".option norelax\n.option nopic\n.globl _start\n_start:")
emit("la sp, data + 2048\nla tp, save\nla t0, m_handler\ncsrw mtvec, t0\nla t0, s_handler\ncsrw stvec, t0")
emit("li t0, -1\ncsrw pmpaddr0, t0\nli t0, 0x1f\ncsrw pmpcfg0, t0\nli t0, 0x6000\ncsrs mstatus, t0")
emit(f"li t0, {draw.getrandbits(16) & 0xb1f7:#x}\ncsrw medeleg, t0\nli t0, {draw.choice((0, 0x222, 0x2, 0x20))}\ncsrw mideleg, t0")
emit("li t0, 0x2004000\nsw zero, 0(t0)\nsw zero, 4(t0)\nli t0, 0xaaa\ncsrw mie, t0\ncsrsi mstatus, 8")
for name in REGISTERS:
    emit(f"li {name}, {draw.getrandbits(XLEN):#x}")
for number in range(32):
    emit(f"fld f{number}, {8 * number}(sp)")
emit(f"li s11, {ROUNDS}\nj round\n.balign 4\nround:")
for _ in range(COUNT):
    one()
emit("addi s11, s11, -1\nbeqz s11, 1f\nla gp, round\njr gp\n1: li t0, 0x100000\nli t1, 0x5555\nsw t1, 0(t0)\n2: j 2b")
handler("m_handler", True)
handler("s_handler", False)
emit(".data\n.balign 4096\nsave: .zero 64\n.balign 4096\ndata:")
for _ in range(512):
    emit(f".8byte {draw.getrandbits(64):#x}")
print("\n".join(lines))
