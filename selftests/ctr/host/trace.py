#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the transfers into a function and out of it with the kernel's text as it ran.

usage: trace.py DIRECTORY HITS FUNCTION [alter]
DIRECTORY has the file text of guest/text.py, HITS is the output of
ntrace ctr trace --json FUNCTION. Prints these counts, one "name value" a line:
  entries returns errors   hits of these kinds; errors are ENOENT
  transfers       transfers that were checked
  illegal         transfers that are not in the text
  broken          neighbours that no sequential code connects
  lost            hits without a transfer: an interrupt came in the probe
  newest          hits whose youngest transfer does not lead into the function,
                  or is not its return
  mistyped        transfers whose type is not that of the instruction
  called          entries that came from user mode by a system call of openat
  probe           transfers of the probe itself in a ring, the median
  user            transfers with a known address in user mode
  altered         hits with an altered target
"alter" tests this test: in each hit, the first direct transfer that another one follows gets a
target behind the source of the other. Each of them must be found illegal and the next one broken.
"""
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile

from edges import Graph, classify, parse

NAMES = {
    "cond": "branch", "jump": "jump", "otherjump": "jump", "call": "call", "indjump": "indirect jump",
    "otherindjump": "indirect jump", "indcall": "indirect call", "swap": "indirect call", "ret": "return",
}
TRAPS = ("trap", "interrupt", "trap return", "system call")


class Kernel(Graph):
    """The control-flow graph of the kernel functions that contain the given addresses."""

    def __init__(self, directory, places):
        """@places: address -> "function+0xoffset", for all addresses to look up."""
        with open(os.path.join(directory, "text"), "rb") as file:
            self.base, = struct.unpack("<Q", file.read(8))
            self.text = file.read()
        self.address, last = {}, {}
        for address, place in places.items():
            match = re.match(r"([^ ]+)\+(0x[0-9a-f]+)$", place)
            if match and self.base <= address < self.base + len(self.text):
                start = address - int(match.group(2), 16)
                self.address[match.group(1)] = start
                last[start] = max(address, last.get(start, 0))
        code, function = {}, {}
        names = {address: name for name, address in self.address.items()}
        for start, end in last.items():
            # Include one more instruction: the one after a call.
            for address, instruction in self.disassemble(start, end + 8):
                code[address] = instruction
                function[address] = names[start]
        self.fill(code, function, set(last))

    def disassemble(self, start, end):
        with tempfile.NamedTemporaryFile() as piece:
            piece.write(self.text[start - self.base:end - self.base])
            piece.flush()
            text = subprocess.run(
                ["riscv64-linux-gnu-objdump", "-D", "-b", "binary", "-m", "riscv:rv64", "-M", "no-aliases",
                 "--no-show-raw-insn", f"--adjust-vma={start:#x}", piece.name],
                check=True, capture_output=True, text=True).stdout
        for _, address, mnemonic, operands in parse(text):
            if mnemonic:
                yield address, classify(mnemonic, operands)


def alter(kernel, transfers):
    """Alters the target of one transfer, and tells whether there was one to alter."""
    for transfer, follower in zip(transfers, transfers[1:]):
        if (kernel.code.get(transfer["from"], (None, None))[1] is not None and transfer["type"] not in TRAPS
                and follower["from"] in kernel.code and "skipped" not in follower):
            behind = kernel.after(follower["from"])
            if behind is not None:
                transfer["to"] = behind
                return True
    return False


def main():
    directory, hits, name = sys.argv[1:4]
    hits = [json.loads(line) for line in open(hits, encoding="utf-8")]
    places = {}
    for hit in hits:
        for transfer in hit["transfers"]:
            for end in ("from", "to"):
                transfer[end] = int(transfer[end], 16)
                places[transfer[end]] = transfer[end + "_place"]
    kernel = Kernel(directory, places)
    count = dict.fromkeys(("entries", "returns", "errors", "transfers", "illegal", "broken", "newest", "mistyped",
                           "called", "probe", "user", "lost", "altered"), 0)
    if "alter" in sys.argv[4:]:
        count["altered"] = sum(alter(kernel, hit["transfers"]) for hit in hits)

    def wrong(what, hit, transfer):
        count[what] += 1
        if count[what] < 6:
            print(f"{what}: {hit['event']} at {hit['time']}: {transfer}", file=sys.stderr)

    for hit in hits:
        count["entries" if hit["event"] == "entry" else "returns"] += 1
        count["errors"] += hit.get("error") == "ENOENT"
        before = None
        for transfer in hit["transfers"]:
            source, target, kind = transfer["from"], transfer["to"], transfer["type"]
            count["transfers"] += 1
            count["user"] += 0 < source < 1 << 63 or 0 < target < 1 << 63
            if before is not None and before in kernel.code:
                # A probe that has been removed again: its first instructions were a jump into the
                # function.
                begin = kernel.after(kernel.after(before)) if "skipped" in transfer else before
                if not kernel.run(begin, source) and ("skipped" not in transfer or before == kernel.address[name]):
                    wrong("broken", hit, transfer)
            if kind in TRAPS:
                if kind in ("trap", "interrupt", "system call") and kernel.function.get(target) != "handle_exception":
                    wrong("illegal", hit, transfer)
            elif source in kernel.code:
                if not kernel.legal(source, target):
                    wrong("illegal", hit, transfer)
                if NAMES.get(kernel.code[source][0]) != kind:
                    wrong("mistyped", hit, transfer)
            before = target
        if not hit["transfers"]:
            count["lost"] += 1
            continue
        last = hit["transfers"][-1]
        if hit["event"] == "entry":
            good = last["to"] == kernel.address[name]
            ways = [kernel.function.get(transfer["to"]) for transfer in hit["transfers"]]
            if "__riscv_sys_openat" in ways and "handle_exception" in ways[:ways.index("__riscv_sys_openat")]:
                count["called"] += 1
        else:
            good = last["type"] == "return" and kernel.function.get(last["from"]) == name
        if not good:
            wrong("newest", hit, last)
    # An interrupt may occur inside a probe.
    count["probe"] = int(statistics.median(hit["probe"] for hit in hits))
    for key, value in count.items():
        print(key, value)


main()
