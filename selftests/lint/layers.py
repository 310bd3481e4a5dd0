#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that files include, and refer to, lower layers only, by the table
selftests/lint/layers.

    layers.py         checks the tree and Documentation/architecture.md
    layers.py --draw  prints the picture for Documentation/architecture.md
"""
import os
import pathlib
import re
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
TABLE = TOP / "selftests/lint/layers"
PICTURE = re.compile(r"<!-- layers: begin -->\n```\n(.*?)```\n<!-- layers: end -->", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
# At the start of a line: a function that is not static, a static inline function of a header, a variable.
FUNCTION = re.compile(r"^(?!static\b|typedef\b|else\b|#)[A-Za-z_][^;={}()]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
INLINE = re.compile(r"^static inline [^;={}()]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
VARIABLE = re.compile(r"^(?!static\b|extern\b|typedef\b|#)[A-Za-z_][\w\s*]*?\b(\w+)(?:\[[^]]*\])*\s*=|^DEFINE_\w+\((\w+)\);", re.M)


class Section:
    """One part of the tree: its units in layers, and the arrows that the table allows."""

    def __init__(self, folder, kind, calls):
        self.folder, self.kind, self.calls = folder, kind, calls
        self.layer, self.beside, self.knows, self.public = {}, {}, {}, {}
        self.errors = []


def parse(text):
    """Returns the sections of a table; the file itself describes the format."""
    sections = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        head = re.fullmatch(r"\[(\S+)\] (files|folders)( calls)?", line)
        if head:
            sections.append(Section(head[1], head[2], bool(head[3])))
            continue
        entry = re.fullmatch(r"(layer|beside|knows|public) (\S+):(.*)", line)
        if not entry or not sections:
            sys.exit(f"{TABLE.name}:{number}: not understood: {line}")
        section, word, name, names = sections[-1], entry[1], entry[2], entry[3].split()
        if word == "layer":
            for unit in names:
                if unit in section.layer:
                    section.errors.append(f"{section.folder}: {unit} is in two layers")
                section.layer[unit] = int(name)
        elif word == "public":
            section.public.update({header: name for header in names})
        else:
            getattr(section, word)[name] = set(names)
    return sections


def code(text):
    """Returns C without comments and strings; include lines remain."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'^(?!\s*#\s*include)(.*)$', lambda m: re.sub(r'"(?:\\.|[^"\\])*"', '""', m[1]), text, flags=re.M)


class Tree:
    """Returns the files of a section, each with its unit."""

    def __init__(self, top, section):
        self.root = top / section.folder
        self.section = section
        self.headers = self.root / "include/ntrace"
        self.text = {path: code(path.read_text()) for path in sorted(self.root.rglob("*.[ch]"))
                     if not path.name.endswith(".mod.c")}

    def unit(self, path):
        """Returns the unit of a file, or None for a public header that the table does not name."""
        if path.parent == self.headers:
            return self.section.public.get(path.name)
        inside = path.relative_to(self.root)
        if self.section.kind == "files" or len(inside.parts) == 1:
            return path.stem
        folder = str(inside.parent)
        while folder not in self.section.layer and "/" in folder:
            folder = folder.rpartition("/")[0]
        return folder

    def included(self, path):
        """Yields the files of this section that a file includes."""
        for quote, name in INCLUDE.findall(self.text[path]):
            places = [self.root / "include" / name] if quote == "<" else [path.parent / name, self.root / name]
            for place in places:
                place = pathlib.Path(os.path.normpath(place))
                if place in self.text:
                    yield place
                    break
            else:
                # An -I option finds the file: it may be any file of that name.
                if quote == '"':
                    yield from (other for other in self.text if str(other).endswith("/" + name))

    def defined(self):
        """Returns functions and variables that other files can see, with the unit of each."""
        names = {}
        for path, text in self.text.items():
            found = INLINE.findall(text) if path.suffix == ".h" else FUNCTION.findall(text)
            if path.suffix == ".c":
                found += [a or b for a, b in VARIABLE.findall(text)]
            names.update({name: self.unit(path) for name in found})
        return names


def arrows(tree):
    """Yields (file, its unit, the other unit, reason) for all uses of other units."""
    names = tree.defined() if tree.section.calls else {}
    for path, text in tree.text.items():
        unit = tree.unit(path)
        for other in tree.included(path):
            yield path, unit, tree.unit(other), f"includes {other.relative_to(tree.root)}"
        if path.suffix == ".c":
            for word in sorted(set(re.findall(r"\b\w+\b", text)) & names.keys()):
                yield path, unit, names[word], f"uses {word}"


def circle(graph):
    """Returns a unit that depends on itself, or None."""
    for start in graph:
        seen, todo = set(), list(graph[start])
        while todo:
            unit = todo.pop()
            if unit == start:
                return start
            if unit not in seen:
                seen.add(unit)
                todo += graph.get(unit, ())
    return None


def check_section(top, section):
    """Returns the mistakes of one section, as lines."""
    tree = Tree(top, section)
    layer, wrong, used = section.layer, list(section.errors), set()
    units = {path: tree.unit(path) for path in tree.text}
    for path, unit in units.items():
        if unit not in layer:
            wrong.append(f"{path.relative_to(top)}: in no layer")
    wrong += [f"{section.folder}: {unit}: no such file or folder" for unit in layer if unit not in units.values()]
    wrong += [f"{section.folder}: {name}: no such header" for name in section.public
              if not (tree.headers / name).is_file()]
    for path, unit, other, reason in arrows(tree):
        if unit == other or unit not in layer or other not in layer:
            continue
        used.add((unit, other))
        where = f"{path.relative_to(top)}: {reason} of {other}"
        if layer[other] > layer[unit]:
            wrong.append(f"{where}, layer {layer[other]} above {layer[unit]}")
        elif layer[other] == layer[unit] and other not in section.beside.get(unit, ()):
            wrong.append(f"{where}, in the same layer")
        elif unit in section.knows and other not in section.knows[unit] | section.beside.get(unit, set()):
            wrong.append(f"{where}, which {unit} may not know")
    for word in ("beside", "knows"):
        for unit, others in getattr(section, word).items():
            wrong += [f"{section.folder}: '{word} {unit}: {other}' is not needed" for other in sorted(others)
                      if (unit, other) not in used]
    if circle(section.beside):
        wrong.append(f"{section.folder}: a circle through {circle(section.beside)}")
    return wrong


def draw(sections):
    """Returns the layers as text, the highest first."""
    lines = []
    for section in sections:
        lines += [section.folder] if not lines else ["", section.folder]
        width = max(map(len, section.layer)) + 1
        for number in sorted(set(section.layer.values()), reverse=True):
            units = sorted(unit for unit, layer in section.layer.items() if layer == number)
            if not section.knows:
                lines.append(f"  {number}  " + "  ".join(units))
                continue
            for unit in units:
                known = " ".join(sorted(section.knows.get(unit, ())))
                lines.append(f"  {number}  {unit:<{width}}{'-> ' + known if known else ''}".rstrip())
    return "\n".join(lines) + "\n"


def planted(what, table, files, expected):
    """Checks a made-up tree, in which the checker has to find exactly this."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMP") or None) as folder:
        top = pathlib.Path(folder)
        for name, text in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
        found = [line for section in parse(table) for line in check_section(top, section)]
    ok(found == expected, what, *found)


def check_checker():
    """Tests that the checker finds planted mistakes."""
    table = "[k] files calls\nlayer 0: low\nlayer 1: high side\n"
    good = {"k/low.h": "int low(void);\n", "k/low.c": '#include "low.h"\nint low(void)\n{\n\treturn 0;\n}\n',
            "k/high.c": '#include "low.h"\nint high(void)\n{\n\treturn low();\n}\n', "k/side.c": "/* high() */\n"}
    planted("a made-up tree: good", table, good, [])
    planted("a call upward is found", table, good | {"k/low.c": "int low(void)\n{\n\treturn high();\n}\n"},
            ["k/low.c: uses high of high, layer 1 above 0"])
    planted("an operation that points upward is found", table,
            good | {"k/low.c": "const struct ops low = {\n\t.call = high,\n};\n"},
            ["k/low.c: uses high of high, layer 1 above 0"])
    planted("an include upward is found", table, good | {"k/high.h": "", "k/low.h": '#include "high.h"\n'},
            ["k/low.h: includes high.h of high, layer 1 above 0"])
    planted("a call in the same layer is found", table, good | {"k/side.c": "int side(void)\n{\n\treturn high();\n}\n"},
            ["k/side.c: uses high of high, in the same layer"])
    planted("unless the table has it", table + "beside side: high\n",
            good | {"k/side.c": "int side(void)\n{\n\treturn high();\n}\n"}, [])
    planted("a superfluous arrow is found", table + "beside side: high\n", good,
            ["k: 'beside side: high' is not needed"])
    planted("a file in no layer is found", table, good | {"k/new.c": ""}, ["k/new.c: in no layer"])
    planted("a layer without its file is found", table + "layer 2: gone\n", good, ["k: gone: no such file or folder"])
    table = "[l] folders\nlayer 0: a\nlayer 1: b\nlayer 2: c\nknows b: a\nknows c: b\npublic a: a.h\n"
    good = {"l/a/a.c": "", "l/b/b.c": "#include <ntrace/a.h>\n", "l/c/c.c": '#include "b/b.h"\n', "l/b/b.h": "",
            "l/include/ntrace/a.h": ""}
    planted("made-up folders: good", table, good, [])
    planted("an arrow down that a folder may not have is found", table,
            good | {"l/c/d.c": "#include <ntrace/a.h>\n"}, ["l/c/d.c: includes include/ntrace/a.h of a, which c may not know"])
    planted("an include by name alone is found", table, good | {"l/a/a.c": '#include "b.h"\n'},
            ["l/a/a.c: includes b/b.h of b, layer 1 above 0"])
    planted("a public header without an owner is found", table, good | {"l/include/ntrace/x.h": ""},
            ["l/include/ntrace/x.h: in no layer"])


SECTIONS = parse(TABLE.read_text())
if sys.argv[1:] == ["--draw"]:
    print(draw(SECTIONS), end="")
    sys.exit()
sys.path.insert(0, str(TOP / "selftests"))
from tap import done, ok  # noqa: E402  (it prints)

check_checker()
for part in SECTIONS:
    complaints = check_section(TOP, part)
    ok(not complaints, f"{part.folder}: all arrows run down", *complaints)
pictures = PICTURE.findall((TOP / "Documentation/architecture.md").read_text())
ok(pictures == [draw(SECTIONS)], "Documentation/architecture.md has what layers.py --draw prints")
done()
