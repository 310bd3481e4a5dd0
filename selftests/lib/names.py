#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names in every output: of a function, a thread, an object and a source file, with bytes that strangers choose.

The rule is the table in <ntrace/text.h>. Each output is read as its readers read it: JSON, databases, protocol buffers and XML by
Python's readers, the others line by line; what a character is, Python's Unicode data says. FORMATS and COMMANDS say which
names an output has: a new format fails until it is there.
"""
import csv
import gzip
import io
import json
import os
import pathlib
import pty
import re
import select
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata
from xml.etree import ElementTree

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "selftests"))
from tap import done, ok  # noqa: E402

BUILD, EXAMPLES = TOP / "build", TOP / "Documentation/examples"
NTRACE = BUILD / "ntrace"
# Format characters that have a shape, and those that letters of some languages need.
SHOWN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\u200c\u200d"
# Letters and marks without a shape: Default_Ignorable_Code_Point of Unicode that has no category of its own.
BLANK = [0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, *range(0x180b, 0x1810), 0x2065, 0x3164, *range(0xfe00, 0xfe0e), 0xffa0, *range(0xfff0, 0xfff9),
         *range(0xe0000, 0xe1000), *range(0xfdd0, 0xfdf0), *(plane << 16 | last for plane in range(17) for last in (0xfffe, 0xffff))]
HIDDEN = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp")} - set(SHOWN) | set(map(chr, BLANK))
CONTROL = {character for character in HIDDEN if unicodedata.category(character) == "Cc"}
FEW = "".join(sorted(HIDDEN - CONTROL - set(map(chr, range(0xe0000, 0xe1000)))))
NAMES = {
    "letters of Latin-1": b"lat\xe9e",
    "control characters": bytes(range(1, 32)) + b"\x7f",
    "C1, as UTF-8 and as bytes": b"a" + "".join(map(chr, range(0x80, 0xa0))).encode() + b"\x9b31m",
    "escape sequences": b"\x1b[31mred\x1b[2K\x1b]0;title\x07\x1bP1\x1b\\\x1b7",
    "line feeds": b"a\nY b\r\nY\n",
    "a tab": b"a\tb",
    "quotes": b"\"'`\"",
    "backslashes": b"a\\n\\u0041\\",
    "markup": b"<i>&amp;]]><!-- </script>-->",
    "characters that are not seen": ("a" + FEW + "\U000e0041\U000e0fffb").encode(),
    "directions": "b\u202e\u2066\u200f\u061c\ufeff\u2028\u2029\u0085\u200b\U000e0041e".encode(),
    "characters that Unicode never assigns": "n\uffff\ufffe\ufdd0\U0001ffff\U0010ffffm".encode(),
    "an emoji": "\U0001f600\u2764\ufe0f\u200d\u0301".encode(),
    "no name": b"",
    "15 bytes, cut": b"fourteen bytes\xc3",
    "15 bytes, cut in a character of three": b"thirteen byte\xe2\x82",
    "not UTF-8": b"\xc0\xafo\xed\xa0\x80\xf5\x80\x80\x80\xff",
    "separators": b"a\"b\\c'd;e,f|g]]>h<i>&amp;%s%n{}#\xc3\xa9",
    "blanks and a number": b" a  b 12",
    "C++, of 255 bytes": b"_ZN" + b"5a_b_c" * 41 + b"1fEii",
    "15,001 bytes": b"l" + b"ong" * 5000,
}
assert len(NAMES["C++, of 255 bytes"]) == 255 - 1
# The code of the example demo.S, from a compiler, which describes functions.
PROGRAM = b"""__attribute__((naked)) void leaf(void);
__attribute__((naked)) void _start(void)
{
	__asm__("c.li a0, 3"); /* */
	__asm__("1: c.addi a0, -1"); /* */
	__asm__("c.bnez a0, 1b"); /* */
	__asm__("jal ra, %0" :: "i"(leaf)); /* */
	__asm__("c.j _start"); /* */
}
__attribute__((naked)) void leaf(void)
{
	__asm__("ret"); /* */
}
"""
ROOM, FILE_ROOM = 15100, 250
# What all outputs show of a thread without a name.
UNNAMED = b"[unnamed]"
# The outputs that have names, and how: "f" function, "t" thread, "o" object, "s" source file.
FORMATS = {
    "folded": ("text", "ft"), "callgrind": ("text", "fo"), "csv": ("text", "o"), "calls": ("text", "fto"), "lcov": ("text", "fs"),
    "json": ("json", "o"), "speedscope": ("json", "ft"), "chrome": ("json", "ft"),
    "sqlite": ("data", "fto"), "pprof": ("data", "fto"), "perfetto": ("data", "ft"),
    "gcov": ("exact", "f"), "autofdo": ("exact", ""), "profgen": ("exact", ""), "bolt": ("exact", ""), "bolt-bf": ("exact", ""),
    "perf-data": ("exact", "to"), "perfscript": ("exact", "o"),
}
COMMANDS = {
    ("report",): "fo", ("report", "--by-thread"): "t", ("report", "--callers", "FUNCTION"): "", ("report", "--callees", "_start"): "f",
    ("report", "--annotate", "_start"): "o", ("decode",): "", ("decode", "--level", "instruction"): "f",
    ("decode", "--level", "instruction", "--lines"): "fs", ("stat",): "",
    ("report", "--json"): "fo", ("report", "--by-thread", "--json"): "t", ("decode", "--json"): "f", ("stat", "--json"): "",
    ("report", "--html", "-"): "fto",
}


def characters(name):
    """A byte that is not part of UTF-8 is the letter of Latin-1."""
    text = name.decode("utf-8", "surrogateescape")
    return "".join(chr(ord(character) & 0xff) if "\udc80" <= character <= "\udcff" else character for character in text)


def shown(name, hidden):
    return "".join("?" if character in hidden else character for character in characters(name))


def readable(name):
    """The function as people read it: the truth about C++ is that of binutils."""
    return run("c++filt", "-n", name).rstrip(b"\n") if name.startswith(b"_Z") else name


def run(*command, **options):
    """The output of a command that must succeed."""
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if command[0] == NTRACE:
        check_text(" ".join(str(part) for part in command[1:4]) + ", messages", result.stderr)
    return result.stdout


def check_text(what, output, extra="\n"):
    """UTF-8 in which each character is seen, and each name stays in its line."""
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        ok(False, what + ": UTF-8", str(error))
        return
    bad = {character for character in text if character in HIDDEN} - set(extra)
    ok(not bad, what + ": nothing hidden", ascii(bad), ascii(text))
    # The part of a name after its line feed would begin a line.
    ok(not re.search(r"^Y", text, re.M), what + ": each name in its line", ascii(text))


def strings(value):
    """All strings in a value of JSON."""
    if isinstance(value, dict):
        return [text for key, part in value.items() for text in (key, *strings(part))]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def fields(message):
    """All fields of a protocol buffer that have a length, in whatever depth; None: it is none."""
    found, at = [], 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 0x7f) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 0x80:
                return value

    try:
        while at < len(message):
            key = number()
            if not key >> 3 or key & 7 not in (0, 1, 2, 5):
                return None
            if key & 7 == 0:
                number()
            elif key & 7 != 2:
                at += 8 if key & 7 == 1 else 4
            else:
                size = number()
                at += size
                part = message[at - size:at]
                found += [part, *(fields(part) or [])]
    except IndexError:
        return None
    return found if at == len(message) else None


class Subject:
    """A program that has been recorded, whose names are chosen afterwards."""

    def __init__(self, where):
        self.where = where
        environment = dict(os.environ, LD_LIBRARY_PATH=str(BUILD))
        (where / "s").mkdir()
        self.source = PROGRAM
        name = where / "s" / ("S" * FILE_ROOM)
        name.write_bytes(self.source.replace(b"leaf", b"F" * ROOM))
        run("riscv64-linux-gnu-gcc", "-march=rv64gc", "-Os", "-fno-toplevel-reorder", "-ffreestanding", "-nostdlib", "-static", "-Wl,-Ttext=0x10000", "-Wl,--build-id=none", "-g", "-x", "c", "-o", where / "prog", name)
        self.program = (where / "prog").read_bytes()
        # The example's thread has another name each time.
        (where / "recording.c").write_text((EXAMPLES / "recording.c").read_text().replace('"demo"', 'getenv("THREAD")'))
        for source in (EXAMPLES / "encode.c", where / "recording.c"):
            run("gcc", "-std=c11", "-I", TOP / "lib/include", source, "-L", BUILD, "-lntrace", "-o", where / source.stem)
        run(where / "encode", where / "trace", env=environment)
        self.trace = (where / "trace").read_bytes()

    def record(self, label, name):
        """Return: a recording, and its names."""
        file = name.replace(b"/", b"")[:FILE_ROOM - 1]
        names = {"f": name, "t": name[:15] or UNNAMED, "o": b"o" + file, "s": b"s" + file}
        folder = self.where / label.replace(" ", "-")
        folder.mkdir()
        program = os.path.join(os.fsencode(folder), names["o"])
        text = self.program.replace(b"F" * ROOM, name.ljust(ROOM, b"\0")).replace(b"S" * FILE_ROOM, names["s"].ljust(FILE_ROOM, b"\0"))
        pathlib.Path(os.fsdecode(program)).write_bytes(text)
        # The text of the source, too, is the stranger's.
        source = os.path.join(os.fsencode(self.where / "s"), names["s"])
        with open(source, "wb") as output:
            output.writelines(line.replace(b"*/", name.replace(b"\n", b"") + b"*/") for line in self.source.splitlines(True))
        environment = {**{os.fsencode(key): os.fsencode(value) for key, value in os.environ.items()}, b"LD_LIBRARY_PATH": os.fsencode(BUILD), b"THREAD": name[:15]}
        run(self.where / "recording", folder / "rec", program, str(len(self.trace)), env=environment)
        (folder / "rec/aux.0").write_bytes(self.trace)
        params = folder / "rec/params"
        params.write_bytes(re.sub(rb"(?m)^command .*", lambda _: b"command " + name.replace(b"\n", b""), params.read_bytes()))
        # Reports name it.
        os.symlink("rec", os.path.join(os.fsencode(folder), b"r" + names["o"]))
        return folder / "rec", names


def read_strings(name, output, path):
    """The strings of a format, as its readers find them."""
    if name == "sqlite":
        with sqlite3.connect(path) as database:
            rows = [row for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                    for row in database.execute(f"SELECT * FROM \"{table}\"")]
        return {value for row in rows for value in row if isinstance(value, str)}
    if FORMATS[name][0] == "json":
        return set(strings(json.loads(output.decode())))
    if name in ("pprof", "perfetto"):
        found = fields(gzip.decompress(output) if output[:2] == b"\x1f\x8b" else output)
        ok(found is not None, f"{name}: a protocol buffer")
        return {part.decode("utf-8", "replace") for part in found or []}
    text = output.decode()
    if name == "folded":
        return {frame for line in text.splitlines() for frame in line.rpartition(" ")[0].split(";")}
    if name in ("csv", "calls"):
        return {cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row}
    if name == "callgrind":
        return {match[1] for match in re.finditer(r"^(?:c?fn|c?ob|fl|cfi)=\(\d+\) (.*)$", text, re.M)}
    return {match[1] for match in re.finditer(r"^(?:SF:|FN:\d+,|FNDA:\d+,)(.*)$", text, re.M)}


def check_format(label, name, recording, names):
    """One format of ntrace export."""
    what, path = f"{label}: {name}", recording.parent / "out"
    kind, has = FORMATS[name]
    command = [NTRACE, "export", "-f", name, "-u", *(["--period", "2"] if name.startswith("perf") and kind == "exact" else []), "-o", path, recording]
    # Its lines have the bytes of the program's name, which llvm-profgen compares.
    if name == "perfscript" and CONTROL & set(characters(names["o"])):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        ok(result.returncode == 1 and b"a file name with a control character" in result.stderr and not path.exists(), what + ": refused", result.stderr)
        check_text(what, result.stderr)
        return
    run(*command)
    output = path.read_bytes()
    if kind == "exact":
        for key in has:
            ok(names[key].replace(UNNAMED, b"") in output, f"{what}: {key}: the bytes of the program", output)
        for words in (("report",), ("report", "--json"), ("export", "-f", "perfscript", "--period", "1")) if name == "perf-data" else ():
            result = subprocess.run([NTRACE, *words, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            check_text(f"{what}: {' '.join(words)}", (b"" if words[0] == "export" else result.stdout) + result.stderr)
    else:
        found = read_strings(name, output, path)
        if kind == "data":
            ok(not any(character in CONTROL for text in found for character in text if name == "sqlite"), what + ": no control character", ascii(found))
        else:
            check_text(what, output)
        hidden = {"json": set(), "data": CONTROL, "text": HIDDEN}[kind]
        for key in has:
            if not names[key]:
                ok("" not in found or name in ("pprof", "perfetto", "csv", "calls", "sqlite"), f"{what}: {key}: no empty name", ascii(found))
                continue
            bare = names[key] if key != "f" or name in ("lcov",) else readable(names[key])
            wanted = shown(bare, hidden)
            if name == "folded":
                wanted = wanted.replace(";", ":")
            elif name == "lcov" and key == "f":
                wanted = wanted.replace(",", "_")
            ok(any(wanted in (text, text.rpartition("/")[2] if key in "os" else text.rpartition(" ")[0]) for text in found), f"{what}: {key}", ascii(wanted)[:2000], ascii(sorted(found))[:4000])
    path.unlink()


def check_command(label, words, recording, names):
    """One command that people or programs read."""
    what = f"{label}: {' '.join(words)}"
    name = names["f"] or b"leaf"
    path = os.path.join(os.fsencode(recording.parent), b"r" + names["o"])
    result = subprocess.run([NTRACE, *(name if word == "FUNCTION" else word for word in words), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check_text(what, result.stdout + result.stderr, "\n\t" if {"--html", "--annotate"} & set(words) else "\n")
    hidden, text = HIDDEN, result.stdout.decode("utf-8", "replace")
    if "--json" in words:
        hidden = set()
        found = strings([json.loads(line) for line in (text.splitlines() if words[0] == "decode" else [text])])
    elif "--html" in words:
        data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)
        found = strings(json.loads(data.group(1)))
        hidden = HIDDEN - set("\t\n")
        ok(not any(b"<" in part and part in result.stdout for part in names.values()), what + ": no markup of names")
        ok(not any(character in hidden for part in found for character in part), what + ": the data of the page: nothing hidden", ascii(found))
    else:
        found = [text]
    for key in COMMANDS[words]:
        if names[key]:
            bare = readable(names[key]) if key == "f" and words[0] == "report" else names[key]
            wanted = shown(bare, hidden)
            ok(any(wanted in part for part in found), f"{what}: {key}", ascii(wanted)[:2000], ascii(found)[:6000])


def gdb_documents(label, recording, names):
    """What GDB reads as XML or as a path, and prints as it comes: the threads, the libraries and the program."""
    packets = ["qSupported:multiprocess+;xmlRegisters=riscv", "qXfer:threads:read::0,fff", "qXfer:libraries-svr4:read::0,fff", "qXfer:exec-file:read::0,fff",
               "qXfer:features:read:target.xml:0,fff", "qThreadExtraInfo,2a", "qRcmd," + b"programs".hex(), "qRcmd," + b"where".hex()]
    data = "".join(f"${packet}#{sum(packet.encode()) & 0xff:02x}+" for packet in packets)
    output = run(NTRACE, "gdb", "-", recording, input=data.encode())
    # Binary replies escape these.
    replies = [re.sub(rb"}(.)", lambda match: bytes([match[1][0] ^ 0x20]), reply, flags=re.S) for reply in re.findall(rb"\$([^#]*)#", output)]
    replies = [bytes.fromhex(reply.decode()) if packet[:6] in ("qThrea", "qRcmd,") else reply for packet, reply in zip(packets, replies)]
    ok(len(replies) == len(packets) and shown(names["o"], HIDDEN).encode() in replies[3], f"{label}: gdb: the path of the program", output)
    for packet, reply in zip(packets, replies):
        check_text(f"{label}: gdb: {packet}", reply)
        if reply[:2] == b"l<":
            document = ElementTree.fromstring(reply[1:].decode())
            if packet.startswith("qXfer:threads"):
                ok(document[0].get("name") == shown(names["t"], HIDDEN), f"{label}: gdb: the thread", reply)
    ok(replies[5].decode() == shown(names["t"], HIDDEN), f"{label}: gdb: qThreadExtraInfo", replies[5])


def check_machine_interface(label, recording):
    """An IDE reads names from GDB's machine interface."""
    commands = ("-gdb-set confirm off", "-gdb-set sysroot /", f"-target-select remote | exec {NTRACE} gdb - {recording} 2>/dev/null", "-thread-info", "-file-list-shared-libraries", "-gdb-exit")
    result = subprocess.run(["gdb-multiarch", "-nx", "-q", "--interpreter=mi2"], input="\n".join(commands).encode() + b"\n", stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=False, timeout=120)
    ok(b"threads=[{id=" in result.stdout, f"{label}: MI: the threads", result.stdout)
    check_text(f"{label}: MI", result.stdout)


