# SPDX-License-Identifier: GPL-2.0-only
"""Fields of a tandem trace, written by hand, and what ntrace tandem dump and stat must say of them.

dump.py NTRACE DISASSEMBLY: prints "ok TEXT" or "failed TEXT" for each test. See dump.sh.
"""
import json
import re
import subprocess
import sys

NTRACE, DISASSEMBLY = sys.argv[1:]


def test(good, text, *why):
    print("ok" if good else "failed", text, flush=True)
    if not good:
        for item in why:
            print("#", repr(item)[:1500])


def tandem(action, data, *options):
    done = subprocess.run([NTRACE, "tandem", action, *options, "-"], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def little(value, size):
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")


BEGIN, END, NEXT, RESET, INIT = b"\x01", b"\x02", b"\x03", b"\x0a", b"\x0b"
GPR, FPR, STATE = 0x1000, 0x1020, b"\x07"


def register(number, value, size=8):
    return b"\x04" + little(number, 2) + little(value, size)


def state(number, value, size):
    return STATE + bytes([number]) + little(value, size)


def insn(value):
    return b"\x11" + little(value, 4) if value & 3 == 3 else b"\x10" + little(value, 2)


def check(name, fields, *options, status=0):
    """@fields: (bytes, text, members of JSON)"""
    data = b"".join(item[0] for item in fields)
    at, texts, objects = 0, [], []
    for raw, text, *members in fields:
        texts.append(f"{at:08x} {text}")
        objects.append({"offset": at, "type": text.split()[0], **(members[0] if members else {})})
        at += len(raw)
    got = tandem("dump", data, *options)
    test(got == (status, "\n".join(texts) + "\n", ""), f"{name}: text", got, texts)
    got = tandem("dump", data, *options, "--json")
    test((got[0], [json.loads(line) for line in got[1].splitlines()]) == (status, objects), f"{name}: JSON", got, objects)


def value(number):
    return {"value": hex(number)}


begin, end = (BEGIN, "begin"), (END, "end")
check("registers", [
    begin, (register(GPR + 10, 0x123456789abcdef0), "register a0 = 0x123456789abcdef0", {"register": "a0", **value(0x123456789abcdef0)}),
    (register(GPR, 0), "register zero = 0x0", {"register": "zero", **value(0)}),
    (register(FPR + 31, 7), "register ft11 = 0x7", {"register": "ft11", **value(7)}),
    (register(0x300, 0xa00000080), "register mstatus = 0xa00000080", {"register": "mstatus", **value(0xa00000080)}),
    (register(0x3a1, 5), "register pmpcfg1 = 0x5", {"register": "pmpcfg1", **value(5)}),
    (b"\x05\x0a\x10\x10", "add a0 += 16", {"register": "a0", "value": 16}),
    (b"\x05\x02\x10\xf0", "add sp += -16", {"register": "sp", "value": -16}),
    (b"\x06\x01\x00\x11", "or fflags |= 0x11", {"register": "fflags", **value(0x11)}), end])
check("state", [
    begin, (state(10, 0x80000000, 8), "state pc = 0x80000000", {"state": "pc", **value(0x80000000)}),
    (state(1, 3, 1), "state priv = 0x3", {"state": "priv", **value(3)}),
    (state(2, 0x80001000, 8), "state paddr = 0x80001000", {"state": "paddr", **value(0x80001000)}),
    (state(3, 0x1000, 8), "state eaddr = 0x1000", {"state": "eaddr", **value(0x1000)}),
    (state(4, 0xff, 1), "state store8 = 0xff", {"state": "store8", **value(0xff)}),
    (state(5, 0xfffe, 2), "state store16 = 0xfffe", {"state": "store16", **value(0xfffe)}),
    (state(6, 0xfffffffd, 4), "state store32 = 0xfffffffd", {"state": "store32", **value(0xfffffffd)}),
    (state(7, 2 ** 64 - 1, 8), "state store64 = 0xffffffffffffffff", {"state": "store64", **value(2 ** 64 - 1)}),
    (state(8, 99, 8), "state mtime = 0x63", {"state": "mtime", **value(99)}),
    (state(9, 0x2000, 8), "state pc-paddr = 0x2000", {"state": "pc-paddr", **value(0x2000)}), end])
check("instructions", [
    begin, (NEXT, "next-pc"), (insn(0x8d0d), "insn16 8d0d", value(0x8d0d)), end,
    begin, (NEXT, "next-pc"), (insn(0x00000013), "insn32 00000013", value(0x13)), end,
    begin, (RESET, "reset"), end, begin, (INIT, "init"), end])


def request(operation, size, address, data=b""):
    return b"\x08" + little(address, 8) + bytes([operation | size << 4]) + data


def access(operation, bits, address, number, failed=False):
    return {"op": operation, "bits": bits, "address": hex(address), "failed": failed, **value(number)}


check("memory", [
    begin, (request(0, 2, 0x80000000), "request load 32 bits at 0x80000000: 0x0", access("load", 32, 0x80000000, 0)),
    (b"\x09\x02\x01\x02\x03\x04", "response load 32 bits at 0x80000000: 0x4030201", access("load", 32, 0x80000000, 0x4030201)),
    (request(1, 0, 0x10, b"\x55"), "request store 8 bits at 0x10: 0x55", access("store", 8, 0x10, 0x55)),
    (b"\x09\x10", "response store 8 bits at 0x10: 0x0, failed", access("store", 8, 0x10, 0, True)),
    (request(1, 3, 0x18, little(0x1122334455667788, 8)), "request store 64 bits at 0x18: 0x1122334455667788", access("store", 64, 0x18, 0x1122334455667788)),
    (b"\x09\x03", "response store 64 bits at 0x18: 0x0", access("store", 64, 0x18, 0)), end])
# Violations after which reading continues.
check("violations", [
    (END, "end  ! end of a group outside a group", {"problem": "end of a group outside a group"})], status=3)
for data, position, problem in (
        (BEGIN + NEXT + END, -1, "group with an incremented pc and no instruction"),
        (BEGIN + insn(0x13) + insn(0x13) + END, -1, "group with more than one instruction"),
        (BEGIN + NEXT + NEXT + insn(0x13) + END, -1, "group with more than one new pc"),
        (BEGIN + INIT + RESET + END, -1, "state initialisation"),
        (b"\x10\x13\x00", -1, "outside"), (BEGIN + b"\x10\x13\x00" + END, 1, "low bits are those of a longer one")):
    status, text, _ = tandem("dump", data)
    line = text.splitlines()[position]
    test(status == 3 and re.search(rf"  ! .*{problem}", line), f"violation: {problem}", text)
    status, text, _ = tandem("dump", data, "--json")
    test(status == 3 and problem in json.loads(text.splitlines()[position])["problem"], f"violation as JSON: {problem}", text)
    status, text, _ = tandem("stat", data, "--json")
    test(status == 3 and json.loads(text)["violations"] == 1, f"stat counts it: {problem}", text)
# An end that the next begin implies is no violation.
status, text, _ = tandem("dump", BEGIN + insn(0x13) + BEGIN + END)
test((status, text.splitlines()[2]) == (0, "00000006 end (implied)"), "an implied end", text)
status, text, _ = tandem("dump", BEGIN + insn(0x13) + BEGIN + END, "--json")
test(json.loads(text.splitlines()[2]) == {"offset": 6, "type": "end", "implied": True}, "an implied end as JSON", text)
# Parameters.
check("RV32", [
    begin, (register(GPR + 1, 0x89abcdef, 4), "register ra = 0x89abcdef", {"register": "ra", **value(0x89abcdef)}),
    (register(FPR, 0x1122334455667788), "register ft0 = 0x1122334455667788", {"register": "ft0", **value(0x1122334455667788)}),
    (state(2, 0x234567890, 5), "state paddr = 0x234567890", {"state": "paddr", **value(0x234567890)}), end],
      "--xlen", "32", "--mlen", "34")
check("flen 32", [begin, (register(FPR + 1, 0x12345678, 4), "register ft1 = 0x12345678", {"register": "ft1", **value(0x12345678)}), end], "--flen", "32")
check("sc with data", [
    begin, (request(3, 2, 8, b"\1\0\0\0"), "request sc 32 bits at 0x8: 0x1", access("sc", 32, 8, 1)),
    (b"\x09\x02\x05\0\0\0", "response sc 32 bits at 0x8: 0x5", access("sc", 32, 8, 5)), end], "--sc-data")
check("failures without data", [
    begin, (request(0, 1, 8), "request load 16 bits at 0x8: 0x0", access("load", 16, 8, 0)),
    (b"\x09\x11", "response load 16 bits at 0x8: 0x0, failed", access("load", 16, 8, 0, True)), end], "--failed-no-data")
test("floating-point register, but flen is 0" in tandem("dump", BEGIN + register(FPR, 0), "--flen", "0")[2], "flen 0: no such registers")
# Limits.
data = (BEGIN + NEXT + insn(0x13) + END) * 5
test([len(tandem("dump", data, "--limit", str(count))[1].splitlines()) for count in (1, 7, 20, 21, 0)] == [1, 7, 20, 20, 20], "dump --limit: fields")
test([json.loads(tandem("stat", data, "--json", "--limit", str(count))[1])["groups"] for count in (1, 3, 5, 9, 0)] == [1, 3, 5, 5, 5], "stat --limit: groups")
for action in ("dump", "stat"):
    test(tandem(action, data + BEGIN + insn(0x13))[::2] == (3, "ntrace: warning: standard input: the last group has no end: it is left out\n"),
         f"{action}: a group without end")
    test(tandem(action, data + BEGIN + insn(0x13), "--limit", "2")[::2] == (0, ""), f"{action} --limit: not what comes later")
    status, text, message = tandem(action, data + b"\x11\x13")
    test((status, message) == (3, "ntrace: warning: standard input: the trace ends in a field, at offset 0x28\n"), f"{action}: a cut trace", message)

# Kinds of instructions.
codes, kind = {}, None
for line in open(DISASSEMBLY):
    label, code = re.match(r"[0-9a-f]+ <(\w+)>:", line), re.match(r" +[0-9a-f]+:\t([0-9a-f]+)", line)
    if label:
        kind = label[1]
        codes[kind] = []
    elif code:
        codes[kind].append(int(code[1], 16))
# c.lbu, c.lhu, c.sb and c.sh of Zcb, which not every assembler knows.
codes["load_instructions"] += [0x8188, 0x8588]
codes["store_instructions"] += [0x8988, 0x8d88]
test(len(codes) == 7 and sum(len(items) for items in codes.values()) == 56, "instructions of all kinds are in the program", codes)
for kind, items in codes.items():
    wrong = []
    for code in items:
        counts = json.loads(tandem("stat", BEGIN + NEXT + insn(code) + END, "--json")[1])
        got = [name for name in codes if counts.get(name)]
        if got != ([kind] if kind != "others" else []) or counts["instructions"] != 1 or counts["instructions16"] != (code & 3 != 3):
            wrong.append((hex(code), got))
    test(not wrong, f"stat: {kind}", wrong)

# Everything that stat counts. A trap changes the cause and the privilege.
mcause, scause = 0x342, 0x142


def trap(cause, number, size=8):
    return BEGIN + register(cause, number, size) + state(1, 3, 1) + END


INTERRUPT = 1 << 63
data = (NEXT + BEGIN + INIT + register(mcause, 5) + state(1, 3, 1) + END + BEGIN + RESET + END + trap(mcause, 8) + trap(scause, 9) * 2 +
        trap(mcause, INTERRUPT | 7) + trap(scause, INTERRUPT | 5) * 3 + BEGIN + register(mcause, 4) + END + BEGIN + state(1, 0, 1) + END +
        BEGIN + NEXT + insn(0x8d0d) + state(3, 8, 8) + END + BEGIN + NEXT + insn(0x0082a203) + state(2, 8, 8) + state(6, 1, 4) + END +
        BEGIN + NEXT + insn(0x13) + b"\x05\x02\x10\xf0" + b"\x06\x01\x00\x11" + request(0, 2, 16) + b"\x09\x02\1\2\3\4" + request(0, 2, 16) + END)
wanted = {"bytes": len(data), "fields": 63, "groups": 14, "outside": 1, "instructions": 3, "instructions16": 1, "load_instructions": 1,
          "store_instructions": 0, "atomic_instructions": 0, "float_instructions": 0, "csr_instructions": 0, "ecalls": 0, "exceptions": 3,
          "interrupts": 4, "accesses": 2, "stores": 1, "registers": 9, "incremental": 2, "requests": 2, "initialisations": 1, "resets": 1,
          "violations": 1}
status, text, _ = tandem("stat", data, "--json")
test((status, json.loads(text)) == (3, wanted), "stat --json: all numbers", text, wanted)
rows = dict(re.fullmatch(r"(.*?) +([\d,]+)", line).groups() for line in tandem("stat", data)[1].splitlines())
test(len(rows) == len(wanted) and [int(number.replace(",", "")) for number in rows.values()] == list(wanted.values()), "stat: the same as text", rows)
names = ("bytes", "fields", "groups", "fields outside groups", "instructions", "  of 16 bits", "  loads", "  stores", "  atomics")
test(tuple(rows)[:9] == names, "stat: the rows", rows)
status, text, _ = tandem("stat", BEGIN + register(mcause, 1 << 31 | 7, 4) + state(1, 3, 1) + END, "--xlen", "32", "--json")
test(status == 0 and json.loads(text)["interrupts"] == 1, "stat: an interrupt of RV32", text)
