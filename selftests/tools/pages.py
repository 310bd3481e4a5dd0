#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Commands whose output a page of the documentation prints: runs them and compares.

usage: pages.py              tests README.md and all pages of Documentation
       pages.py --write PAGE prints the page with the outputs of today, for whoever changes them on purpose

A command stands in an indented block, after "$ ", with further lines after "> "; the lines that follow are its output, with
standard error. A line "..." stands for any lines. The commands of a page are typed into one shell, in a directory that has the
tree's build/, lib/ and Documentation/.

Many commands need hardware and are not run: of each command in any page, man page and help, the options must exist.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
END = "===== end of the output ====="
# Progress lines depend on the speed of the machine.
PROGRESS = re.compile(r"ntrace: \w+: +\d+ % of .*")


def parts(text):
    """The page as a list of lines outside of commands, and of [command lines, output lines]."""
    result, lines = [], text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("    $ "):
            result.append(lines[at])
            at += 1
            continue
        command = [lines[at][6:]]
        at += 1
        while at < len(lines) and lines[at].startswith("    > "):
            command.append(lines[at][6:])
            at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("    $ ") and (
                lines[at].startswith("    ") or (not lines[at] and at + 1 < len(lines) and lines[at + 1].startswith("    ")
                                                 and not lines[at + 1].startswith("    $ "))):
            output.append(lines[at][4:])
            at += 1
        result.append([command, output])
    return result


def run(commands):
    """What each command prints."""
    with tempfile.TemporaryDirectory() as directory:
        for name in ("build", "lib", "Documentation"):
            os.symlink(TOP / name, os.path.join(directory, name))
        script = "".join("{ " + "\n".join(command) + "\n} 2>&1\necho '" + END + "'\n" for command in commands)
        environment = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="120")
        printed = subprocess.run(["bash", "-c", script], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True).stdout
    # Outputs that do not end with a newline run into the mark.
    outputs = printed.split(END + "\n")[:-1]
    # A page does not show empty lines at the end.
    return [[line.rstrip() for line in output.rstrip().splitlines() if not PROGRESS.fullmatch(line)] for output in outputs]


def matches(expected, found):
    """Whether the lines are those, "..." being any lines."""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line.rstrip()) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in found)) is not None


def pages():
    """Pages that print commands with their outputs."""
    names = [TOP / "README.md", *sorted((TOP / "Documentation").rglob("*.md"))]
    return [name for name in names if re.search(r"^    \$ ", name.read_text(), re.M)]


def commands():
    """(page, subcommands, options) of each ntrace command in a page: in an indented line, or between backquotes."""
    names = [TOP / "README.md", *sorted(path for kind in ("md", "rst", "1", "7") for path in (TOP / "Documentation").rglob("*." + kind))]
    for name in names:
        text = name.read_text().replace("\\-", "-").replace("\\\n", " ")
        for line in re.findall(r"^(?:    |\.Dl ).*|`[^`\n]+`", text, re.M):
            for command in re.findall(r"(?<![-\w./])(?:build/)?ntrace ([a-z]\w*[^|;#`)']*)", line):
                words = command.split(" -- ")[0].split()
                # A word in quotes or after --objdump may look like an option of another program.
                yield name.relative_to(TOP), words, [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]


def known_options(words, found):
    """The options of a command, or of its subcommand; None: there is no such command."""
    for count in (2, 1):
        key = tuple(words[:count])
        if key not in found:
            printed = subprocess.run([TOP / "build/ntrace", *key, "--help"], capture_output=True, text=True)
            found[key] = None if printed.returncode else set(re.findall(r"(?<![-\w])--?[a-zA-Z][-\w]*", printed.stdout))
        if found[key] is not None:
            return found[key]
    return None


def write(name):
    found = parts(pathlib.Path(name).read_text())
    outputs = run([part[0] for part in found if isinstance(part, list)])
    for part in found:
        if not isinstance(part, list):
            print(part)
            continue
        print("\n".join(["    $ " + part[0][0]] + ["    > " + line for line in part[0][1:]]))
        kept = outputs.pop(0)
        for line in part[1] if matches(part[1], kept) else kept:
            print(("    " + line).rstrip())


def main():
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2])
        return
    sys.path.insert(0, str(HERE.parent))
    from tap import done, ok
    names = pages()
    ok(len(names) >= 2, f"{len(names)} pages print outputs")
    for name in names:
        found = [part for part in parts(name.read_text()) if isinstance(part, list)]
        outputs = run([part[0] for part in found])
        ok(len(outputs) == len(found), f"{name.relative_to(TOP)}: {len(found)} commands ran")
        for (command, expected), output in zip(found, outputs):
            ok(matches(expected, output), f"{name.relative_to(TOP)}: {' '.join(command)[:80]}",
               *("> " + line for line in output))
    helps, wrong, count = {}, [], 0
    for name, words, options in commands():
        known = known_options(words, helps)
        count += 1
        wrong += [f"{name}: ntrace {' '.join(words)}: {option}" for option in options if known is not None and option not in known]
    ok(count > 300 and not wrong, f"options of {count} commands exist", *wrong)
    done()


main()
