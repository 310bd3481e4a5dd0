#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Old programs run with the present library: abi/README.md.

For each set of headers in abi/: a program compiled with them runs as it did; every function that
they promise is exported; structs of the present headers have the old members where they were, and
constants their old values.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from tap import done, ok  # noqa: E402

BUILD = TOP / "build"
# State whose other members are private: only the size and these must stay.
READABLE = {
    "ntrace_encoder": ["messages", "bytes", "dropped", "stall_cycles"],
    "ntrace_reader": ["offset", "idles", "errors"],
}
# 66 rounds of 3 instructions and 34 of 4, in blocks of two.
EXPECTED = """location: loop + 12
encoder: 36 bytes, readable 36, messages 5, dropped 0
reader: offset 36, errors 0
flow: 200 blocks, 334 instructions, 0 errors
profile: 1 objects, 334 instructions
checker: 5 messages, 0 findings
stream: aux.0 cpu 3 hart 7 bytes 11 lost 0 gaps 0 srcbits=4,xlen=64,extaddr=0,alljumps=0,mode=htm,\
dialect=ratified,tsbits=0,tshz=5,tsdelta=add,impret=0,keepstack=0,isa=rv64gc
stream: aux.1 cpu 0 hart 0 bytes 0 lost 5 gaps 1 srcbits=0,xlen=64,extaddr=0,alljumps=0,mode=any,\
dialect=ratified,tsbits=0,tshz=0,tsdelta=add,impret=0,keepstack=0
"""


def code_of(path):
    """Without comments."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def is_promised(text):
    """A header with nothing but experimental functions promises nothing."""
    return "NTRACE_API" in text or "NTRACE_EXPERIMENTAL" not in text


def promised_functions(headers):
    return {name for text in headers.values()
            for name in re.findall(r"^NTRACE_API[^;({]*?\b(ntrace_\w+)\s*\(", text, re.M)}


def structs_of(headers):
    """Name: members, of those that are promised and not defined as a whole elsewhere."""
    found = {}
    for text in headers.values():
        if not is_promised(text):
            continue
        for name, body in re.findall(r"^struct (ntrace_\w+) \{\n(.*?)^\}", text, re.M | re.S):
            flat = body
            # Members of inner structs are theirs.
            while re.search(r"(struct|union) \{[^{}]*\}", flat):
                flat = re.sub(r"(struct|union) \{[^{}]*\}", "int", flat)
            flat = re.sub(r"\(\*(\w+)\)\s*\([^;]*\)", r"\1", flat)
            members = re.findall(r"(\w+)(?:\[[^\]]*\])*;", flat)
            found[name] = READABLE.get(name, members)
    return found


def constants_of(headers):
    names = []
    for text in headers.values():
        if is_promised(text):
            for body in re.findall(r"^enum\s*\w*\s*\{\n(.*?)^\}", text, re.M | re.S):
                names += re.findall(r"^\s*(NTRACE_\w+)", body, re.M)
    # These count what there is.
    return [name for name in names if not re.search(r"_(COUNT|MAX|LAST)$", name)]


def measure(include, structs, constants, directory):
    """Expression: value, as a compiler has it with these headers."""
    questions = []
    for name, members in structs.items():
        questions.append("sizeof(struct %s)" % name)
        for member in members:
            # Reserved bytes may get a meaning and a name; the size of the struct still counts.
            if member == "reserved":
                continue
            questions.append("offsetof(struct %s, %s)" % (name, member))
            questions.append("sizeof(((struct %s *)0)->%s)" % (name, member))
    questions += constants
    source = directory / "measure.c"
    headers = sorted(path.name for path in (include / "ntrace").glob("*.h"))
    source.write_text("#include <stddef.h>\n#include <stdio.h>\n" +
                      "".join("#include <ntrace/%s>\n" % name for name in headers) +
                      "int main(void)\n{\n" +
                      "".join('\tprintf("%%lld\\n", (long long)(%s));\n' % question
                              for question in questions) + "\treturn 0;\n}\n")
    program = directory / "measure"
    subprocess.run(["gcc", "-std=c11", "-I", str(include), str(source), "-o", str(program)], check=True)
    values = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split()
    return dict(zip(questions, map(int, values)))


def differences(old, new, structs):
    """What moved. A struct that starts with its size may grow at its end."""
    wrong = []
    for question, value in old.items():
        name = re.fullmatch(r"sizeof\(struct (\w+)\)", question)
        grows = name and structs[name.group(1)][:1] == ["size"]
        if new[question] != value and not (grows and new[question] > value):
            wrong.append("%s was %d and is %d" % (question, value, new[question]))
    return wrong


def exported():
    out = subprocess.run(["nm", "-D", "--defined-only", str(BUILD / "libntrace.so")], check=True,
                         capture_output=True, text=True).stdout
    return {line.split()[2].split("@")[0] for line in out.splitlines() if line.split()[1] != "A"}


def check_release(release, directory):
    include = release / "include"
    headers = {path.name: code_of(path) for path in sorted((include / "ntrace").glob("*.h"))}
    functions = promised_functions(headers)
    missing = sorted(functions - exported())
    ok(len(functions) > 100 and not missing, "%s: %d functions are exported" % (release.name, len(functions)),
       *missing)
    structs, constants = structs_of(headers), constants_of(headers)
    old = measure(include, structs, constants, directory)
    new = measure(TOP / "lib" / "include", structs, constants, directory)
    wrong = differences(old, new, structs)
    ok(len(old) > 500 and not wrong, "%s: %d sizes, offsets and constants" % (release.name, len(old)), *wrong)
    # That a change would be seen.
    for question in ("offsetof(struct ntrace_params, xlen)", "sizeof(struct ntrace_encoder)",
                     "NTRACE_ERR_IO"):
        ok(differences(old, {**new, question: new[question] + 8}, structs), "%s: another %s is noticed"
           % (release.name, question))
    ok(not differences(old, {**new, "sizeof(struct ntrace_params)": new["sizeof(struct ntrace_params)"] + 8},
                       structs), "%s: struct ntrace_params may grow" % release.name)
    program = directory / "program"
    subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(include),
                    str(HERE / "abi" / "program.c"), "-L", str(BUILD), "-lntrace",
                    "-Wl,-rpath," + str(BUILD), "-o", str(program)], check=True)
    ran = subprocess.run([str(program), str(directory / release.name)], capture_output=True, text=True)
    ok(ran.returncode == 0 and ran.stdout == EXPECTED, "%s: a program of then runs as it did" % release.name,
       ran.stdout, ran.stderr)


def main():
    releases = sorted(path for path in (HERE / "abi").iterdir() if path.is_dir())
    ok(releases, "%d sets of headers" % len(releases))
    for release in releases:
        with tempfile.TemporaryDirectory() as directory:
            check_release(release, pathlib.Path(directory))
    done()


main()
