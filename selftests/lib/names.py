#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names that are not UTF-8, have control characters or separators of formats, or are very long: of a function, a thread and a
file, in every output.

Text that people or parsers read is UTF-8, each name stays in its line, and no control character reaches a
terminal. Formats whose readers compare names with those in the program have the bytes themselves.
"""
import gzip
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "selftests"))
from tap import done, ok  # noqa: E402

BUILD, EXAMPLES = TOP / "build", TOP / "Documentation/examples"
NTRACE = BUILD / "ntrace"
FUNCTION, THREAD, FOLDER = b"lat\xe9\x1b\nY", b"d\xe9\n\x1b", b"dir\xe9\x1b\n"
# What ends a string, a field, a tag or a comment in some format.
SEPARATORS = (b"a\"b\\c'd;e,f|g]]>h<i>&amp;%s{}#\xc3\xa9", b"\"\\',;<&]]>", b"d \"\\';,<&")
LONG = (b"l" + b"ong" * 5000, b"fourteen bytes", b"x" * 200)
# Valid UTF-8 that is not seen, or changes how the rest of a line is seen: <ntrace/text.h> says which format has what.
HIDDEN = "\u202e\u2066\u200f\u061c\ufeff\u2028\u2029\u0085\u200b\U000e0041"
UNSEEN = (b"b" + HIDDEN.encode() + b"e", b"d\xe2\x80\xae", b"d" + HIDDEN.encode())
# Readers of these compare the names with those of the program.
EXACT = {"gcov", "autofdo", "profgen", "bolt", "bolt-bf", "perf-data", "perfscript"}
JSON = {"json", "speedscope", "chrome"}


def run(*command, **options):
    """The output of a command that must succeed."""
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if command[0] == NTRACE:
        check_text(" ".join(str(part) for part in command[1:4]) + ", messages", result.stderr)
    return result.stdout


def make_recording(where, function, thread, directory):
    """A program with such names, and a recording of it."""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(BUILD))
    source = where / "demo.S"
    source.write_text((EXAMPLES / "demo.S").read_text().replace("leaf", "lat_X_Y"))
    run("riscv64-linux-gnu-gcc", "-march=rv64gc", "-nostdlib", "-static", "-Wl,-Ttext=0x10000", "-g", "-o", where / "prog", source)
    for name in ("encode", "recording"):
        run("gcc", "-std=c11", "-I", TOP / "lib/include", EXAMPLES / (name + ".c"), "-L", BUILD, "-lntrace", "-o", where / name)
    folder = os.path.join(os.fsencode(where), directory)
    os.mkdir(folder)
    program = os.path.join(folder, b"prog")
    run("riscv64-linux-gnu-objcopy", b"--redefine-sym=lat_X_Y=" + function, where / "prog", program)
    run(where / "encode", where / "trace", env=environment)
    trace = (where / "trace").read_bytes()
    run(where / "recording", where / "rec", program, str(len(trace)), env=environment)
    (where / "rec/aux.0").write_bytes(trace)
    params = where / "rec/params"
    params.write_bytes(re.sub(rb"(?m)^command .*", lambda _: b"command " + thread.replace(b"\n", b""), params.read_bytes()))
    data = where / "rec/data"
    data.write_bytes(data.read_bytes().replace(b"demo\0".ljust(8, b"\0"), (thread + b"\0").ljust(8, b"\0")[:8]))
    return where / "rec"


def check_text(what, output, lines=True):
    """UTF-8 without control characters."""
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        ok(False, what + ": UTF-8", str(error))
        return
    bad = re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    ok(not bad, what + ": no control character", text)
    # The part of a name after its line feed would begin a line.
    if lines:
        ok(not re.search(r"^Y", text, re.M), what + ": each name in its line")


def check_format(name, recording, file):
    """One format of ntrace export."""
    run(NTRACE, "export", "-f", name, "-u", "-o", file, recording)
    output = file.read_bytes()
    if name in JSON:
        text = output.decode()
        ok(isinstance(json.loads(text), (dict, list)), name + ": JSON in UTF-8")
        check_text(name, output)
    elif name == "sqlite":
        with sqlite3.connect(file) as database:
            rows = [row for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                    for row in database.execute(f"SELECT * FROM \"{table}\"")]
        check_text(name, "\n".join(value for row in rows for value in row if isinstance(value, str)).encode())
    elif name in ("pprof", "perfetto"):
        output = gzip.decompress(output) if output[:2] == b"\x1f\x8b" else output
        ok(b"\xc3\xa9" in output, name + ": the letter in UTF-8")
        ok(b"t\xe9" not in output and b"d\xe9" not in output and b"r\xe9" not in output and b"\x1b\n" not in output,
           name + ": no bytes of the names")
    else:
        check_text(name, output)


def strings(value):
    """All strings in a value of JSON."""
    if isinstance(value, dict):
        return [text for key, part in value.items() for text in (key, *strings(part))]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def check_whole(what, function, formats):
    """Each reader finds the whole name of the function."""
    with tempfile.TemporaryDirectory() as name:
        where, wanted = pathlib.Path(name), function[0].decode()
        recording = make_recording(where, *function)
        for format_name in sorted(formats - EXACT):
            run(NTRACE, "export", "-f", format_name, "-u", "-o", where / "out", recording)
            if format_name in JSON - {"json"}:
                ok(wanted in strings(json.loads((where / "out").read_text())), f"{what}: {format_name}")
            elif format_name == "sqlite":
                with sqlite3.connect(where / "out") as database:
                    ok((wanted,) in database.execute("SELECT name FROM functions").fetchall(), f"{what}: sqlite")
            elif format_name in ("pprof", "perfetto"):
                output = (where / "out").read_bytes()
                output = gzip.decompress(output) if output[:2] == b"\x1f\x8b" else output
                ok(function[0] in output, f"{what}: {format_name}")
            (where / "out").unlink()
        ok(wanted in strings(json.loads(run(NTRACE, "report", "--json", recording))), f"{what}: report --json")
        lines = [json.loads(line) for line in run(NTRACE, "decode", "--json", recording).splitlines()]
        ok(any(wanted in text for text in strings(lines)), f"{what}: decode --json")
        run(NTRACE, "report", "--html", where / "page", recording)
        data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', (where / "page").read_text(), re.S)
        ok(data and wanted in strings(json.loads(data.group(1))), f"{what}: the data of the page")


def gdb_documents(recording, folder):
    """What GDB reads as XML or as a path, and prints as it comes: the threads, the libraries and the program."""
    packets = ["qSupported:multiprocess+;xmlRegisters=riscv", "qXfer:threads:read::0,fff", "qXfer:libraries-svr4:read::0,fff", "qXfer:exec-file:read::0,fff",
               "qXfer:features:read:target.xml:0,fff", "qThreadExtraInfo,2a", "qRcmd," + b"programs".hex(), "qRcmd," + b"where".hex()]
    data = "".join(f"${packet}#{sum(packet.encode()) & 0xff:02x}+" for packet in packets)
    output = run(NTRACE, "gdb", "-", recording, input=data.encode())
    replies = re.findall(rb"\$([^#]*)#", output)
    ok(len(replies) == len(packets) and b"<thread" in replies[1] and folder in replies[3], "gdb: the threads, and the path of the program", output)
    replies = [bytes.fromhex(reply.decode()) if packet[:6] in ("qThrea", "qRcmd,") else reply for packet, reply in zip(packets, replies)]
    for packet, reply in zip(packets, replies):
        check_text("gdb: " + packet, reply)
        if reply[:2] == b"l<":
            ElementTree.fromstring(reply[1:].decode())
    return replies


def check_machine_interface(recording):
    """An IDE reads names from GDB's machine interface."""
    commands = ("-gdb-set confirm off", "-gdb-set sysroot /", f"-target-select remote | exec {NTRACE} gdb - {recording} 2>/dev/null", "-thread-info", "-file-list-shared-libraries", "-gdb-exit")
    result = subprocess.run(["gdb-multiarch", "-nx", "-q", "--interpreter=mi2"], input="\n".join(commands).encode() + b"\n", stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=False, timeout=120)
    ok(b"threads=[{id=" in result.stdout, "MI: the threads", result.stdout)
    check_text("MI", result.stdout)


