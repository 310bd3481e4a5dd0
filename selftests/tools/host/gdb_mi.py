#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What an IDE asks GDB for: the settings of Documentation/debuggers.md, and GDB's machine interface.

gdb_mi.py DOCUMENT NTRACE ELF TRACE PCS: prints "ok TEXT" or "failed TEXT" for each test.
"""
import json
import re
import subprocess
import sys

DOCUMENT, NTRACE, ELF, TRACE, PCS = sys.argv[1:]


def test(good, text, *why):
    print("ok" if good else "failed", text, *("" if good else why), flush=True)


settings = []
for text in re.findall(r"```json\n(.*?)```", open(DOCUMENT).read(), re.S):
    settings += json.loads(text)["configurations"]
test([setting["type"] for setting in settings] == ["cppdbg", "lldb"], "the settings of the documentation are JSON")
setting = settings[0]
pcs = [int(line, 16) for line in open(PCS)]
server = subprocess.Popen([NTRACE, "gdb", "--json", "--elf", ELF, TRACE], stdout=subprocess.PIPE)
address = json.loads(server.stdout.readline())["listen"]
gdb = subprocess.Popen(["gdb-multiarch", "-nx", "-q", "--interpreter=mi2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
stopped = ""


def until(pattern):
    """Lines up to one that matches. Return: the line."""
    global stopped
    for line in gdb.stdout:
        if line.startswith("*stopped"):
            stopped = line
        if re.match(pattern, line):
            return line
    return ""


def ask(command):
    gdb.stdin.write(command + "\n")
    gdb.stdin.flush()
    return until(r"\^(done|running|connected|error|exit)")


def move(command):
    """Resumes. Return: the pc where it stops."""
    if not ask(command).startswith("^running"):
        return None
    until(r"\*stopped")
    return int(re.search(r'addr="(0x[0-9a-f]+)"', stopped)[1], 16)


until(r"\(gdb\)")
ask("-gdb-set mi-async off")
said = [ask('-interpreter-exec console "%s"' % command["text"]) for command in setting["setupCommands"]]
test(all(line.startswith("^done") for line in said), "GDB executes the commands of the settings", said)
test(ask(f"-file-exec-and-symbols {ELF}").startswith("^done"), "the program")
test(re.match(r"\^(done|connected)", ask(f"-target-select remote {address}")), "connected")
features = ask("-list-target-features")
test('"reverse"' in features, "GDB says that it can go back", features)
test('target-id="Thread 1"' in ask("-thread-info"), "-thread-info")
both = int(re.search(r'addr="(0x[0-9a-f]+)"', ask("-break-insert *both"))[1], 16)
wanted = [at for at in range(len(pcs)) if pcs[at] == both]
test(move("-exec-continue --reverse") == both, "-exec-continue --reverse")
test(move("-exec-step-instruction --reverse") == pcs[wanted[-1] - 1], "-exec-step-instruction --reverse")
test(move("-exec-step-instruction") == both, "-exec-step-instruction")
test('func="both"' in ask("-stack-list-frames"), "-stack-list-frames")
test(f'value="0x{both:x}"' in ask(f"-data-list-register-values x 32"), "-data-list-register-values")
test(move("-exec-continue --reverse") == both and len(wanted) > 2, "the breakpoint before")
test(ask('-interpreter-exec console "monitor start"').startswith("^done"), "monitor commands")
test(move("-exec-continue") == both, "-exec-continue")
test(ask("-exec-next --reverse").startswith(("^running", "^error")), "-exec-next --reverse has an answer")
ask("-gdb-exit")
gdb.wait(120)
test(server.wait(120) == 0, "the server ends with GDB")
