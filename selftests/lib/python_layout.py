#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares structs, constants and functions of the Python module with the C headers.

The compiler prints offsets and sizes of members, and the types of arguments.

"""

import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault("NTRACE_LIBRARY", os.path.join(TOP, "build", "libntrace.so.0"))
sys.path.insert(0, os.path.join(TOP, "lib", "python"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "selftests"))
from ntrace import _abi  # noqa: E402
from tap import done, ok  # noqa: E402

INCLUDE = os.path.join(TOP, "lib", "include")
# Size of what is no pointer, and whether it has a sign.
TYPES = {"int": (4, True), "unsigned int": (4, False), "uint64_t": (8, False), "size_t": (8, False),
         "int32_t": (4, True), "uint32_t": (4, False), "_Bool": (1, False), "bool": (1, False)}


def headers():
    return "".join("#include <ntrace/%s>\n" % os.path.basename(path)
                   for path in sorted(glob.glob(INCLUDE + "/ntrace/*.h")))


def members_of(name, struct):
    """What a compiler is asked, and what is expected of it."""
    yield "sizeof(struct %s)" % name, ctypes.sizeof(struct)
    for field in struct._fields_:
        place = getattr(struct, field[0])
        yield "offsetof(struct %s, %s)" % (name, field[0]), place.offset
        yield "sizeof(((struct %s *)0)->%s)" % (name, field[0]), place.size


def compile_and_run(directory, questions):
    source = os.path.join(directory, "ask.c")
    with open(source, "w") as file:
        file.write("#include <stdio.h>\n#include <stddef.h>\n" + headers() + "int main(void)\n{\n")
        for question in questions:
            file.write('\tprintf("%%lld\\n", (long long)(%s));\n' % question)
        file.write("\treturn 0;\n}\n")
    program = os.path.join(directory, "ask")
    subprocess.run(["gcc", "-std=c11", "-I", INCLUDE, "-aux-info", os.path.join(directory, "declared"),
                    source, "-o", program], check=True)
    out = subprocess.run([program], check=True, capture_output=True, text=True)
    return list(map(int, out.stdout.split()))


def members_named(name):
    """Members of a struct as the header has them: none may be left out."""
    for path in glob.glob(INCLUDE + "/ntrace/*.h"):
        with open(path) as file:
            found = re.search(r"^struct %s \{\n(.*?)^\}" % name, file.read(), re.M | re.S)
        if found:
            text = re.sub(r"/\*.*?\*/", "", found.group(1), flags=re.S)
            text = re.sub(r"\(\*(\w+)\)\([^;]*\)", r"\1", text)
            return re.findall(r"(\w+)(?:\[\w+\])?;", text)
    return []


def split(arguments):
    """At the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def kind(text):
    """Of a type in C: "pointer", None (void), or size and sign."""
    text = re.sub(r"\b(const|extern)\b", "", text).strip()
    if "*" in text:
        return "pointer"
    if text == "void":
        return None
    if text.startswith("enum "):
        return (4, False)
    return TYPES.get(text, text)


def python_kind(python):
    """The same of a type of ctypes."""
    if python is None:
        return None
    if python in (ctypes.c_void_p, ctypes.c_char_p) or issubclass(python, ctypes._Pointer):
        return "pointer"
    if issubclass(python, ctypes._CFuncPtr):
        return "pointer"
    return (ctypes.sizeof(python), python(-1).value == -1)


def prototypes(directory):
    with open(os.path.join(directory, "declared")) as file:
        for line in file:
            found = re.match(r"/\*.*?\*/ extern (.*?)ntrace_(\w+) \((.*)\);", line)
            if found:
                yield found.group(2), kind(found.group(1)), list(map(kind, split(found.group(3))))


def main():
    questions = [question for name, struct in _abi.STRUCTS.items()
                 for question in members_of(name, struct)]
    questions += [(name, value) for name, value in _abi.CONSTANTS.items()]
    with tempfile.TemporaryDirectory() as directory:
        answers = compile_and_run(directory, [question for question, _ in questions])
        declared = {name: (result, arguments) for name, result, arguments in prototypes(directory)}
    wrong = ["%s is %d, not %d" % (question, answer, expected)
             for (question, expected), answer in zip(questions, answers) if answer != expected]
    ok(len(answers) == len(questions) and not wrong, "%d sizes, offsets and constants" % len(questions),
       "\n".join(wrong))
    for name, struct in _abi.STRUCTS.items():
        theirs = [field[0] for field in struct._fields_]
        ok(members_named(name) == theirs, "members of struct " + name,
           "C: %s\nPython: %s" % (members_named(name), theirs))
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        expected = (python_kind(result), list(map(python_kind, arguments)))
        ok(declared.get(name) == expected, "ntrace_" + name,
           "C: %s\nPython: %s" % (declared.get(name), expected))
    done()


main()