def check_hidden(formats):
    """Characters that are not seen do not reach people, and reach programs as the format can quote them."""
    with tempfile.TemporaryDirectory() as name:
        where, wanted = pathlib.Path(name), UNSEEN[0].decode()
        recording = make_recording(where, *UNSEEN)
        for format_name in sorted(formats - EXACT):
            run(NTRACE, "export", "-f", format_name, "-u", "-o", where / "out", recording)
            output = (where / "out").read_bytes()
            if format_name in JSON:
                ok(not re.search(f"[{HIDDEN}]", output.decode()) and (format_name == "json" or wanted in strings(json.loads(output))), f"{format_name}: escaped", output)
            elif format_name == "sqlite":
                with sqlite3.connect(where / "out") as database:
                    ok((wanted.replace("\u0085", "?"),) in database.execute("SELECT name FROM functions").fetchall(), "sqlite: a control character is '?'")
            elif format_name in ("pprof", "perfetto"):
                output = gzip.decompress(output) if output[:2] == b"\x1f\x8b" else output
                ok(wanted.replace("\u0085", "?").encode() in output, f"{format_name}: a control character is '?'")
            else:
                ok(not re.search(f"[{HIDDEN}]", output.decode()), f"{format_name}: nothing hidden", output)
            (where / "out").unlink()
        for command in (["report"], ["report", "--by-thread"], ["report", "--callees", "_start"], ["report", "--annotate", "_start"], ["decode"],
                        ["decode", "--level", "instruction", "--lines"], ["stat"], ["report", "--json"], ["decode", "--json"], ["report", "--html", "-"]):
            result = subprocess.run([NTRACE, *command, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            text = (result.stdout + result.stderr).decode()
            ok(not re.search(f"[{HIDDEN}]", text), " ".join(command) + ": nothing hidden", text)
            if command[-1] == "-":
                data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)
                ok(data and not any(re.search(f"[{HIDDEN}]", text) for text in strings(json.loads(data.group(1)))), "the data of the page: nothing hidden")
        for reply in gdb_documents(recording, b"/d" + b"?" * len(HIDDEN) + b"/prog"):
            ok(not re.search(f"[{HIDDEN}]", reply.decode()), "gdb: nothing hidden", reply)
        check_machine_interface(recording)


def main():
    with tempfile.TemporaryDirectory() as name:
        where = pathlib.Path(name)
        recording = make_recording(where, FUNCTION, THREAD, FOLDER)
        help_text = run(NTRACE, "export", "--help").decode()
        formats = re.findall(r"^  ([a-z][a-z-]*)(?:, ([a-z]+))?  +\S", help_text.split("formats:")[1].split("examples:")[0], re.M)
        formats = [name for pair in formats for name in pair if name]
        ok(len(formats) >= 17 and EXACT | JSON <= set(formats), f"{len(formats)} formats")
        for name in sorted(set(formats)):
            if name in EXACT:
                period = ["--period", "2"] if name in ("perf-data", "perfscript") else []
                run(NTRACE, "export", "-f", name, "-u", *period, "-o", where / "out", recording)
            else:
                check_format(name, recording, where / "out")
            (where / "out").unlink()
        for command in (["report"], ["report", "--by-thread"], ["report", "--callers", "lat"], ["report", "--callees", "_start"],
                        ["report", "--annotate", "_start"], ["decode"], ["decode", "--level", "instruction"],
                        ["decode", "--level", "instruction", "--lines"], ["stat"]):
            result = subprocess.run([NTRACE, *command, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            check_text(" ".join(command), result.stdout + result.stderr)
        for command in (["report", "--json"], ["decode", "--json"], ["stat", "--json"]):
            output = run(NTRACE, *command, recording)
            for line in output.splitlines() if command[0] == "decode" else [output]:
                json.loads(line.decode())
            check_text(" ".join(command), output)
        gdb_documents(recording, b"/dir\xc3\xa9??/prog")
        check_machine_interface(recording)
        run(NTRACE, "report", "--html", where / "page", recording)
        check_text("page", (where / "page").read_bytes(), False)
        text = run(NTRACE, "report", recording).decode()
        ok("laté??Y" in text, "a byte that is not UTF-8 is a letter of Latin-1, a control character '?'")
        script = ("import os, sys, ntrace\n"
                  "o = ntrace.Object(os.fsdecode(sys.argv[1]))\n"
                  "print(ascii(o.name), ascii(o.symbol(0x1000c)))\n")
        output = run(sys.executable, "-c", script, os.path.join(os.fsencode(where), FOLDER, b"prog"),
                     env=dict(os.environ, PYTHONPATH=str(TOP / "lib/python"), LD_LIBRARY_PATH=str(BUILD)))
        ok(b"lat" in output, "the Python module")
    with tempfile.TemporaryDirectory() as name:
        where = pathlib.Path(name)
        folded = run(NTRACE, "export", "-f", "folded", make_recording(where, b"leaf", b"", b"dir"))
        ok(folded.startswith(b"[unnamed];") and b"\n;" not in folded, "a thread without a name, folded", folded)
    check_hidden(set(formats))
    check_whole("separators", SEPARATORS, set(formats))
    check_whole("a name of 15,001 bytes", LONG, set(formats))
    done()


main()
