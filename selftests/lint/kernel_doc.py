#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the comments of the public headers with the kernel's scripts/kernel-doc, which the chroot for
kernel modules contains.

Every parameter, member and enumerator of a kernel-doc comment is described, and the result of every
function. kernel-doc ignores functions without a comment and comments of one line: every function that
a header of the library declares must be among those that it reads.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import done, ok  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = "lib/include/ntrace/*.h"
KERNEL = "kernel/include/uapi/linux/*.h"
FUNCTION = re.compile(r"(?:\bNTRACE_(?:API|EXPERIMENTAL)|^static inline)\b[^;{}#]*?\b(ntrace_\w+)\(", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def declared(path):
    """Returns the functions that a header declares."""
    with open(path, encoding="utf-8") as file:
        return set(FUNCTION.findall(COMMENT.sub("", file.read())))


def read(kernel_doc, paths):
    """Returns the warnings of kernel-doc and the functions whose comments it reads."""
    said = subprocess.run(["perl", kernel_doc, "-v", "-none", "-Wreturn", *paths], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, cwd=TOP, check=False).stdout
    return (re.findall(r"^.*: (?:warning|error): .*$", said, re.M),
            set(re.findall(r": info: Scanning doc for function (\w+)", said)))


def faults(kernel_doc, text):
    """Returns the warnings for a header with this text, and its functions without a comment."""
    with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
        file.write(text)
        file.flush()
        warnings, documented = read(kernel_doc, [file.name])
        return len(warnings), declared(file.name) - documented


def main():
    kernel_doc = subprocess.run([os.path.join(TOP, "tools/setup/kbuild"), "--kernel-doc"], stdout=subprocess.PIPE,
                                text=True, check=True).stdout.strip()
    os.chdir(TOP)
    library = sorted(glob.glob(LIBRARY))
    headers = library + sorted(glob.glob(KERNEL))
    warnings, documented = read(kernel_doc, headers)
    ok(len(library) > 20 and len(headers) > len(library) and not warnings,
       f"the comments of {len(headers)} headers describe everything", *warnings)
    functions = {name: path for path in library for name in declared(path)}
    absent = [f"{functions[name]}: {name}() has no kernel-doc comment" for name in sorted(set(functions) - documented)]
    ok(len(functions) > 200 and not absent, f"{len(functions)} functions have a comment", *absent)

    comment = "/**\n * ntrace_x - text\n * @a: number\n *\n * Return: 0.\n */\n"
    plain = "NTRACE_API int ntrace_x(int a);\n"
    inline = "static inline int ntrace_x(int a)\n{\n\treturn a;\n}\n"
    ok(faults(kernel_doc, comment + plain) == faults(kernel_doc, comment + inline) == (0, set()),
       "a complete comment is accepted")
    ok(faults(kernel_doc, comment.replace(" * @a: number\n", "") + plain)[0] == 1, "a missing parameter is found")
    ok(faults(kernel_doc, comment.replace(" *\n * Return: 0.\n", "") + plain)[0] == 1, "a missing result is found")
    ok(all(faults(kernel_doc, other + declaration) == (0, {"ntrace_x"})
           for other in ("", "/* text */\n", "/** ntrace_x - text */\n") for declaration in (plain, inline)),
       "a function without a comment is found, and one with a comment of one line")
    struct = "/**\n * struct ntrace_x - text\n * @a: number\n */\nstruct ntrace_x {\n\tint a;\n\tint b;\n};\n"
    ok(faults(kernel_doc, struct)[0] == 1, "a missing member is found")
    done()


main()
