#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that the messages quoted in the documents exist in the sources.

A quoted message is a code span of several words in Documentation/troubleshooting.md that is not
a command, an option or a path, a code span in one of its headings, or an entry of DIAGNOSTICS in
a manual page. A conversion of a format string matches any text; N in a quotation is a number and
"..." is any text. More than half of a quotation must match literally.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import done, ok  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ("lib", "kernel/ntrace", "kernel/ctr", "tools/ntrace")
PAGE = "Documentation/troubleshooting.md"
MANUAL = "Documentation/man"
COMMANDS = ("ntrace", "perf", "modprobe", "rmmod", "insmod", "make", "ulimit", "dmesg", "uname", "cpus")
# Messages and names of other programs.
FOREIGN = {
    "insmod: ... Invalid module format", "Unknown symbol", "incompatible file format", "not supported",
    "ETIMEDOUT", "EIO", "sub_",
}
ANY = "\0"
STRING = r'"(?:\\.|[^"\\\n])*"'
LITERAL = re.compile(rf"{STRING}(?:\s*(?:{STRING}|PRI[a-zA-Z0-9]+))*")
# A comment or a character constant; or a string, which may contain either.
COMMENT = re.compile(rf"({STRING})|/\*.*?\*/|'\\?.'", re.S)
CONVERSION = re.compile(r"%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|z|j)?[diouxXcsp]\w{0,3}|%")


def formats():
    """Returns string literals of the sources, with ANY for conversions."""
    found = set()
    for folder in SOURCES:
        for path, _, files in os.walk(os.path.join(TOP, folder)):
            for name in files:
                if name.endswith((".c", ".h")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        text = COMMENT.sub(lambda m: m.group(1) or "", file.read())
                    for match in LITERAL.finditer(text):
                        joined = re.sub(r"PRI\w+", "", match.group(0))
                        joined = "".join(part[1:-1] for part in re.findall(STRING, joined))
                        found.add(re.sub(r"\\(.)", lambda m: " " if m.group(1) in "nt" else m.group(1),
                                         CONVERSION.sub(ANY, joined)))
    return found


def quoted(text):
    """Yields the messages that a document quotes, with the lines that quote them."""
    for number, line in enumerate(text.splitlines(), 1):
        for span in re.findall(r"`([^`]+)`", line):
            if span in FOREIGN or re.match(r"[-/<]", span):
                continue
            if not line.startswith("#") and " " not in span:
                continue
            if span.split()[0] not in COMMANDS or span.split()[0] == "cpus" and "=" not in span:
                yield number, span


def matches(message, literal):
    """Returns the number of characters of @message that occur literally in a part of @literal,
    or -1."""
    # best[j]: characters matched literally so far, with the part of @literal up to j.
    best = [0] * (len(literal) + 1)
    for i, char in enumerate(message):
        following = [-1] * (len(literal) + 1)
        for j, wanted in enumerate(literal):
            if wanted == ANY:
                # The conversion starts or continues with this character.
                following[j + 1] = max(following[j + 1], best[j], best[j + 1])
            elif wanted == char and best[j] >= 0:
                following[j + 1] = max(following[j + 1], best[j] + 1)
        best = following
        if i and max(best) < 0:
            return -1
    return max(best)


def known(message, literals):
    parts = [part.strip() for part in message.split("...") if part.strip()]
    for part in parts:
        part = re.sub(r"\bN\b(?!-Trace)", "7", part)
        words = set(re.findall(r"[A-Za-z]{3,}", part))
        near = [one for one in literals if 2 * len(words & set(re.findall(r"[A-Za-z]{3,}", one))) >= len(words)]
        if not any(part in one for one in near) and \
           not any(2 * matches(part, one) > len(part) for one in near):
            return False
    return True


def main():
    literals = formats()
    with open(os.path.join(TOP, PAGE), encoding="utf-8") as file:
        found = list(quoted(file.read()))
    absent = [f"{PAGE}:{number}: {message}" for number, message in found if not known(message, literals)]
    ok(len(found) >= 40 and not absent, f"the {len(found)} messages in {PAGE} exist", *absent)
    absent, count = [], 0
    for name in sorted(os.listdir(os.path.join(TOP, MANUAL))):
        with open(os.path.join(TOP, MANUAL, name), encoding="utf-8") as file:
            for message in re.findall(r'^\.It "(.+)"$', file.read().partition(".Sh DIAGNOSTICS")[2], re.M):
                count += 1
                if not known(message, literals):
                    absent.append(f"{name}: {message}")
    ok(count and not absent, f"the {count} messages in the manual pages exist", *absent)
    ok(not known("the flux capacitor is empty", literals), "a message that does not exist is found out")
    ok(known("CPU 3 has no trace device", {f"CPU {ANY} has no trace device"}) and
       not known("CPU 3 has no trace gadget", {f"CPU {ANY} has no trace device"}), "a conversion matches any text, other text itself")
    ok(not known("has no such thing", {f"{ANY}: {ANY}", ANY}), "conversions alone are no message")
    done()


main()
