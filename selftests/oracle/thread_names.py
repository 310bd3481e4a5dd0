# SPDX-License-Identifier: GPL-2.0-only
"""Names of functions, for the witness's threads and for what they are compared with.

Code without a name that is known here is "*": what libraries do not export, the vDSO, stubs of a procedure linkage
table, and what the resolver of a library chooses: nm has a name for the resolver only. Of several names of an address,
the first one stands for all. A part of a function has the function's name, if there is one, and PART after it.
"""
import bisect
import functools
import os
import re
import subprocess

OTHER = "*"
PART = "@part"		# after names of parts of functions
LIBRARY = "@library"	# after names of functions of libraries
UNKNOWN = "[unknown]"
RESOLVER = " [resolver]"


def tool(name, *arguments):
    return subprocess.run([f"riscv64-linux-gnu-{name}", *arguments], check=True, capture_output=True, text=True).stdout


# "ffffffff80000000 0000000000000010 t name(of C++, too)", with or without the size
SYMBOL = re.compile(r"([0-9a-f]+)(?: ([0-9a-f]+))? (\S) (.*)")


def whole(name, functions):
    """The function that a part belongs to, as compilers and BOLT name parts, if it is one of the functions."""
    function = re.sub(r"(\.(cold|part)(\.\d+)*| \[clone \.(cold|part)(\.\d+)*\])+$", "", name)
    return function if function in functions else name


@functools.cache
def functions_of(path):
    """[(address in the file, names)], [(vaddr, size, offset)] of the executable segments, [(start, end)] of code."""
    segments, found, sized = [], {}, []
    for line in tool("readelf", "-lW", path).splitlines():
        word = line.split()
        if len(word) >= 8 and word[0] == "LOAD" and "E" in "".join(word[6:-1]):
            segments.append((int(word[2], 16), int(word[4], 16), int(word[1], 16)))
    sections = re.findall(r"^ *\d+ (\S+) +(\S+) +(\S+) .*\n.*CODE", tool("objdump", "-h", path), re.MULTILINE)
    code = [(int(start, 16), int(start, 16) + int(size, 16)) for name, size, start in sections if "plt" not in name]
    text = "".join(tool("nm", "--demangle", "--defined-only", "--print-size", *more, path) for more in ([], ["--dynamic"]))
    for match in filter(None, map(SYMBOL.fullmatch, text.splitlines())):
        address, size, kind, name = match.groups()
        name = re.sub("@.*", "", name)
        if kind not in "tTwWi" or name.startswith((".L", "$")):
            continue
        if kind == "i":
            # What the dynamic linker calls.
            name += RESOLVER
        address = int(address, 16)
        if not any(start <= address < end for start, end in code):
            continue
        if size:
            sized.append((address, address + int(size, 16)))
        found.setdefault(address, []).append((not size, name.split("\t")[0]))
    functions = {name for all_names in found.values() for _, name in all_names}
    found = {address: [(label, name if whole(name, functions) == name else whole(name, functions) + PART)
                       for label, name in all_names] for address, all_names in found.items()}
    # Labels within a function are not functions: glibc's __syscall_cancel_arch_end.
    sized.sort()
    names = []
    for address, all_names in sorted(found.items()):
        at = bisect.bisect_right(sized, (address, 1 << 64)) - 1
        if all(label for label, _ in all_names) and at >= 0 and sized[at][0] < address < sized[at][1]:
            continue
        names.append((address, [name for _, name in sorted(all_names, key=lambda item: item[0])]))
    # Behind an exported function comes code without a name.
    reach = 0
    for (start, end), after in zip(sized, sized[1:] + [(1 << 64, 0)]):
        reach = max(reach, end)
        if reach < after[0] and reach not in found:
            names.append((reach, [OTHER]))
    return sorted(names), segments, code


