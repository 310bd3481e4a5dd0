# SPDX-License-Identifier: GPL-2.0-only
"""Runs in GDB, connected to `ntrace gdb` with a tandem trace, and compares what GDB shows with the trace's own fields.

The environment: TARGET, the argument of `target remote`; FIELDS, the output of `ntrace tandem dump --json`; XLEN; SEED; PLACES.
Prints TAP.
"""
import json
import os
import random
import re

import gdb

XLEN = int(os.environ["XLEN"])
MASK = (1 << XLEN) - 1
ABI = (["zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"] + [f"a{i}" for i in range(8)] + [f"s{i}" for i in range(2, 12)]
       + [f"t{i}" for i in range(3, 7)])
FLOATS = ([f"ft{i}" for i in range(8)] + ["fs0", "fs1"] + [f"fa{i}" for i in range(8)] + [f"fs{i}" for i in range(2, 12)]
          + [f"ft{i}" for i in range(8, 12)])
COUNT = []
RAND = random.Random(int(os.environ["SEED"]))


def test(good, text, why=None):
    COUNT.append(text)
    print("ok" if good else "not ok", len(COUNT), "-", text, flush=True)
    if not good:
        print("#", repr(why)[:1500])


def run(command):
    """Output of a command of GDB, or "error: TEXT"."""
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        return f"error: {error}"


