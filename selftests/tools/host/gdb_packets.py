#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Asks ntrace gdb as a debugger does, and compares the answers with ntrace decode and the files.

gdb_packets.py NTRACE DIRECTORY: with the recordings of test_places.c; prints "ok TEXT" or "failed TEXT" for each test.
"""
import collections
import json
import os
import re
import socket
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

NTRACE, DIRECTORY = sys.argv[1:]
ROOT = f"{DIRECTORY}/root"
PROGRAM, LIBRARY, INTERPRETER = 0x4000001000, 0x4100001000, 0x4200001000
TRAP_ENTRY, SWITCH_TO = 0xffffffff80002100, 0xffffffff80002200
STRANGE = "a<b&\"'>\x01\u00e9"
PROG = f"{ROOT}/bin/prog"


def test(good, text, *got):
    print("ok" if good else "failed", text, flush=True)
    if not good:
        for item in got:
            print("   ", repr(item)[:500])


def same(got, wanted, text):
    test(got == wanted, text, got, wanted)


class Gdb:
    """A debugger on a pipe; @features of qSupported."""

    def __init__(self, recording, *options, features="swbreak+;hwbreak+"):
        self.process = subprocess.Popen([NTRACE, "gdb", "-", "--sysroot", ROOT, *options, f"{DIRECTORY}/{recording}"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.got, self.said = b"", ""
        self.ask("QStartNoAckMode")
        self.features = self.ask("qSupported:" + features).split(";")

    def packet(self):
        while not (match := re.match(rb"[+]*\$([^#]*)#(..)", self.got, re.S)):
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise EOFError
            self.got += data
        assert int(match[2], 16) == sum(match[1]) & 255
        self.got = self.got[match.end():]
        # A run: the character, and how often it comes again.
        return re.sub(rb"(.)\*(.)", lambda run: run[1] * (run[2][0] - 28), match[1], flags=re.S)

    def bytes(self, data):
        """The reply; text for the user goes to said."""
        data = data if isinstance(data, bytes) else data.encode()
        self.process.stdin.write(b"$%s#%02x" % (data, sum(data) & 255))
        self.process.stdin.flush()
        while True:
            reply = self.packet()
            if not (reply.startswith(b"O") and reply != b"OK"):
                return reply
            self.said += bytes.fromhex(reply[1:].decode()).decode()

    def ask(self, data):
        return self.bytes(data).decode()

    def binary(self, data):
        """The reply, with its escapes resolved."""
        return re.sub(rb"\}(.)", lambda escaped: bytes([escaped[1][0] ^ 0x20]), self.bytes(data), flags=re.S)

    def monitor(self, command):
        reply = self.ask("qRcmd," + command.encode().hex())
        return "OK" if reply == "OK" else bytes.fromhex(reply).decode()

    def move(self, data):
        """(thread, pc, other words) after a packet that moves."""
        match = re.fullmatch(r"T05((?:\w+:\w*;)*?)thread:([0-9a-f]+);20:([0-9a-f]{16});", self.ask(data))
        return int(match[2], 16), struct.unpack("<Q", bytes.fromhex(match[3]))[0], match[1]

    def number(self):
        """Number of the current instruction in its thread."""
        return int(re.search(r"^instruction (\d+) of", self.monitor("where"), re.M)[1])

    def last(self):
        return int(re.search(r"^instruction \d+ of 0 to (\d+),", self.monitor("where"), re.M)[1])

    def document(self, kind, annex="", size=0xfff):
        whole = b""
        while True:
            part = self.binary(f"qXfer:{kind}:read:{annex}:{len(whole):x},{size:x}")
            whole += part[1:]
            if part[:1] != b"m":
                return whole if part[:1] == b"l" else part
            if len(part) != size + 1:
                return b"wrong size"

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


Instruction = collections.namedtuple("Instruction", "tid pid pc time privilege first")


def decode(recording):
    """Every instruction, and None for a gap of process 100."""
    lines = subprocess.run([NTRACE, "decode", "--json", "--sysroot", ROOT, f"{DIRECTORY}/{recording}"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False).stdout.splitlines()
    for event in map(json.loads, lines):
        if event["type"] == "block":
            for i in range(event["instructions"]):
                yield Instruction(event["tid"], event["pid"], int(event["address"], 16) + 2 * i, int(event.get("time", "0"), 16),
                                  event["privilege"], not i)
        elif event["type"] == "gap" and event["pid"] == 100:
            yield None


def with_gaps(items):
    """Addresses of thread 100, and None for gaps without instructions between."""
    items = [item for item in items if not item or item.tid == 100]
    return [item and item.pc for i, item in enumerate(items) if item or not i or items[i - 1]]


everything = list(decode("timed"))
run = [item for item in everything if item]
threads = {tid: [item for item in run if item.tid == tid] for tid in (100, 101, 200)}
own = [item for item in run if item.pid == 100]
pcs = {tid: [item.pc for item in items] for tid, items in threads.items()}
main, other = pcs[100], pcs[101]
gdb = Gdb("timed")


def test_threads():
    same(gdb.move("?"), (100, main[-1], ""), "the debugger starts at the end of the thread with most instructions")
    same((gdb.ask("qfThreadInfo"), gdb.ask("qsThreadInfo")), ("m64,65", "l"), "the threads of the process")
    shown = STRANGE.replace("\x01", "?")
    same([bytes.fromhex(gdb.ask(f"qThreadExtraInfo,{tid}")).decode() for tid in ("64", "65", "p1.65")], ["main", shown, shown],
         "names of threads")
    same(gdb.ask("qThreadExtraInfo,63"), "E01", "no name without a thread")
    same([gdb.ask(f"T{tid}") for tid in ("64", "65", "0", "-1", "63", "", "p1.65", "p1.c8")],
         ["OK", "OK", "OK", "OK", "E01", "E01", "OK", "E01"], "T: which threads exist")
    same([gdb.ask(text) for text in ("qC", "Hg65", "qC", "Hgp1.64", "qC", "Hg63", "Hgx", "Hx64", "H", "qC")],
         ["QC64", "OK", "QC65", "OK", "QC64", "E01", "E01", "E01", "E01", "QC64"], "H chooses a thread, qC names it")
    same((gdb.ask("Hc65"), gdb.move("bs")[:2], gdb.ask("qC")), ("OK", (101, other[-2]), "QC65"), "a step moves the thread of Hc")
    gdb.ask("Hg64")
    same(gdb.move("bs")[:2], (100, main[-2]), "and that of Hg after it")
    gdb.monitor("end")
    document = ElementTree.fromstring(gdb.document("threads"))
    same([(item.attrib["id"], item.attrib["core"], item.attrib["name"]) for item in document],
         [("64", "0", "main"), ("65", "0", STRANGE.replace("\x01", "?"))], "the list of threads in XML")
    same([gdb.ask(text) for text in ("qAttached", "qSymbol::", "qNonsense", "vMustReplyEmpty", "!", "QNonsense", "bz", "vRun;x")],
         ["1", "OK", "", "", "", "", "", ""], "queries, and what is not supported")


def test_registers():
    registers = "x" * 16 * 32 + struct.pack("<Q", main[-1]).hex() + "x" * 16 * 32 + "x" * 8 * 3
    same(gdb.ask("g"), registers, "g: of all registers only pc is known")
    same([gdb.ask(f"p{number}") for number in ("0", "1f", "20", "21", "40", "41", "43", "44", "", "x", "20x")],
         ["x" * 16, "x" * 16, struct.pack("<Q", main[-1]).hex(), "x" * 16, "x" * 16, "x" * 8, "x" * 8, "E01", "E01", "E01",
          struct.pack("<Q", main[-1]).hex()], "p: one register")
    same({gdb.ask(text) for text in ("G00", "P20=00", "M0,1:00", "X0,1:x")}, {"E.a trace cannot be changed: ntrace refuses writes"},
         "nothing can be written")
    target = ElementTree.fromstring(gdb.document("features", "target.xml"))
    found = [(item.attrib["name"], int(item.attrib["bitsize"])) for item in target.iter("reg")]
    same((target.find("architecture").text, target.find("osabi").text), ("riscv:rv64", "GNU/Linux"), "target.xml: the architecture")
    same(len({name for name, _ in found}), 68, "target.xml: as many registers as in g, with different names")
    same([sum(size for _, size in found) // 4, found[32], found[33], found[64], found[65]],
         [len(registers), ("pc", 64), ("ft0", 64), ("ft11", 64), ("fflags", 32)], "target.xml: their sizes are those in g")
    same([found[i][0] for i in (0, 1, 2, 3, 4, 5, 8, 9, 10, 17, 18, 27, 28, 31)],
         ["zero", "ra", "sp", "gp", "tp", "t0", "fp", "s1", "a0", "a7", "s2", "s11", "t3", "t6"], "target.xml: their names")
    same({item.attrib["name"]: item.attrib["type"] for item in target.iter("reg") if item.attrib["type"].endswith("ptr")},
         {"ra": "code_ptr", "sp": "data_ptr", "gp": "data_ptr", "tp": "data_ptr", "fp": "data_ptr", "pc": "code_ptr"},
         "target.xml: which registers point")
    same({item.attrib["generic"]: item.attrib["name"] for item in target.iter("reg") if "generic" in item.attrib},
         {"ra": "ra", "sp": "sp", "fp": "fp", "pc": "pc"}, "target.xml: roles of registers")
    same({item.attrib["type"] for item in list(target.iter("reg"))[33:65]}, {"ieee_double"}, "target.xml: types of float registers")


def symbol(path, name):
    for line in subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        if line.split()[-1] == name:
            return int(line.split()[0], 16)
    raise KeyError(name)


def test_memory():
    code = open(PROG, "rb").read()[0x1000:0x1006].hex()
    text, value = (PROGRAM - 0x1000 + symbol(PROG, name) for name in ("text", "value"))
    same(gdb.ask(f"m{PROGRAM:x},6"), code, "m: code of the program")
    same(gdb.ask(f"m{PROGRAM + 2:x},2"), code[4:8], "m: from the middle")
    same(gdb.ask(f"m{LIBRARY:x},6"), open(f"{ROOT}/lib/libwork.so", "rb").read()[0x1000:0x1006].hex(), "m: code of the library")
    same(gdb.ask(f"m{text:x},8"), b"constant".hex(), "m: read-only data")
    same(gdb.ask(f"m{value:x},4"), "E14", "m: data that may have changed is not known")
    same(gdb.ask("m0,4"), "E14", "m: nothing is at 0")
    same(gdb.ask(f"m{PROGRAM:x},0"), "", "m: no bytes")
    same([gdb.ask("m" + wrong) for wrong in ("", "10", "10;4", "10,", ",4", "+10,4")], ["E01"] * 6, "m: wrong requests")
    # The segment ends after the read-only data.
    whole = gdb.ask(f"m{PROGRAM:x},ffffffff")
    test(whole.startswith(code) and 12 <= len(whole) <= 0x10000, "m: no more than there is", len(whole))
    same(gdb.ask(f"m{TRAP_ENTRY:x},8"), "8292829273002010", "m: code of the kernel")


def test_steps():
    for tid in (100, 101):
        gdb.ask(f"Hg{tid:x}")
        gdb.monitor("end")
        got = [gdb.move("bs") for _ in range(len(pcs[tid]))]
        same([item[1] for item in got], pcs[tid][-2::-1] + pcs[tid][:1], f"bs visits all of thread {tid} from its end")
        same([item[2] for item in got], [""] * (len(pcs[tid]) - 1) + ["replaylog:begin;"], "and stops at its beginning")
        got = [gdb.move("s") for _ in range(len(pcs[tid]))]
        same([item[1] for item in got], pcs[tid][1:] + pcs[tid][-1:], f"s visits all of thread {tid}")
        same([item[2] for item in got], [""] * (len(pcs[tid]) - 1) + ["replaylog:end;"], "and stops at its end")
    gdb.ask("Hg64")
    gdb.monitor("goto 3")
    same([gdb.move(text)[1] for text in ("S05", "vCont;s:64", "vCont;S05:64", "vCont;s")], main[4:8], "other packets step, too")
    same(gdb.move("vCont;s:65;c")[0], 101, "vCont;s names the thread that steps")
    same(gdb.ask("vCont?"), "vCont;c;C;s;S;r", "vCont?: the actions")
    same({gdb.ask(text) for text in ("vCont", "vCont;", "vCont;x", "vConts", "vCont;r1", "vCont;r1,", "vCont;r,1", "vCont;s:63",
                                     "vCont;r1;2:64")}, {"E01"}, "vCont: wrong requests")
    gdb.ask("Hg64")
    # Over whole turns of a loop, and out of it.
    inside = next(i for i in range(len(main)) if main[i:i + 6] == [PROGRAM, PROGRAM + 2, PROGRAM + 4] * 2)
    gdb.monitor(f"goto {inside}")
    after = next(i for i in range(inside, len(main)) if main[i] == TRAP_ENTRY)
    same((gdb.move(f"vCont;r{PROGRAM:x},{PROGRAM + 6:x}:64")[1], gdb.number()), (TRAP_ENTRY, after), "vCont;r steps until the pc leaves the range")
    gdb.monitor(f"goto {inside}")
    same(gdb.move(f"vCont;r{PROGRAM:x},{PROGRAM + 4:x}:64")[1], PROGRAM + 4, "the end of the range is outside")
    gdb.monitor(f"goto {inside}")
    gdb.ask(f"Z0,{PROGRAM + 4:x},2")
    same(gdb.move(f"vCont;r{PROGRAM:x},{PROGRAM + 6:x}:64")[1:], (PROGRAM + 4, "swbreak:;"), "a breakpoint ends such a step")
    gdb.ask(f"z0,{PROGRAM + 4:x},2")


def test_breakpoints():
    same([gdb.ask(text) for text in ("Z0,zz,2", "Z2,10,4", "Z3,10,4", "Z0;10,2", "Z", "z0,10,2")], ["E01", "", "", "", "", "OK"],
         "Z: wrong requests, and what is not supported")
    stops = (PROGRAM, LIBRARY)
    gdb.ask(f"Z0,{PROGRAM:x},2")
    gdb.ask(f"Z1,{LIBRARY:x},2")
    gdb.ask(f"Z0,{PROGRAM:x},2")
    for tid in (100, 101):
        wanted = [pc for pc in pcs[tid] if pc in stops]
        gdb.ask(f"Hc{tid:x}")
        gdb.ask(f"Hg{tid:x}")
        gdb.monitor("end")
        got = [gdb.move("bc") for _ in range(len(wanted) + 1)]
        same([item[1] for item in got], wanted[::-1] + pcs[tid][:1], f"bc stops at the breakpoints in thread {tid}")
        same([item[2] for item in got], ["hwbreak:;" if pc == LIBRARY else "swbreak:;" for pc in wanted[::-1]] + ["replaylog:begin;"],
             "and says why")
        # The first instruction is not entered by a step.
        wanted = [pc for pc in pcs[tid][1:] if pc in stops]
        got = [gdb.move(packet) for packet in ["c", "C05"] * (len(wanted) // 2 + 1)][:len(wanted) + 1]
        same([item[1] for item in got], (wanted + pcs[tid][-1:])[:len(got)], f"c stops at the breakpoints in thread {tid}")
    # All threads: as the processor executed them.
    gdb.ask("Hg64")
    gdb.ask("Hc-1")
    gdb.monitor("time @0")
    gdb.monitor("end")
    gdb.ask("Hg65")
    gdb.monitor("end")
    wanted = [(item.tid, item.pc) for item in own if item.pc in stops]
    same([gdb.move("bc")[:2] for _ in wanted], wanted[::-1], "bc stops at the last breakpoint that any thread meets")
    # A step moves the thread that stopped.
    gdb.ask("Hg65")
    gdb.monitor("end")
    gdb.ask("Hg64")
    gdb.monitor("end")
    got = [(gdb.move("bc")[:2], gdb.move("bs")[0], gdb.move("s")[:2]) for _ in range(len(wanted) // 2)]
    same(got, [(stop, stop[0], stop) for stop in wanted[:-1 - len(got):-1]], "a step after it moves the thread that stopped")
    test(len({stop[0] for stop, _, _ in got}) == 2, "in both threads", got)
    first = {tid: next(item for item in own if item.tid == tid) for tid in (100, 101)}
    wanted = [(item.tid, item.pc) for item in own if item.pc in stops and item is not first[item.tid]]
    gdb.ask("Hg64")
    gdb.monitor("start")
    gdb.ask("Hg65")
    gdb.monitor("start")
    same([gdb.move("vCont;c")[:2] for _ in wanted], wanted, "vCont;c stops at the first breakpoint that any thread meets")
    gdb.ask(f"z0,{PROGRAM:x},2")
    gdb.ask("Hg65")
    same(gdb.move("bc")[1:], (LIBRARY, "hwbreak:;"), "a breakpoint that was removed does not stop")
    gdb.ask(f"z1,{LIBRARY:x},2")
    same((gdb.move("bc")[2], gdb.move("c")[2]), ("replaylog:begin;", "replaylog:end;"), "without breakpoints everything is passed")
    plain = Gdb("timed", features="")
    plain.ask(f"Z0,{PROGRAM:x},2")
    same(plain.move("bc")[1:], (PROGRAM, ""), "a debugger that does not ask for the reason does not get it")
    got = [plain.ask(f"Z0,{4 * i:x},4") for i in range(4097)]
    same(collections.Counter(got), {"OK": 4095, "E.too many breakpoints": 2}, "the number of breakpoints is limited")
    same((plain.ask("z0,0,2"), plain.ask("Z0,fffff0,2")), ("OK", "OK"), "one that is removed makes room")
    plain.close()


def read_elf(*options):
    return subprocess.run(["readelf", "-W", *options], stdout=subprocess.PIPE, text=True, check=True).stdout


def test_documents():
    same(gdb.document("exec-file").decode(), PROG, "exec-file: the program")
    same(gdb.ask("qOffsets"), "Text=4000000000;Data=4000000000;Bss=4000000000", "qOffsets: how far the program has moved")
    places = {f"{ROOT}/lib/{name}": bias for name, bias in (("libwork.so", LIBRARY - 0x1000), ("ld-test.so.1", INTERPRETER - 0x1000))}
    document = ElementTree.fromstring(gdb.document("libraries-svr4"))
    links = [item.attrib for item in document]
    same({item["name"]: int(item["l_addr"], 16) for item in links}, places, "libraries-svr4: the libraries and their places")
    same({item["name"]: int(item["l_ld"], 16) - places[item["name"]] for item in links},
         {name: symbol(name, "_DYNAMIC") for name in places}, "libraries-svr4: their dynamic sections")
    same(len({item["lm"] for item in links} | {document.attrib["main-lm"]}), 3, "libraries-svr4: each has a link map")
    document = ElementTree.fromstring(gdb.document("libraries"))
    same({item.attrib["name"]: {int(section.attrib["address"], 16) for section in item} for item in document},
         {name: {bias} for name, bias in places.items()}, "libraries: the same places")
    sections = {name: len(re.findall(r"^ +\[ *\d+\].* W?A[XMSIT]* +\d|^ +\[ *\d+\].* WA", read_elf("-S", name), re.M)) for name in places}
    same({item.attrib["name"]: len(item) for item in document}, sections, "libraries: an address for each section in memory")
    words = struct.unpack("<14Q", gdb.document("auxv", size=7))
    headers = re.search(r"There are (\d+) program headers, starting at offset (\d+)", read_elf("-l", PROG))
    entry = int(re.search(r"Entry point 0x(\w+)", read_elf("-l", PROG))[1], 16)
    # AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_BASE, AT_ENTRY, AT_NULL
    same(dict(zip(words[::2], words[1::2])), {3: 0x4000000000 + int(headers[2]), 4: 56, 5: int(headers[1]), 6: 4096,
                                             7: INTERPRETER - 0x1000, 9: 0x4000000000 + entry, 0: 0}, "auxv: where the program is")
    same(gdb.document("features", "target.xml", 50), gdb.document("features", "target.xml"), "documents come in parts of any size")
    same([gdb.ask(f"qXfer:{text}") for text in ("features:read:none:0,fff", "nothing:read::0,fff", "threads:read:" + "x" * 300 + ":0,fff",
                                               "threads:read::fffff,fff", "threads:read::0", "threads:read::x,1", "threads:read",
                                               "threads:read::0;1", "threads:write::0,fff", "threads")],
         ["E00", "E00", "E00", "l", "E01", "E01", "E01", "E01", "", ""], "qXfer: wrong requests")
    same({"qXfer:libraries-svr4:read+", "qXfer:auxv:read+", "qXfer:exec-file:read+", "ReverseStep+", "ReverseContinue+", "PacketSize=10000"} -
         set(gdb.features), set(), "qSupported")


def pieces(document):
    """Instructions of a branch trace, the oldest first; None for a gap."""
    found = []
    for item in reversed(list(ElementTree.fromstring(document))):
        begin, end = int(item.attrib["begin"], 16), int(item.attrib["end"], 16)
        found += [None] if end < begin else range(begin, end + 1, 2)
    return found


def test_branches():
    gdb.ask("Hg64")
    gdb.monitor("end")
    same(gdb.ask("Qbtrace:off"), "E.branch trace is not enabled", "branch trace is off at first")
    test(b"bts" not in gdb.document("btrace-conf") and gdb.document("btrace", "all") == b"E00", "then there is none")
    same(gdb.ask("Qbtrace:bts"), "OK", "branch trace is turned on")
    test(b"<bts" in gdb.document("btrace-conf"), "btrace-conf says so")
    same(pieces(gdb.document("btrace", "all")), with_gaps(everything), "btrace: the instructions of the thread, and where code is missing")
    same(gdb.document("btrace", "nothing"), b"E00", "btrace: a wrong request")
    gdb.monitor("goto 20")
    same(gdb.document("btrace", "delta"), b"E00", "btrace: nothing new after a jump")
    same(pieces(gdb.document("btrace", "all")), main[:21], "btrace: up to the current instruction")
    gdb.monitor("goto 25")
    same(gdb.document("btrace", "delta"), b"E00", "btrace: nor after one forwards")
    gdb.document("btrace", "all")
    for _ in range(7):
        gdb.move("s")
    # The first piece continues the one before, whose beginning the debugger knows.
    blocks = [item.attrib for item in ElementTree.fromstring(gdb.document("btrace", "delta"))]
    same((int(blocks[-1]["begin"], 16), int(blocks[0]["end"], 16)), (0, main[32]), "btrace: what is new after steps")
    test(1 <= len(blocks) <= 8, "btrace: and nothing else", blocks)
    same(gdb.document("btrace", "new"), gdb.document("btrace", "all"), "btrace: new is all")
    gdb.monitor("goto 20")
    gdb.monitor("history 5")
    same(pieces(gdb.document("btrace", "all")), main[15:21], "monitor history: fewer instructions before the current one")
    for wrong in ("history", "history 0", "history x"):
        test("is needed" in gdb.monitor(wrong), f"monitor {wrong}")
    gdb.monitor("window last 100")
    gdb.monitor(f"goto {len(main) - 41}")
    gdb.monitor("history 1000")
    same([pc for pc in pieces(gdb.document("btrace", "all")) if pc], main[-100:-40], "btrace: from the beginning of the window")
    gdb.monitor("window all")
    same((gdb.ask("Qbtrace:off"), gdb.ask("Qbtrace:off")), ("OK", "E.branch trace is not enabled"), "and off again")


def test_files():
    same(gdb.ask("vFile:setfs:0"), "F0", "vFile: all processes have the same files")

    def opened(path, flags="0"):
        return gdb.ask(f"vFile:open:{path.encode().hex()},{flags},0")
    same([opened(PROG), opened(f"{ROOT}/lib/libwork.so"), opened("/lib/ld-test.so.1"), opened("/etc/passwd"), opened(PROG, "1"),
          opened(PROG, "x"), gdb.ask("vFile:open:2f")], ["F0", "F1", "F2", "F-1,2", "F-1,1", "F-1,1", "F-1,16"],
         "vFile:open: files of the trace can be read, no others")
    for number, path in ((0, PROG), (1, f"{ROOT}/lib/libwork.so"), (2, f"{ROOT}/lib/ld-test.so.1")):
        content = open(path, "rb").read()
        got, at = b"", 0
        while (part := gdb.binary(f"vFile:pread:{number:x},333,{at:x}")) != b"F0;":
            size, data = part[1:].split(b";", 1)
            assert int(size, 16) == len(data)
            got, at = got + data, at + len(data)
        same(got, content, f"vFile:pread: {path[len(ROOT):]}")
        about = gdb.binary(f"vFile:fstat:{number:x}")
        fields = struct.unpack(">7I3Q3I", about.split(b";", 1)[1])
        status = os.stat(path)
        same((about[:4], oct(fields[2]), fields[3], fields[7:10], fields[12]),
             (b"F40;", "0o100444", 1, (status.st_size, 4096, status.st_blocks), int(status.st_mtime)), "vFile:fstat")
    same([gdb.ask(f"vFile:{text}") for text in ("pread:3,1,0", "pread:x,1,0", "pread:40,1,0", "pread:0", "pread:0,x,0", "pread:0,1",
                                               "pread:0,1,ffffffffffffffff", "fstat:9", "close:9", "readlink:2f", "unlink:2f", "setfs")],
         ["F-1,9", "F-1,9", "F-1,9", "F-1,16", "F-1,16", "F-1,16", "F-1,16", "F-1,9", "F-1,9", "F-1,16", "", "F-1,16"],
         "vFile: wrong requests")
    same((gdb.ask("vFile:close:1"), gdb.ask("vFile:close:1"), opened(PROG)), ("F0", "F-1,9", "F1"), "vFile:close")
    more = [opened(PROG) for _ in range(70)]
    same((more[0], more.count("F-1,18"), more[60]), ("F3", 9, "F3f"), "vFile:open: the number of files is limited")


def test_odd_paths():
    """Bytes that GDB cannot be told: each file has a name of its own, under which it can be read."""
    files = {"prog": b"p\xff\nx", "libwork.so": b"l\nx", "ld-test.so.1": b"l\x01x"}
    paths = {"prog": PROG, **{name: f"{ROOT}/lib/{name}" for name in ("libwork.so", "ld-test.so.1")}}
    contents = {name: open(path, "rb").read() for name, path in paths.items()}
    # The names of the recording lead to them.
    for name, path in paths.items():
        odd = os.path.join(os.path.dirname(path.encode()), files[name])
        os.rename(path, odd)
        os.symlink(files[name], path)
    client = Gdb("timed")
    told = {"prog": client.document("exec-file").decode()}
    document = [item.attrib for item in ElementTree.fromstring(client.document("libraries-svr4"))]
    for name, bias in (("libwork.so", LIBRARY - 0x1000), ("ld-test.so.1", INTERPRETER - 0x1000)):
        told[name] = next(item["name"] for item in document if int(item["l_addr"], 16) == bias)
    same({item.attrib["name"] for item in ElementTree.fromstring(client.document("libraries"))}, {told["libwork.so"], told["ld-test.so.1"]}, "odd paths: the same names")
    same([name.rpartition("/")[2] for name in told.values()], ["p\u00ff?x", "l?x", "l?x"], "odd paths: names that can be printed")
    for name, path in told.items():
        test(path.startswith("target:/"), "odd paths: GDB reads them from the target", path)
        number = client.ask(f"vFile:open:{path[len('target:'):].encode().hex()},0,0")[1:]
        got = client.binary(f"vFile:pread:{number},{len(contents[name]):x},0").partition(b";")[2]
        same((len(got) > 0, got), (True, contents[name][:len(got)]), f"odd paths: the content of {name}")
    client.close()
    for name, path in paths.items():
        os.rename(os.path.join(os.path.dirname(path.encode()), files[name]), path)


def moved(place, tid, number):
    """The text of monitor where for an instruction."""
    item = threads[tid][number]
    name = "main" if tid == 100 else STRANGE
    return re.fullmatch(r"0x%x .*\ninstruction %d of 0 to %d, thread %d \(%s\), CPU 0, time .* \(@%d\)\n(window: .*\n)?"
                        % (item.pc, number, len(threads[tid]) - 1, tid, re.escape(name), item.time), place)


def test_moves():
    gdb.ask("Hg64")
    gdb.monitor("window all")
    for command, number in (("start", 0), ("goto 17", 17), ("goto +3", 20), ("goto -5", 15), ("where", 15), ("end", len(main) - 1)):
        place = gdb.monitor(command)
        test(moved(place, 100, number), f"monitor {command}", place)
    for wrong in (f"goto {len(main)}", f"goto -{len(main)}", "goto 99999999999999999999", "goto +18446744073709551615", "goto", "goto x", "goto +",
                  "goto 1x"):
        same(moved(gdb.monitor(wrong), 100, len(main) - 1), None, f"monitor {wrong}: is refused")
        same(gdb.number(), len(main) - 1, "and does not move")
    for name, start in (("_start", PROGRAM), ("labour", LIBRARY), ("begin", INTERPRETER)):
        times = [number for number, pc in enumerate(main) if pc == start]
        for count in {1, 2, len(times)}:
            gdb.monitor("end")
            place = gdb.monitor(f"around {name} {count}" if count > 1 else f"around {name}")
            test(moved(place, 100, times[count - 1]) and place.startswith(f"{hex(start)} {name}+0x0 "), f"monitor around {name} {count}", place)
        same(gdb.monitor(f"around {name} {len(times) + 1}"),
             f"around: thread 100 executes '{name}' less than {len(times) + 1} times in the window\n",
             "and no more")
    for wrong in ("around", "around _start 0", "around _start x", "around _start -1"):
        test("a function is needed" in gdb.monitor(wrong), f"monitor {wrong}")
    test("monitor around " in gdb.monitor("help") and set(re.findall(r"^  monitor (\S+)", gdb.monitor("help"), re.M)) == {
        "help", "where", "start", "end", "goto", "around", "time", "next-gap", "previous-gap", "window", "history", "programs", "values", "why"},
        "monitor help lists the commands")
    same(gdb.monitor("   where"), "no monitor command '': monitor help lists them\n", "a command without a name")
    same(gdb.monitor("goto    17"), gdb.monitor("where"), "blanks before an argument")
    count = collections.Counter(item.pc & ~0xfff for item in own)
    same(sorted(re.findall(r"^(\S+): moved by 0x(\w+), (\d+) instructions(.*)$", gdb.monitor("programs"), re.M)), sorted([
        (PROG, f"{PROGRAM - 0x1000:x}", str(count[PROGRAM]), " (the program)"),
        (f"{ROOT}/lib/libwork.so", f"{LIBRARY - 0x1000:x}", str(count[LIBRARY]), ""),
        (f"{ROOT}/lib/ld-test.so.1", f"{INTERPRETER - 0x1000:x}", str(count[INTERPRETER]), ""),
        (f"{DIRECTORY}/timed/images/kernel.start", "0", str(count[TRAP_ENTRY & ~0xfff]), "")]),
         "monitor programs: what was executed, and where it is")


def at_time(tid, time):
    """Number of the last instruction up to a time; that of the first if there is none."""
    found = [number for number, item in enumerate(threads[tid]) if item.time <= time]
    return found[-1] if found else 0


def numbers(client):
    got = {}
    for tid in (100, 101):
        client.ask(f"Hg{tid:x}")
        got[tid] = client.number()
    client.ask("Hg64")
    return got


def test_times():
    gdb.monitor("window all")
    last = max(item.time for item in own)
    for time in (0, own[0].time, own[5].time - 1, last // 3, 2 * last // 3, last, last + 1000):
        gdb.monitor(f"time @{time}")
        same(numbers(gdb), {tid: at_time(tid, time) for tid in (100, 101)}, f"monitor time @{time} moves all threads")
    first, second = last // 3, last // 2
    text = gdb.monitor(f"time @{first},@{second}")
    test(f"window: instructions {at_time(100, first)} to {at_time(100, second)}\n" in text, "monitor time: a window", text)
    same(numbers(gdb), {tid: at_time(tid, first) for tid in (100, 101)}, "which begins at the first time")
    gdb.move("bc")
    test(gdb.move("c")[2] == "replaylog:end;" and "end of the window" in gdb.said and gdb.number() == at_time(100, second),
         "continue stops at its end, and says so", gdb.said)
    gdb.said = ""
    test(gdb.move("bc")[2] == "replaylog:begin;" and "end of the window" in gdb.said and gdb.number() == at_time(100, first),
         "and at its beginning", gdb.said)
    same(gdb.monitor(f"goto {at_time(100, second) + 1}"), "goto: this instruction is not in the window\n", "goto stays in the window")
    same(gdb.monitor(f"goto {at_time(100, first) - 1}"), "goto: this instruction is not in the window\n", "also before it")
    test(moved(gdb.monitor("start"), 100, at_time(100, first)) and moved(gdb.monitor("end"), 100, at_time(100, second)), "start and end, too")
    gdb.monitor("time @0")
    same(gdb.number(), at_time(100, first), "a time before the window is its beginning")
    gdb.monitor(f"time @{last}")
    same(gdb.number(), at_time(100, second), "a time after it is its end")
    test("window" in gdb.monitor("where") and "window" not in gdb.monitor("window all"), "monitor window all")
    gdb.monitor("end")
    test(f"window: instructions {len(main) - 7} to {len(main) - 1}" in gdb.monitor("window last 7"), "monitor window last 7")
    same(sum(gdb.move("bs")[2] == "" for _ in range(10)), 6, "it has 7 instructions")
    gdb.monitor("window all")
    same(gdb.move("bs")[2], "", "and then all")
    test("window" not in gdb.monitor("window last 99999"), "monitor window last: more than there are")
    for wrong in ("window", "window last", "window last 0", "window last x", "window first"):
        test(gdb.monitor(wrong).startswith("window: all, or last NUMBER"), f"monitor {wrong}")
    for wrong, why in (("time", "a time is needed"), ("time @5,@4", "before the first"), ("time x", "a time is a number of seconds"),
                       ("time @x", "in ticks"), ("time 1", "frequency"), ("time @1,x", "a time is a number of seconds"), ("time ,@5", "a time is needed")):
        test(why in gdb.monitor(wrong), f"monitor {wrong}", gdb.monitor(wrong))


def test_gaps():
    gdb.ask("Hg64")
    gdb.monitor("window all")
    places = with_gaps(everything)
    afters = [sum(pc is not None for pc in places[:i]) for i, pc in enumerate(places) if pc is None]
    gdb.monitor("start")
    for number in afters:
        text = gdb.monitor("next-gap")
        test(text.startswith("gap: ") and gdb.number() == number, "monitor next-gap: the first instruction after it", text, number)
    same((gdb.monitor("next-gap"), gdb.number()), ("there is no gap\n", afters[-1]), "there is no further one")
    gdb.monitor("end")
    for number in afters[::-1]:
        text = gdb.monitor("previous-gap")
        test(text.startswith("gap: ") and gdb.number() == number - 1, "monitor previous-gap: the last instruction before it", text, number)
    same((gdb.monitor("previous-gap"), gdb.number()), ("there is no gap\n", afters[0] - 1), "there is none before")
    gdb.monitor("start")
    gdb.monitor(f"window last {len(main) - afters[-1] + 3}")
    test(gdb.monitor("next-gap").startswith("gap: "), "the only gap in a window is found")
    same(gdb.monitor("previous-gap").split(":")[0], "gap", "also backwards")
    same((gdb.monitor("previous-gap"), gdb.number()), ("there is no gap in the window\n", afters[-1] - 1), "one before it is not in the window")
    gdb.monitor("window all")
    gdb.monitor(f"goto {afters[0] - 1}")
    gdb.said = ""
    gdb.move("s")
    test(re.fullmatch(r"ntrace: code is missing here: error: no memory is known at this address.*\n", gdb.said), "a step over a gap says why",
         gdb.said)
    gdb.said = ""
    gdb.ask("Hc64")
    gdb.move("bc")
    gdb.move("c")
    lines = gdb.said.splitlines()
    more = f" code is missing in {len(afters) - 3} more places"
    same([line.split(":")[1] for line in lines], [" code is missing here"] * (1 + min(3, len(afters))) + [more],
         "continue over many gaps names three and counts the others")


def test_long(name):
    """A recording of many windows of the cursor: moves of all kinds find their places."""
    everything = list(decode(name))
    whole = [item for item in everything if item]
    main = [item for item in whole if item.tid == 100]
    gdb = Gdb(name, "--thread", "100")
    same((gdb.last(), gdb.number()), (len(main) - 1, len(main) - 1), f"{name}: it begins at the end")
    for share in (0.9, 0.1, 0.5, 0.2, 0.8):
        number = int(share * len(main))
        test(gdb.monitor(f"goto {number}").startswith(hex(main[number].pc)), f"{name}: monitor goto {share}")
        same(gdb.number(), number, f"{name}: which is there")
    times = [number for number, item in enumerate(main) if item.pc == LIBRARY]
    for wanted in (1, len(times) // 2, len(times)):
        gdb.monitor(f"around labour {wanted}")
        same(gdb.number(), times[wanted - 1], f"{name}: monitor around finds call {wanted}")
    same((gdb.monitor(f"around labour {len(times) + 1}"), gdb.number()),
         (f"around: thread 100 executes 'labour' less than {len(times) + 1} times in the window\n", times[-1]), f"{name}: and no more")
    places = with_gaps(everything)
    afters = [sum(pc is not None for pc in places[:i]) for i, pc in enumerate(places) if pc is None]
    gdb.monitor("start")
    same([gdb.monitor("next-gap") and gdb.number() for _ in afters], afters, f"{name}: monitor next-gap")
    gdb.monitor("end")
    same([gdb.monitor("previous-gap") and gdb.number() for _ in afters], [number - 1 for number in afters[::-1]], f"{name}: monitor previous-gap")
    if name == "untimed":
        same(gdb.monitor("time @5"), "the trace has no timestamps\n", "a trace without timestamps")
    else:
        for share in (0.1, 0.5, 0.9):
            wanted = int(share * len(main))
            gdb.monitor(f"time @{main[wanted].time}")
            same(main[gdb.number()].time, main[wanted].time, f"{name}: monitor time {share}")
    gdb.ask(f"Z0,{INTERPRETER:x},2")
    gdb.ask("Hc-1")
    gdb.monitor("end")
    wanted = [(item.tid, number) for number, item in enumerate(main) if item.pc == INTERPRETER]
    same((gdb.move("bc")[0], gdb.number()), wanted[-1], f"{name}: bc of all threads finds what is far away")
    gdb.ask("Hg65")
    stop = next(at for at, item in enumerate(whole) if item is main[wanted[-1][1]])
    same(gdb.number(), max(0, sum(item.tid == 101 for item in whole[:stop]) - 1), f"{name}: and takes the other thread there")
    same(gdb.close(), 0, f"{name}: ends")


def served(*options):
    """What a server says first. A debugger comes and goes, which ends the server."""
    server = subprocess.Popen([NTRACE, "gdb", "--sysroot", ROOT, *options, f"{DIRECTORY}/timed"], stdout=subprocess.PIPE, text=True)
    said = [server.stdout.readline() for _ in range(1 if "--json" in options else 2)]
    with socket.create_connection(("127.0.0.1", int(re.search(r"127\.0\.0\.1:(\d+)", said[0])[1]))) as debugger:
        debugger.sendall(b"$D#44")
        while debugger.recv(1000):
            pass
    same((server.stdout.read(), server.wait()), ("", 0), f"gdb {' '.join(options)}: serves, and ends with the debugger".replace(DIRECTORY, ""))
    return said


def chosen(*options):
    return json.loads(served("--json", *options)[0])


def test_choices():
    said = chosen()
    test(re.fullmatch(r"127\.0\.0\.1:\d+", said.pop("listen")), "--json: where it listens")
    same(said, {"architecture": "riscv:rv64", "program": PROG, "threads": [{"tid": 100, "name": "main", "instructions": len(main)},
                                                                          {"tid": 101, "name": STRANGE, "instructions": len(other)}]},
         "--json: the program and its threads")
    count = collections.Counter((item.pid, item.tid, item.privilege) for item in run)
    for options, privileges in ((["--user"], "U"), (["-k"], "S"), (["--privilege", "us"], "US")):
        same([item["instructions"] for item in chosen(*options)["threads"]],
             [sum(count[100, tid, privilege] for privilege in privileges) for tid in (100, 101)], f"{' '.join(options)} selects privileges")
    said = chosen("--thread", "200")
    same((said["program"], said["threads"]), (f"{ROOT}/ccc", [{"tid": 200, "name": "beta", "instructions": len(pcs[200])}]),
         "--thread: another process")
    said = chosen("--cpu", "0", "--exec", f"{ROOT}/ccc")
    same((said["program"], said["threads"]), (f"{ROOT}/ccc", [{"tid": 1, "name": "CPU 0", "instructions": len(run)}]),
         "--cpu: everything, as one thread; --exec")
    same(chosen("--stream", "0")["threads"][0]["instructions"], len(main), "--stream")

    def begins(*options):
        client = Gdb("timed", *options)
        thread, pc, _ = client.move("?")
        number = client.number()
        client.close()
        return thread, pc, number
    same(begins("--thread", "101"), (101, other[-1], len(other) - 1), "--thread: this thread comes first")
    same(begins("--around", "begin"), (100, INTERPRETER, main.index(INTERPRETER)), "--around")
    times = [number for number, pc in enumerate(other) if pc == LIBRARY]
    same(begins("--around", f"labour:{len(times)}", "--thread", "101"), (101, LIBRARY, times[-1]), "--around and --thread")
    same(begins("--around", "ccc:2"), (200, 0x20000, [number for number, pc in enumerate(pcs[200]) if pc == 0x20000][1]),
         "--around: in another process, if it is executed nowhere else")
    number = at_time(100, threads[100][50].time)
    same(begins("--time", f"@{threads[100][50].time}"), (100, main[number], number), "--time")
    same(begins("--last", "5", "--around", "_start"), (100, PROGRAM, main.index(PROGRAM, len(main) - 5)), "--last")
    client = Gdb("timed", "--cpu", "0")
    same([client.move("bs")[1] for _ in range(50)], [item.pc for item in run[-2:-52:-1]], "--cpu: instructions of all tasks")
    test("osabi>none" in client.document("features", "target.xml").decode() and not any("svr4" in word for word in client.features),
         "--cpu: is no process of Linux")
    client.close()
    client = Gdb("timed", "--cpu", "0", "--kernel")
    same((client.ask("qOffsets"), client.ask("qXfer:exec-file:read::0,fff"), client.ask("qXfer:auxv:read::0,fff"), len(client.ask("g"))),
         ("", "E00", "E00", 16 * 33), "the kernel alone has no program")
    client.close()


def fails(*words):
    """A command that must not become a server."""
    command = ["timeout", "60", NTRACE, "gdb", *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def test_errors():
    for status, why, *options in (
            (2, "--thread and --cpu exclude each other", "--thread", "100", "--cpu", "0"),
            (2, "--src applies to raw traces only", "--src", "1"),
            (2, "each only once", "--time", "@1", "--time", "@1", "--time", "@1", "--last", "5"),
            (2, "--thread: 0 is not between 1 and 2147483647", "--thread", "0"), (2, "--last: 0 is not between 1 and", "--last", "0"),
            (2, "--cpu: 65536 is not between 0 and 65535", "--cpu", "65536"),
            (2, "--run starts the only debugger", "--run", "--keep"), (2, "--run starts the only debugger", "--run", "--json"),
            (2, "--run starts the only debugger", "--run", "--listen", "0"),
            (2, "with - there is one debugger", "-", "--run"), (2, "with - there is one debugger", "-", "--listen", "0"),
            (2, "with - there is one debugger", "-", "--keep"), (2, "with - there is one debugger", "-", "--json"),
            (1, "no instruction of thread 7 is in the trace", "--thread", "7"), (1, "the trace has no instructions to show", "--cpu", "3"),
            (1, "the trace has no instructions to show", "--privilege", "m"),
            (1, "no file of the trace has a function 'nowhere'", "--around", "nowhere"),
            (1, "executes 'begin' less than 999 times", "--around", "begin:999"), (1, "a time is a number of seconds", "--time", "x"),
            (1, "second time is before the first", "--time", "@5,@4"),
            (1, "/nonexistent: No such file", "--exec", "/nonexistent"), (1, "not an ELF file", "--exec", f"{DIRECTORY}/timed/data"),
            (2, "'x' is not an address", "--exec", f"{PROG}@x"),
            (2, "1:x': the port is not between 0 and 65535", "--listen", "1:x")):
        done = fails("--sysroot", ROOT, *options, f"{DIRECTORY}/timed")
        test(done.returncode == status and why in done.stderr and not done.stdout,
             f"{' '.join(options)}: an error".replace(ROOT, "").replace(DIRECTORY, ""), done)
    for status, why, *words in (
            (2, "one trace file or recording is needed",), (2, "one trace file or recording is needed", f"{DIRECTORY}/timed", f"{DIRECTORY}/timed"),
            (2, "arguments of GDB after -- need --run", f"{DIRECTORY}/timed", "--", "-batch"),
            (2, "a raw trace needs the program", f"{DIRECTORY}/timed/aux.0"),
            (2, "standard input is the debugger's", "-", "--elf", PROG, "-"),
            *((2, "apply to recordings only", *option, "--elf", PROG, f"{DIRECTORY}/timed/aux.0")
              for option in (("--thread", "1"), ("--cpu", "0"), ("-u",)))):
        done = fails(*words)
        test(done.returncode == status and why in done.stderr and not done.stdout, f"{' '.join(words)}: an error".replace(DIRECTORY, ""), done)
    lines = served()
    address = re.fullmatch(r"listening on (127\.0\.0\.1:\d+); connect with:\n", lines[0])
    same(lines[1], f"  gdb-multiarch -ex 'set osabi none' -ex 'target remote {address and address[1]}'\n", "how to connect")


def test_end():
    same(gdb.ask("D"), "OK", "D")
    same(gdb.close(), 0, "ends")
    for packet in ("k", "vKill;1"):
        client = Gdb("timed")
        if packet == "k":
            client.process.stdin.write(b"$k#6b")
            client.process.stdin.flush()
        else:
            same(client.ask(packet), "OK", "vKill")
        same((client.process.stdout.read(), client.close()), (b"", 0), f"{packet} ends, too")


def test_checksums():
    """A letter of a checksum may be large; a wrong checksum asks for the packet again."""
    with subprocess.Popen([NTRACE, "gdb", "-", "--sysroot", ROOT, f"{DIRECTORY}/timed"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as client:
        for data in (b"qSupported", b"qSupported:x", b"!", b"?", b"qAttached", b"qC", b"vCont?"):
            checksum = sum(data) & 255
            for digits, sign in ((b"%02X" % checksum, b"+"), (b"%02x" % checksum, b"+"), (b"%02x" % (checksum ^ 0x10), b"-"),
                                 (b"%02x" % (checksum ^ 1), b"-")):
                client.stdin.write(b"$%s#%s" % (data, digits))
                client.stdin.flush()
                got = os.read(client.stdout.fileno(), 1)
                test(got == sign, f"${data.decode()}#{digits.decode()}: {sign.decode()}", got)
                if got == b"+":
                    while got[-3:-2] != b"#":
                        got += os.read(client.stdout.fileno(), 1)
                    client.stdin.write(b"+")
        client.stdin.close()


for part in (test_threads, test_registers, test_memory, test_steps, test_breakpoints, test_documents, test_branches, test_files, test_odd_paths, test_moves,
             test_times, test_gaps, test_checksums, test_end, test_choices, test_errors):
    part()
for recording in ("long", "untimed", "late"):
    test_long(recording)