class Names:
    """The equal names of a set of programs."""

    def __init__(self):
        self.same, self.known, self.chosen = {}, set(), set()

    def add(self, paths):
        for names in (functions_of(path)[0] for path in paths):
            for _, all_names in names:
                self.add_names(all_names)

    def add_names(self, all_names):
        all_names = [name.removesuffix(PART) for name in all_names]
        self.chosen.update(name.removesuffix(RESOLVER) for name in all_names if name.endswith(RESOLVER))
        first = self.root(all_names[0])
        self.known.add(first)
        for name in all_names[1:]:
            root = self.root(name)
            if root != first:
                self.same[root] = first
                self.known.discard(root)

    def root(self, name):
        while name in self.same:
            name = self.same[name]
        return name

    def one(self, name):
        if name in (UNKNOWN, OTHER):
            return name
        name = re.sub(r" \[(?!resolver)[\w ]+\]$", "", name)
        root = self.root(name)
        return root if root in self.known and name not in self.chosen else OTHER

    def path(self, names):
        """Canonical names, with one frame for consecutive frames without a name."""
        names = [self.one(name) for name in names]
        return tuple(name for i, name in enumerate(names) if name != OTHER or not i or names[i - 1] != OTHER)


def mapped(start, offset, path):
    """[(address, names)] of a file of which the part from offset on is mapped at start."""
    names, segments, code = functions_of(path)
    vaddr, _, where = min(segments, key=lambda item: abs(item[2] // 4096 - offset // 4096))
    bias = start - offset - (vaddr - where)
    at = {address + bias: all_names for address, all_names in names}
    at.update({end + bias: [OTHER] for _, end in code if end + bias not in at})
    return at


def read_sideband(recording, perf="perf"):
    """[(seconds as text, text)] of the records of tasks and mappings, in order."""
    out = subprocess.run([perf, "script", "-i", os.path.join(recording, "data"), "--ns", "--show-mmap-events",
                          "--show-task-events"], check=True, capture_output=True, text=True, errors="replace").stdout
    return [match.groups() for match in re.finditer(r" (\d+\.\d{9}): PERF_RECORD_((?:COMM exec:|MMAP2) .*)", out)]


def spaces(recording, root, begin, perf="perf"):
    """{(pid, exec): {address: names}}, {(pid, exec): program} and the files: exec 0 is what ran at nanosecond begin, the
    others are later."""
    execs, found, programs, files = {}, {}, {}, set()
    for time, text in read_sideband(recording, perf):
        match = re.match(r"COMM exec: .*:(\d+)/\d+$", text)
        if match:
            pid = int(match.group(1))
            if int(time.replace(".", "")) < begin:
                found.pop((pid, 0), None)
                programs.pop((pid, 0), None)
            else:
                execs[pid] = execs.get(pid, 0) + 1
            continue
        match = re.match(r"MMAP2 (-?\d+)/-?\d+: \[(\w+)\((\w+)\) @ (\w+) .*\]: ..x. (/.*)$", text)
        if not match:
            continue
        pid, path = int(match.group(1)), os.path.join(root, match.group(5).lstrip("/"))
        # Links of a root directory are relative to it.
        for _ in range(20):
            if not os.path.islink(path) or os.path.exists(path):
                break
            path = os.path.join(root, os.readlink(path).lstrip("/"))
        if os.path.isfile(path):
            files.add(path)
            at = mapped(int(match.group(2), 16), int(match.group(4), 16), path)
            key = pid, execs.get(pid, 0)
            # The kernel maps the program first.
            if programs.setdefault(key, os.path.basename(path)) != os.path.basename(path):
                at = {address: [all_names[0] + LIBRARY] for address, all_names in at.items()}
            found.setdefault(key, {}).update(at)
    return found, programs, files


def kernel_functions(recording):
    """{address: names} of the kernel's text."""
    found = {}
    with open(os.path.join(recording, "images", "kallsyms")) as file:
        for line in file:
            address, kind, name = line.split(maxsplit=2)
            if kind in "tTwW" and not name.startswith((".L", "$", "__pi_.L")):
                found.setdefault(int(address, 16), []).append(name.split("\t")[0].strip())
    return found


def write_symbols(found, kernel, names, path):
    """Input of the program threads."""
    with open(path, "w") as file:
        print("kernel", file=file)
        for address, all_names in sorted(kernel.items()):
            print(f"{address:x}\t{all_names[0]}", file=file)
        for (pid, number), at in sorted(found.items()):
            print(f"space {pid} {number}", file=file)
            for address, all_names in sorted(at.items()):
                if address:
                    name = all_names[0].removesuffix(LIBRARY)
                    library = all_names[0][len(name):]
                    part = "\tpart" if name.endswith(PART) else ""
                    print(f"{address:x}\t{names.one(name.removesuffix(PART))}{library}{part}", file=file)