class Truth:
    """States after each group, and the stores, from the fields alone."""

    def __init__(self, lines):
        self.states, self.stores, self.told = [], [], set()
        now, group = {"zero": 0, "pc": 0}, {}
        for field in map(json.loads, lines):
            value = int(field.get("value", "0"), 0) if isinstance(field.get("value", "0"), str) else field["value"]
            kind = field["type"]
            if kind == "begin":
                group = {"pc": now["pc"]}
            elif kind in ("register", "add", "or"):
                name = field["register"]
                old = now.get(name, 0)
                self.put(now, name, value if kind == "register" else old + value & MASK if kind == "add" else old | value)
            elif kind == "state":
                if field["state"] in ("pc", "priv"):
                    now[field["state"]] = value
                else:
                    group[field["state"]] = value
            elif kind in ("insn16", "insn32"):
                group["size"] = int(kind[4:]) // 8
            elif kind == "next-pc":
                group["next"] = True
            elif kind == "end":
                if "next" in group:
                    now["pc"] = now["pc"] + group["size"] & MASK
                self.end(group)
                self.states.append(dict(now))

    @staticmethod
    def put(now, name, value):
        now[name] = value
        if name == "fcsr":
            now["fflags"], now["frm"] = value & 31, value >> 5 & 7
        if name in ("fflags", "frm"):
            now["fcsr"] = now.get("frm", 0) << 5 | now.get("fflags", 0)

    def end(self, group):
        address = group.get("eaddr")
        if "size" in group:
            self.told.update(range(group["pc"], group["pc"] + group["size"]))
        if address is None:
            return
        self.told.update(range(address, address + 8))
        for bits in (8, 16, 32, 64):
            if f"store{bits}" in group:
                data = group[f"store{bits}"].to_bytes(bits // 8, "little")
                self.stores.append((len(self.states), address, data))

    def memory(self, place):
        bytes_at = {}
        for group, address, data in self.stores:
            if group <= place:
                bytes_at.update(zip(range(address, address + len(data)), data))
        return bytes_at


def place():
    return int(re.search(r"instruction (\d+) of", run("monitor where")).group(1))


def go(to):
    run(f"monitor goto {to}")
    run("maintenance flush register-cache")


def shown(truth):
    """Differences between GDB and the truth at the present place, and the number of registers compared."""
    frame, state, wrong, compared = gdb.newest_frame(), truth.states[place()], [], 0
    for name in ABI + FLOATS + ["pc", "priv", "fcsr"]:
        # GDB calls it fp.
        value = frame.read_register("fp" if name == "s0" else name)
        if name not in state:
            if not value.is_optimized_out and "unavailable" not in str(value):
                wrong.append((name, "known", str(value)))
            continue
        if name in FLOATS:
            bits = raw(name)
        else:
            bits = int(value) & MASK
        compared += 1
        if bits != state[name]:
            wrong.append((place(), name, hex(bits), hex(state[name])))
    return wrong, compared


def raw(name):
    """The bits of a floating-point register, as `info registers` has them."""
    return int(re.search(r"\(raw (0x[0-9a-f]+)\)", run(f"info registers {name}")).group(1), 16)


def registers_and_memory(truth):
    last = len(truth.states) - 1
    places = {0, 1, last} | set(RAND.sample(range(last), min(last, int(os.environ["PLACES"]))))
    wrong, compared, bytes_wrong, bytes_compared = [], 0, [], 0
    for to in RAND.sample(sorted(places), len(places)):
        go(to)
        more, count = shown(truth)
        wrong += more
        compared += count
        for address, byte in truth.memory(to).items():
            got = gdb.selected_inferior().read_memory(address, 1)[0]
            bytes_wrong += [(to, hex(address), got, byte)] if ord(got) != byte else []
            bytes_compared += 1
    test(not wrong and compared > 30 * len(places), f"registers at {len(places)} places", (wrong, compared))
    test(not bytes_wrong and bytes_compared > 100, "all bytes that were stored, at these places", (bytes_wrong, bytes_compared))
    print(f"# {compared} registers, {bytes_compared} bytes")


def unknown(truth):
    go(0)
    test("Cannot access memory" in run(f"x/bx {truth.stores[0][1]}"), "before the first store, its bytes are not known")
    go(len(truth.states) - 1)
    never = next(address for address in range(min(truth.told), max(truth.told) + 2) if address not in truth.told)
    test("Cannot access memory" in run(f"x/bx {never}"), "what the trace never told is not known")


def changes(truth, address):
    """Groups that change the four bytes."""
    found, before = [], bytes(4)
    for group, at, data in truth.stores:
        if at < address + 4 and at + len(data) > address:
            memory = truth.memory(group)
            now = bytes(memory.get(address + i, 0) for i in range(4))
            if now != before and found is not None:
                found.append(group)
            before = now
    return found


def stops(last):
    """Where GDB stops, backwards from the end and forwards from the start."""
    got = []
    for command, end in (("reverse-continue", 0), ("continue", last)):
        got.append([])
        while run(command) is not None and place() != end:
            got[-1].append(place())
    return got


def watch(truth):
    address = int(os.environ["WATCH"], 16)
    expected = changes(truth, address)
    go(len(truth.states) - 1)
    run(f"watch *(int *){address}")
    got = stops(len(truth.states) - 1)
    # The first store may leave what the program was loaded with.
    test(len(expected) > 20 and got[0][0] == expected[-1] - 1, "reverse-continue stops before the last store to a watched variable",
         (got[0][:5], expected[-5:]))
    test(got[0] == [group - 1 for group in reversed(expected)], "and before each other one", (got[0], expected))
    test(got[1] == expected, "continue stops after each", (got[1], expected))
    run("delete")


def breakpoints(truth):
    run("break *&function")
    at = int(gdb.parse_and_eval("(long)&function")) & MASK
    expected = [index for index, state in enumerate(truth.states) if state["pc"] == at]
    got = stops(len(truth.states) - 1)
    test(len(expected) > 3 and got == [expected[::-1], expected], "breakpoints, backwards and forwards", (got, expected))
    run("delete")


def walk(truth):
    last = len(truth.states) - 1
    for command, order in (("reverse-stepi", range(last, -1, -1)), ("stepi", range(last + 1))):
        go(order[0])
        pcs = []
        for _ in order:
            pcs.append(int(gdb.newest_frame().pc()) & MASK)
            run(command)
        test(pcs == [truth.states[index]["pc"] for index in order], f"{command} visits each of {last + 1} places", pcs[:10])
        wrong, compared = shown(truth)
        test(place() == order[-1] and not wrong, f"{command} ends at the {'start' if order[-1] == 0 else 'end'}: registers as in the trace",
             (place(), wrong))


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set remotetimeout 600")
gdb.execute("set osabi none")
gdb.execute("target remote " + os.environ["TARGET"], to_string=True)
with open(os.environ["FIELDS"], encoding="utf-8") as lines:
    TRUTH = Truth(lines)
for word in os.environ["WALK"].split():
    globals()[word](TRUTH)
print(f"1..{len(COUNT)}")