def check_browser(label, recording):
    """What ntrace browse draws, without the sequences that draw."""
    child, terminal = pty.fork()
    if not child:
        os.execvpe(NTRACE, [NTRACE, "browse", recording], {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "LINES": "40", "COLUMNS": "250"})
    output = b""
    os.write(terminal, b"gq")
    while select.select([terminal], [], [], 60)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        output += data
        if not data:
            break
    os.waitpid(child, 0)
    os.close(terminal)
    text = re.sub(rb"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][0-9A-B]|[=>78])", b"", output)
    check_text(f"{label}: browse", text.replace(b"\x0f", b""), "\r\n\b")


PYTHON = """
import json, os, sys, ntrace
program = ntrace.Object(os.fsdecode(sys.argv[1]))
with ntrace.Session(sys.argv[2]) as session:
    functions, threads, blocks = session.hot_functions(), ntrace.threads(session), session.blocks()
    print(json.dumps({"f": [program.symbol(0x1000c)[0], *blocks.text("symbol")],
                      "t": [*(thread.comm for thread in threads), *blocks.text("comm")],
                      "o": [program.name, *(function.object for function in functions), *blocks.text("object")]}, ensure_ascii=False))
"""


def check_python(label, recording, names):
    """Names in Python are strings that can be printed."""
    program = os.path.join(os.fsencode(recording.parent), names["o"])
    result = subprocess.run([sys.executable, "-c", PYTHON, program, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                            env=dict(os.environ, PYTHONPATH=str(TOP / "lib/python"), LD_LIBRARY_PATH=str(BUILD), PYTHONIOENCODING="utf-8:strict"))
    ok(not result.returncode, f"{label}: the Python module", result.stderr)
    found = json.loads(result.stdout or b"{}")
    for key in "fto":
        wanted = characters(names[key])
        ok(not wanted or sum(wanted in text for text in found.get(key, []) if text) >= (3 if key == "o" else 2), f"{label}: the Python module: {key}", ascii(wanted)[:1000], ascii(found)[:2000])


def check_files(label, recording, names):
    """Names of inputs and of what is missing, in messages and notes; names in the project's own files."""
    trace = os.path.join(os.fsencode(recording.parent), b"t" + names["o"])
    pathlib.Path(os.fsdecode(trace)).write_bytes((recording / "aux.0").read_bytes())
    program = os.path.join(os.fsencode(recording.parent), names["o"])
    for words in (("dump",), ("check",), ("detect",), ("stat",), ("decode", "--elf", program), ("decode", "--elf", trace), ("report",), ("count",), ("browse",), ("gdb",)):
        result = subprocess.run([NTRACE, *words, trace], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check_text(f"{label}: {words[0]} of a file", result.stdout + result.stderr)
    run(NTRACE, "count", "-o", recording.parent / "counts", recording)
    for format_name in ("csv", "lcov"):
        check_format(label + ": counts", format_name, recording.parent / "counts", names)
    run(NTRACE, "archive", recording)
    os.unlink(program)
    check_format(label + ": archive", "csv", recording, names)
    os.rename(recording / "archive", recording.parent / "elsewhere")
    for words in (("report",), ("report", "--json"), ("report", "--html", "-"), ("decode",), ("archive",), ("stat",), ("export", "-f", "csv")):
        result = subprocess.run([NTRACE, *words, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check_text(f"{label}: {' '.join(words)} without the program", result.stdout + result.stderr, "\n\t" if "--html" in words else "\n")
    result = subprocess.run([NTRACE, "report", trace + b"x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check_text(f"{label}: report of nothing", result.stdout + result.stderr)


def main():
    help_text = run(NTRACE, "export", "--help").decode()
    formats = re.findall(r"^  ([a-z][a-z-]*)(?:, ([a-z]+))?  +\S", help_text.split("formats:")[1].split("examples:")[0], re.M)
    formats = sorted({name for pair in formats for name in pair if name})
    ok(formats == sorted(FORMATS), "this test knows each format", formats)
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(pathlib.Path(folder))
        for label, name in NAMES.items():
            recording, names = subject.record(label, name)
            for format_name in formats:
                check_format(label, format_name, recording, names)
            for words in COMMANDS:
                check_command(label, words, recording, names)
            gdb_documents(label, recording, names)
            check_machine_interface(label, recording)
            check_browser(label, recording)
            check_python(label, recording, names)
            check_files(label, recording, names)
    done()


main()
