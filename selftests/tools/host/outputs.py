#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Outputs of ntrace: each is complete, or what was there before is unchanged, and no temporary file is left.

outputs.py NTRACE DIRECTORY: with the recording r1 of small_recordings.sh, and tour, which has an archive; prints "ok TEXT" or
"failed TEXT" for each test. The list of writers comes from the help of the command: one that this file does not know is a failure.
"""
import errno
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

NTRACE, TOP = sys.argv[1:]
OLD = b"important\n"
os.chdir(TOP)


def test(good, text, *why):
    print("ok" if good else "failed", text, flush=True)
    if not good:
        for item in why:
            print("   ", repr(item)[:600], flush=True)


# In the background, and with nohup, a shell ignores these, and commands would go on ignoring them.
for ignored in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
    signal.signal(ignored, signal.SIG_DFL)


def run(*words, before=None, source=subprocess.DEVNULL, **more):
    done = subprocess.run([NTRACE, *words], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=before, check=False, **more)
    return done.returncode, done.stderr.decode(errors="replace")


def make(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


# ---- inputs, good and bad ----
make("wave.map", "ntrace-ingress 1 xlen=64 itype=4 groups=1 port=block\nclock t.clk\nreset =0\nhalted =0\npriv =0x3\nitype t.itype\n"
     "iretire t.iretire\niaddr t.iaddr\nilastsize =1\n")
make("wave.vcd", "$scope module t $end\n$var wire 1 ! clk $end\n$var wire 4 # itype $end\n$var wire 3 $ iretire $end\n$var wire 64 % iaddr $end\n"
     "$upscope $end\n$enddefinitions $end\n#0\n0!\nb0 #\nb10 $\nb1000 %\n#5\n1!\n#10\n0!\n#15\n1!\n")
make("bad.vcd", "$scope module t $end\n$var wire 1 ! clk $end\n$var wire 4 # itype $end\n$var wire 3 $ iretire $end\n$var wire 64 % iaddr $end\n"
     "$upscope $end\n$enddefinitions $end\n#0\n0!\nb0 #\nb10 $\nb1000 %\n#5\n1!\n#10\n0!\nbx %\n#15\n1!\n")
make("params", "")
os.unlink("params")
run("count", "-o", "counts", "r1")
with open("counts", "rb") as file:
    half = file.read()
with open("bad.counts", "wb") as file:
    file.write(half[:len(half) // 2])
with open("first.pcs", encoding="utf-8") as file:
    pcs = file.read()
make("bad.pcs", pcs + "0xdeadbeef000\n")
PARAMS = "tsbits=40,tshz=1000000,mode=htm"
run("encode", "--pcs", "first.pcs", "--elf", "two_tasks", "--mode", "htm", "-o", "one.nex", "--record-ingress", "one.ingress")
with open("one.ingress", encoding="utf-8") as file:
    make("bad.ingress", "".join(file.readlines()[:-3]) + "c nonsense\n")
with open("one.txt", "w", encoding="utf-8") as file:
    subprocess.run([NTRACE, "dump", "--json", "one.nex"], stdout=file, check=True)
with open("one.txt", encoding="utf-8") as file:
    make("bad.txt", file.read() + "nonsense\n")
for name, src in ("a.nex", "0"), ("b.nex", "1"):
    run("encode", "--pcs", "first.pcs", "--elf", "two_tasks", "--mode", "htm", "--params", "srcbits=1", "--src", src, "-o", name)
with open("ab.nex", "wb") as file:
    for name in "a.nex", "b.nex":
        with open(name, "rb") as part:
            file.write(part.read())
FORMATS = re.findall(r"^  ([a-z][a-z-]+(?:, [a-z-]+)*)  ", subprocess.run([NTRACE, "export", "--help"], stdout=subprocess.PIPE, text=True, check=True)
                     .stdout.split("formats:")[1].split("\n\n")[0], re.M)
FORMATS = [name for names in FORMATS for name in names.split(", ")]

# name: words with {o}, the output, and {i}, a file that is an input or None; its good and its bad content, or words that fail
WRITERS = {
    "report --html": (["report", "--html", "{o}", "r1"], ["report", "--html", "{o}", "--pid", "4711", "r1"], "r1/data"),
    "count --output": (["count", "-o", "{o}", "r1"], ["count", "-o", "{o}", "--pid", "4711", "r1"], "r1/data"),
    "merge --output": (["merge", "-o", "{o}", "counts"], ["merge", "-o", "{o}", "counts", "bad.counts"], "counts"),
    "encode --output": (["encode", "--pcs", "first.pcs", "--elf", "two_tasks", "--mode", "htm", "-o", "{o}"],
                        ["encode", "--pcs", "bad.pcs", "--elf", "two_tasks", "--mode", "htm", "-o", "{o}"], "two_tasks"),
    "encode --record-ingress": (["encode", "--pcs", "first.pcs", "--elf", "two_tasks", "--mode", "htm", "-o", "/dev/null", "--record-ingress", "{o}"],
                                ["encode", "--pcs", "bad.pcs", "--elf", "two_tasks", "--mode", "htm", "-o", "/dev/null", "--record-ingress", "{o}"],
                                "first.pcs"),
    "assemble --output": (["assemble", "-o", "{o}", "one.txt"], ["assemble", "-o", "{o}", "bad.txt"], "one.txt"),
    "ingress --output": (["ingress", "import", "--map", "wave.map", "-o", "{o}", "wave.vcd"],
                         ["ingress", "import", "--map", "wave.map", "-o", "{o}", "bad.vcd"], "wave.map"),
    "tandem --output": (["tandem", "convert", "--from", "ingress", "--elf", "two_tasks", "-o", "{o}", "one.ingress"],
                        ["tandem", "convert", "--from", "ingress", "--elf", "two_tasks", "-o", "{o}", "bad.ingress"], "one.ingress"),
    "split --output": (["split", "--force", "--params", "srcbits=1", "-o", "{d}", "ab.nex"], ["split", "--force", "--params", "srcbits=1", "-o", "{d}", "none"], "ab.nex"),
}
for name in FORMATS:
    one = ["-b", "two_tasks"] if name in ("gcov", "autofdo", "profgen", "bolt", "bolt-bf", "perfscript") else []
    WRITERS[f"export -f {name}"] = (["export", "-f", name, "--period", "100", "-o", "{o}", *one, "r1"], ["export", "-f", name, "-o", "{o}", "--pid", "4711", "r1"], "r1/data")
run("export", "-f", "perf-data", "--period", "100", "-o", "samples", "r1")
WRITERS["export -f perfscript"] = tuple([word if word != "r1" else "samples" for word in words if word not in ("--period", "100")]
                                        for words in WRITERS["export -f perfscript"][:2]) + ("samples",)
# Directories: those that the machine's trace is written to, and those that are made beside an option.
DIRECTORIES = {"record --output": "a recording, which is complete at each moment", "trigger --output": "the same",
               "collect --output": "sums of counts, as those of merge"}

found = {f"export -f {name}" for name in FORMATS}
for command in re.findall(r"^  ([a-z]+) ", subprocess.run([NTRACE, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout, re.M):
    if command == "ntrace":
        continue
    text = subprocess.run([NTRACE, command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for option, what in re.findall(r"^ +(?:-., )?--([a-z-]+) [A-Z][^ ]*\s+(.*)$", text, re.M):
        if option == "output" or re.search(r"\bwrite\b", what):
            found.add(f"{command} --{option}")
found.discard("export --output")
test(found == set(WRITERS) | set(DIRECTORIES), "the test knows every writer of the help", found ^ (set(WRITERS) | set(DIRECTORIES)))

# ---- the matrix ----
def user():
    """Without root's permissions, which include all."""
    if not os.getuid():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def full(size):
    """The disk is full: no file grows beyond these bytes."""
    def before():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return before


small = full(20)

# Of file systems that this machine may not have: what they cannot do, and how they fail.
HARMLESS_FAULTS = {"fchmod": (errno.EPERM, errno.ENOTSUP, errno.ENOSYS), "fchown": (errno.EPERM,), "fsync": (errno.EINVAL,), "flock": (errno.ENOLCK, errno.ENOSYS),
                   "renameat2": (errno.EINVAL, errno.ENOSYS), "tmpfile": (errno.EOPNOTSUPP, errno.EISDIR)}
FAULTS = {"fchmod": (errno.EIO,), "fsync": (errno.EIO, errno.ENOSPC, errno.EDQUOT), "rename": (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENOENT)}


def faults(table):
    return [(f"{call} fails: {os.strerror(number)}", number, {**os.environ, "LD_PRELOAD": f"{TOP}/faulty_disk.so", "NTRACE_FAULT": f"{call} {number}"})
            for call, numbers in table.items() for number in numbers]



class Place:
    """A new directory with the output, whose old content is OLD."""

    def __init__(self, name, words):
        self.directory = "place"
        shutil.rmtree(self.directory, ignore_errors=True)
        os.mkdir(self.directory)
        os.chmod(self.directory, 0o777)
        self.file = f"{self.directory}/ab.0.nex" if "{d}" in words else f"{self.directory}/out"
        if "{d}" in words:
            run(*self.words(words))
            self.file = f"{self.directory}/{sorted(os.listdir(self.directory))[0]}"
            for other in os.listdir(self.directory):
                os.unlink(f"{self.directory}/{other}")
        self.put(OLD)
        self.name = name

    def words(self, words, output=None):
        return [word.format(o=output or self.file, d=self.directory) for word in words]

    def put(self, content):
        with open(self.file, "wb") as file:
            file.write(content)
        os.chmod(self.file, 0o666)

    def unchanged(self, text, *why):
        with open(self.file, "rb") as file:
            now = file.read()
        left = os.listdir(self.directory)
        test(now == OLD and left == [os.path.basename(self.file)], f"{self.name}: {text}: the old file, and nothing else", now[:60], left, *why)


for name, (good, bad, source) in WRITERS.items():
    place = Place(name, good)
    os.unlink(place.file)
    status, said = run(*place.words(good))
    test(not status and os.path.exists(place.file), f"{name}: a new file", status, said)
    if not os.path.exists(place.file):
        continue
    with open(place.file, "rb") as file:
        whole = file.read()
    files = sorted(os.listdir(place.directory))

    place.put(OLD)
    os.chmod(place.file, 0o600)
    status, said = run(*place.words(good))
    with open(place.file, "rb") as file:
        test(not status and file.read() == whole and sorted(os.listdir(place.directory)) == files and os.stat(place.file).st_mode & 0o777 == 0o600,
             f"{name}: replaces a file as a whole, and keeps its permissions", status, said, os.listdir(place.directory))

    place = Place(name, good)
    status, said = run(*place.words(bad))
    test(status not in (0, 3), f"{name}: fails with a bad input", status, said)
    place.unchanged("a bad input", said)

    place = Place(name, good)
    status, said = run(*place.words(good), before=small)
    # The temporary files of a count are elsewhere.
    test(status == 1 and re.search(r"error: (place|/tmp).*: File too large", said), f"{name}: a full disk: the message says what, and where", status, said)
    place.unchanged("a full disk", said)
    for size in len(whole) // 2, len(whole) - 1:
        place = Place(name, good)
        status, said = run(*place.words(good), before=full(size))
        test(status == 1 and re.search(r"error: (place|/tmp).*: File too large", said), f"{name}: full at byte {size}", status, said)
        place.unchanged(f"full at byte {size}", said)
    if "{o}" in good and name not in ("export -f sqlite", "export -f perf-data"):
        status, said = run(*place.words(good, "/dev/full"))
        test(status == 1 and "No space left on device" in said, f"{name}: /dev/full", status, said)

    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        place = Place(name, good)
        status, said = run(*place.words(good), env={**os.environ, "LD_PRELOAD": f"{TOP}/before_rename.so", "NTRACE_SIGNAL": str(int(number))})
        test(status == -number, f"{name}: {number.name} before the end", status, said)
        place.unchanged(number.name, said)

    for fault, _number, environment in faults(HARMLESS_FAULTS):
        place.put(OLD)
        status, said = run(*place.words(good), env=environment)
        with open(place.file, "rb") as file:
            test(not status and file.read() == whole and sorted(os.listdir(place.directory)) == files, f"{name}: {fault}: is written", status, said,
                 os.listdir(place.directory))
    for fault, number, environment in faults(FAULTS):
        place = Place(name, good)
        status, said = run(*place.words(good), env=environment)
        test(status == 1 and re.search(rf"error: (place|/tmp).*: {os.strerror(number)}", said), f"{name}: {fault}: the message says what, and where", status, said)
        place.unchanged(fault, said)

    # Nothing can remove the temporary file then, but the next run does. It leaves a name that a user may have given.
    place = Place(name, good)
    status, said = run(*place.words(good), env={**os.environ, "LD_PRELOAD": f"{TOP}/before_rename.so", "NTRACE_SIGNAL": str(int(signal.SIGKILL))})
    left = os.listdir(place.directory)
    with open(place.file, "rb") as file:
        test(status == -signal.SIGKILL and file.read() == OLD and all(other == os.path.basename(place.file) or re.search(r"\.unfinished-[A-Za-z0-9]{6}$", other) for other in left),
             f"{name}: SIGKILL before the end: the old file", status, said, left)
    make(f"{place.file}.backup", "kept\n")
    status, said = run(*place.words(good))
    left = sorted(os.listdir(place.directory))
    test(not status and left == sorted([*files, os.path.basename(f"{place.file}.backup")]), f"{name}: the next run removes what SIGKILL left", status, said, left)
    # A reader that closes the pipe is no error to talk about, but the command has not written all.
    if "{o}" in good and name not in ("export -f sqlite", "export -f perf-data"):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([NTRACE, *place.words(good, "-")], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        test(done.returncode in (1, -signal.SIGPIPE) and b"error" not in done.stderr, f"{name}: a closed pipe", done.returncode, done.stderr)

    if "{o}" in good:
        with open(source, "rb") as file:
            before = file.read()
        names = sorted(os.listdir(os.path.dirname(source) or "."))
        status, said = run(*place.words(good, source))
        with open(source, "rb") as file:
            test(status == 1 and "the output is also an input" in said and file.read() == before and
                 sorted(os.listdir(os.path.dirname(source) or ".")) == names, f"{name}: refuses an output that is an input", status, said)
        with open(source, "wb") as file:
            file.write(before)

    # Standard input is an input whatever its name is, also that of a link.
    place = Place(name, good)
    with open(place.file, "rb") as file:
        status, said = run(*place.words(good), source=file)
    test(status == 1 and "the output is also an input" in said, f"{name}: refuses standard input", status, said)
    place.unchanged("standard input", said)

    place = Place(name, good)
    os.rename(place.file, f"{place.directory}/real")
    os.symlink("real", place.file)
    status, said = run(*place.words(good))
    with open(f"{place.directory}/real", "rb") as file:
        test(not status and file.read() == whole and os.path.islink(place.file), f"{name}: follows a symbolic link", status, said)

    place = Place(name, good)
    os.chmod(place.directory, 0o555)
    status, said = run(*place.words(good), before=user)
    test(status == 1 and "Permission denied" in said and place.directory in said, f"{name}: a directory that cannot be written", status, said)
    place.unchanged("a directory that cannot be written", said)
    os.chmod(place.directory, 0o777)

    # Programs and sources that only the recording names.
    for kept in ("two_tasks", "two_tasks.S") if name == "report --html" else ("two_tasks",) if "{o}" in good else ():
        with open(kept, "rb") as file:
            before = file.read()
        status, said = run(*place.words(good, kept))
        with open(kept, "rb") as file:
            test(status == 1 and re.search("the output (is also an input|would replace a program)", said) and file.read() == before,
                 f"{name}: does not replace {kept}", status, said)
        with open(kept, "wb") as file:
            file.write(before)

# An input that only a list names, and one behind "=" and before "@".
shutil.copy("counts", "other")
make("list", "other\n")
status, said = run("merge", "--files-from", "list", "-o", "other")
test(status == 1 and "the output is also an input" in said and os.path.getsize("other") == len(half), "merge: refuses a file of a list", status, said)
# What is no list of files has an end, however long it is.
for name, why in {"/dev/zero": "line 1: not a path: a byte of 0", "long": "line 3: not a path: too long"}.items():
    make("long", "counts\r\n\n" + "x" * 5000)
    status, said = run("merge", "--files-from", name, "-o", "place/out", timeout=60)
    test(status == 1 and f"error: {name}: {why}" in said, f"merge: {name} is not a list", status, said)
shutil.copy("two_tasks", "program")
status, said = run("encode", "--pcs=first.pcs", "--elf=program@0x10000", "--mode", "htm", "--output=program")
test(status == 1 and "the output is also an input" in said, "encode: refuses --elf=FILE@ADDR", status, said)

# Every way to standard input, and to the file that it is.
for name in "s", "link", "hard", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
    for word in "-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0":
        for other in "s", "link", "hard":
            if os.path.lexists(other):
                os.unlink(other)
        shutil.copy("one.txt", "s")
        os.symlink("s", "link")
        os.link("s", "hard")
        with open("s", "rb") as file:
            status, said = run("assemble", "-o", name, word, source=file)
        with open("s", "rb") as file, open("one.txt", "rb") as before:
            test(status == 1 and "the output is also an input" in said and file.read() == before.read(), f"assemble -o {name} {word}: refused", status, said)
with open("s", "rb") as file, open("s", "ab") as end:
    done = subprocess.run([NTRACE, "assemble", "-o", "-", "-"], stdin=file, stdout=end, stderr=subprocess.PIPE, check=False)
with open("s", "rb") as file, open("one.txt", "rb") as before:
    test(done.returncode == 1 and b"the output is also an input" in done.stderr and file.read() == before.read(), "assemble - appended to its input: refused", done)
shutil.copy("samples", "s")
with open("s", "rb") as file:
    status, said = run("export", "-f", "perfscript", "-b", "two_tasks", "-o", "s", "-", source=file)
with open("s", "rb") as file, open("samples", "rb") as before:
    test(status == 1 and "the output is also an input" in said and file.read() == before.read(), "export of a perf.data file of standard input to the same", status, said)

# A word that names no file, although one has its name.
for words in (("-f", "csv"), ("--format=csv",)):
    make("csv", "old\n")
    status, said = run("export", *words, "-o", "csv", "r1")
    with open("csv", encoding="utf-8") as file:
        test(not status and file.read() != "old\n", f"export {words[0]}: a file with the name of the format is written", status, said)

# A file that the recording does not have yet.
shutil.copytree("r1", "whole", symlinks=True)
shutil.rmtree("whole/archive", ignore_errors=True)
if os.path.exists("whole/index"):
    os.unlink("whole/index")
for name, (good, _bad, source) in WRITERS.items():
    if source == "r1/data":
        names = sorted(os.listdir("whole"))
        status, said = run(*[word.format(o="whole/index").replace("r1", "whole") for word in good])
        test(status == 1 and "the output is also an input" in said and not os.path.exists("whole/index"), f"{name}: refuses a new file of the recording",
             status, said)

# The index is written without being asked for: not through a link, which the maker of a recording has set.
make("victim", "precious\n")
for words in (("decode", "--offset", "0,20", "whole"), ("index", "whole")):
    if os.path.lexists("whole/index"):
        os.unlink("whole/index")
    os.symlink("../victim", "whole/index")
    status, said = run(*words)
    with open("victim", "rb") as file:
        test(file.read() == b"precious\n" and os.path.islink("whole/index"), f"{words[0]}: does not write an index through a link", status, said)
os.unlink("whole/index")
# A file that ntrace has not made keeps its content, beside a trace and in a recording; a damaged index is made again.
RAW = ["--elf", "two_tasks", "--params", "tsbits=40"]
for words, name in (["index", "whole"], "whole/index"), (["index", *RAW, "one.nex"], "one.nex.index"):
    make(name, "precious\n")
    status, said = run(*words)
    with open(name, encoding="utf-8") as file:
        test(status == 1 and file.read() == "precious\n" and f"{name}: something of that name was not made by ntrace, and is left as it is: move it away" in said,
             f"{name}: another file is not replaced", status, said)
    status, said = run("report", "--offset", "0,20", *words[1:])
    with open(name, encoding="utf-8") as file:
        test(status in (0, 3) and file.read() == "precious\n", f"{name}: nor by a command that would like one", status, said)
    os.unlink(name)
    os.symlink(os.path.basename(name), name)
    status, said = run(*words)
    test(status == 1 and os.path.islink(name) and re.search(f"{name}: a link, which may lead to any file, and is not followed: remove it|a link that leads out of the recording", said),
         f"{name}: a link to itself", status, said)
    os.unlink(name)
    status, said = run(*words)
    with open(name, "rb") as file:
        whole = file.read()
    for damaged in b"", whole[:5], whole[:-1]:
        with open(name, "wb") as file:
            file.write(damaged)
        status, said = run(*words)
        with open(name, "rb") as file:
            test(status == 0 and file.read() == whole, f"{name}: one of {len(damaged)} bytes is made again", status, said)
    os.unlink(name)

# ---- standard output and standard error output that are inputs ----
def onto(words, name, descriptor=1, flags=os.O_RDWR, source=None):
    """Runs a command whose stream is the file @name, as `1<>name` and `>>name` do. Returns (status, message, whether it is unchanged)."""
    with open(name, "rb") as file:
        before = file.read()
    stream = os.open(name, flags)
    streams = [subprocess.PIPE, subprocess.PIPE]
    streams[descriptor - 1] = stream
    with open(source or os.devnull, "rb") as file:
        done = subprocess.run([NTRACE, *words], stdin=file, stdout=streams[0], stderr=streams[1], check=False, timeout=60)
    os.close(stream)
    with open(name, "rb") as file:
        after = file.read()
    with open(name, "wb") as file:
        file.write(before)
    return done.returncode, (done.stderr or done.stdout or b"").decode(errors="replace"), after == before


READERS = {
    "report": ["r1/params", "r1/data", "r1/aux.0", "r1/images/vdso", "two_tasks"], "decode": ["r1/aux.1"], "dump": ["r1/aux.0"], "stat": ["r1/data"], "check": ["r1/aux.0"],
    "index": ["r1/params"], "archive": ["r1/data"], "report --json": ["r1/aux.0"], "report --annotate leaf": ["two_tasks.S", "two_tasks"],
    "gdb --listen 0": ["r1/aux.0"], "count -o -": ["r1/aux.0", "two_tasks"], "export -f csv": ["r1/aux.0"], "export -f lcov": ["r1/data"], "export -f gcov -b two_tasks -o -": ["r1/params"],
}
CASES = [(words.split() + ["r1"], name) for words, names in READERS.items() for name in names] + [
    (["report", "samples"], "samples"), (["export", "-f", "lcov", "counts"], "counts"), (["merge", "-o", "-", "counts"], "counts"),
    (["merge", "-o", "-", "--files-from", "list"], "list"), (["merge", "-o", "-", "--files-from", "list"], "other"),
    (["detect", "one.nex"], "one.nex"), (["dump", "one.nex"], "one.nex"), (["dump", "./one.nex"], "one.nex"), (["dump", "--", "one.nex"], "one.nex"), (["split", "-o", "place", "ab.nex"], "ab.nex"),
    (["report", "--elf=two_tasks@0x10000", "one.nex"], "two_tasks"), (["report", "--raw", "one.txt@0x10000", "one.nex"], "one.txt"), (["decode", "--images", "im", "one.nex"], "im/80000"),
    (["assemble", "one.txt"], "one.txt"), (["ingress", "import", "--map", "wave.map", "-o", "-", "wave.vcd"], "wave.map"),
    (["ingress", "import", "--map", "wave.map", "-o", "-", "wave.vcd"], "wave.vcd"), (["ingress", "dump", "one.ingress"], "one.ingress"),
    (["tandem", "convert", "--from", "ingress", "--elf", "two_tasks", "one.ingress"], "one.ingress"),
    (["encode", "--pcs", "first.pcs", "--elf", "two_tasks", "--mode", "htm", "-o", "-"], "first.pcs"),
]
make("list", "other\n")
os.makedirs("im", exist_ok=True)
shutil.copy("two_tasks", "im/10000")
make("im/80000", "page\n")
os.makedirs("r1/images", exist_ok=True)
if not os.path.exists("r1/images/vdso"):
    make("r1/images/vdso", "no code\n")
for words, name in CASES:
    for descriptor, flags, how in (1, os.O_RDWR, "1<>"), (1, os.O_WRONLY | os.O_APPEND, ">>"), (2, os.O_RDWR, "2<>"):
        status, said, same = onto(words, name, descriptor, flags)
        stream = "standard output" if descriptor == 1 else "standard error output"
        test(status == 1 and same and f"{stream}: the output " in said and os.path.basename(name) in said, f"{' '.join(words)} {how}{name}: refused", status, said, same)
status, said, same = onto(["dump", "-"], "one.nex", source="one.nex")
test(status == 1 and same and "standard output: the output is also an input: -" in said, "dump - <one.nex 1<>one.nex: refused", status, said)
with open("one.nex", "rb") as file, open("one.nex", "ab") as end:
    before = file.read()
    done = subprocess.run([NTRACE, "dump", "one.nex"], stdin=subprocess.DEVNULL, stdout=end, stderr=end, check=False)
    file.seek(0)
    test(done.returncode == 1 and file.read() == before, "both streams: not even a message is written", done)
# What only looks like an input.
for words, name in (["report", "--annotate", "leaf", "r1"], "leaf"), (["report", "--sort", "time", "r1"], "time"), (["export", "-f", "csv", "r1"], "csv"), (["report", "r1"], "r1/log"):
    make(name, "")
    status, said, same = onto(words, name)
    test(status == 0 and not same, f"{' '.join(words)} >{name}: is written", status, said)
    os.unlink(name)
# A page among the images would be one of them the next time.
for name in "im/90000", "im/page":
    status, said = run("report", "--images", "im", "--html", name, "one.nex")
    test(status == 1 and f"{name}: the output is also an input" in said and not os.path.exists(name), f"report --html {name} --images im: refused", status, said)

# ---- an input by another name ----
def by_another_name(text, words, name):
    """Runs a command with {o}, its output, as a descriptor, standard input and a hard link of the input @name; none of them may change it."""
    with open(name, "rb") as file:
        before = file.read()
    os.link(name, "another")
    for how, flags in ("/dev/fd", os.O_RDWR), ("/proc/self/fd", os.O_WRONLY | os.O_APPEND), ("/dev/stdin", os.O_RDWR), ("another", os.O_RDONLY):
        opened = os.open("another", flags)
        output = f"{how}/{opened}" if "fd" in how else how
        status, said = run(*[word.format(o=output) for word in words], source=opened if how == "/dev/stdin" else subprocess.DEVNULL, pass_fds=[opened])
        os.close(opened)
        with open(name, "rb") as file:
            test(status == 1 and f"error: {output}: the output is also an input" in said and file.read() == before,
                 f"{text} {how}, a link of {name}: refused", status, said)
        # What has replaced the link is no link.
        os.unlink("another")
        with open(name, "wb") as file:
            file.write(before)
        os.link(name, "another")
    os.unlink("another")


SOURCE = "Documentation/tour/words.c"
for name in "params", "data", "aux.1.zst", f"archive/{SOURCE}":
    by_another_name("export -f csv", ["export", "-f", "csv", "-o", "{o}", "tour"], f"tour/{name}")
    by_another_name("report --html", ["report", "--html", "{o}", "tour"], f"tour/{name}")
# Of a link in a recording, the file that it leads to is read.
os.rename("tour/data", "tour/elsewhere")
os.symlink("elsewhere", "tour/data")
status, said, same = onto(["report", "tour"], "tour/elsewhere")
test(status == 1 and same and "standard output: the output is also an input: tour/data" in said, "report, onto what a link of the recording leads to: refused", status, said)
os.unlink("tour/data")
os.rename("tour/elsewhere", "tour/data")
# Sources below a sysroot: the debug information has a path without a slash at its start, and a link leads to a file of the sysroot.
os.rename("tour/archive", "sysroot")
for name in SOURCE, "kept/words.c":
    if name != SOURCE:
        os.mkdir("sysroot/kept")
        os.rename(f"sysroot/{SOURCE}", f"sysroot/{name}")
        os.symlink(f"/{name}", f"sysroot/{SOURCE}")
    by_another_name("report --html --sysroot", ["report", "--sysroot", "sysroot", "--html", "{o}", "tour"], f"sysroot/{name}")
    with open(f"sysroot/{name}", "rb") as file:
        before = file.read()
    status, said = run("report", "--sysroot", "sysroot", "--html", f"sysroot/{name}", "tour")
    with open(f"sysroot/{name}", "rb") as file:
        test(status == 1 and "the output is also an input" in said and file.read() == before, f"report --html sysroot/{name}: refused", status, said)
    with open(f"sysroot/{name}", "wb") as file:
        file.write(before)
    for words in ["--annotate", "same_word"], ["--html", "-"], ["--html", "/dev/stdout"]:
        for flags in os.O_RDWR, os.O_WRONLY | os.O_APPEND:
            status, said, same = onto(["report", "--sysroot", "sysroot", *words, "tour"], f"sysroot/{name}", 1, flags)
            test(status == 1 and same and "standard output: the output is also an input: " in said and said.rstrip().endswith("/words.c"),
                 f"report {' '.join(words)}, onto sysroot/{name}: refused", status, said, same)
# What is not read may be below a sysroot.
status, said = run("report", "--sysroot", "sysroot", "--html", "sysroot/page", "tour")
test(status in (0, 3) and os.path.getsize("sysroot/page"), "report --html sysroot/page: is written", status, said)

# ---- signals ----
CSV = ["export", "-f", "csv", "r1", "-o"]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
# Their default action does not end a process.
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH}
# The command ignores SIGPIPE and SIGXFSZ.
SIGNALS = [int(number) for number in sorted(signal.valid_signals()) if number not in HARMLESS | {signal.SIGKILL, signal.SIGPIPE, signal.SIGXFSZ}]
preloaded = {**os.environ, "LD_PRELOAD": f"{TOP}/before_rename.so"}
for number in SIGNALS:
    place = Place("csv", ["{o}"])
    status, said = run(*CSV, place.file, env={**preloaded, "NTRACE_SIGNAL": str(number)})
    test(status == -number, f"csv: signal {number} ends it", status, said)
    place.unchanged(f"signal {number}", said)
# Temporary files of a sum.
os.mkdir("temporary")
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU:
    status, said = run("count", "--memory", "100", "-o", "sum", "r1",
                       env={**os.environ, "TMPDIR": "temporary", "LD_PRELOAD": f"{TOP}/signal_temporary.so", "NTRACE_SIGNAL": str(int(number))})
    test(status == -number and not os.listdir("temporary"), f"count: {number.name} while it makes a temporary file: nothing is left", status, said,
         os.listdir("temporary"))
# What another process is writing is not taken for what was left.
place = Place("two at a time", ["{o}"])
with subprocess.Popen([NTRACE, *CSV, place.file], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                      env={**preloaded, "NTRACE_SIGNAL": str(int(signal.SIGSTOP))}) as first:
    os.waitpid(first.pid, os.WUNTRACED)
    waiting = os.listdir(place.directory)
    status, said = run(*CSV, place.file)
    both = os.listdir(place.directory)
    os.kill(first.pid, signal.SIGCONT)
    test(not status and sorted(both) == sorted(waiting) and len(both) == 2 and not first.wait() and os.listdir(place.directory) == ["out"],
         "two at a time: both are complete", status, said, waiting, both)

# ---- targets that are no files ----
place = Place("csv", ["{o}"])
run(*CSV, place.file)
with open(place.file, "rb") as file:
    whole = file.read()
os.symlink("new", "place/link")
run(*CSV, "place/link")
with open("place/new", "rb") as file:
    test(file.read() == whole and os.path.islink("place/link"), "a symbolic link to no file makes it")
# By each of its names, standard output is written where it is, and gets nothing else; or it is refused.
for name, (good, _, _) in WRITERS.items():
    if "{d}" in good:
        continue
    place = Place(name, good)
    status, said = run(*place.words(good))
    with open(place.file, "rb") as file:
        alone = file.read()
    # These are not written in order; the place in the file is one that they do not know.
    refused = name in ("export -f sqlite", "export -f perf-data")
    for target in "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
        words = place.words(good, target)
        for mode in "w+b", "a+b":
            with open("place/shared", mode) as file:
                file.truncate(0)
                file.write(OLD)
                file.flush()
                done = subprocess.run([NTRACE, *words], stdout=file, stderr=subprocess.PIPE, check=False)
                file.seek(0)
                text = file.read()
            why = b"--output is needed" if target == "-" else f"error: {target}: not the name of a regular file".encode()
            right = done.returncode in (1, 2) and text == OLD and why in done.stderr if refused else not done.returncode and text == OLD + alone
            test(right, f"{name}: {target} {mode}: {'refused' if refused else 'written where it is'}", done.returncode, done.stderr, text[:60])
        done = subprocess.run([NTRACE, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        test(bool(done.returncode) == refused and done.stdout == (b"" if refused else alone), f"{name}: {target}: a pipe", done.returncode, done.stdout[:60])
place = Place("csv", ["{o}"])
# Closed descriptors are not given to files, which would get the messages; a closed standard output is an error.
for name, words in {"csv": CSV, "perf-data": ["export", "-f", "perf-data", "r1", "-o"], "counts": ["count", "r1", "-o"]}.items():
    files = []
    for closed in "", "0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-":
        done = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", NTRACE, *words, "place/closed"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        with open("place/closed", "rb") as file:
            files.append((done.returncode, file.read()))
        os.unlink("place/closed")
    test(files == files[:1] * len(files) and not files[0][0], f"{name}: closed descriptors change nothing in a file", [len(item[1]) for item in files])
for words in [*CSV, "-"], [*CSV, "/dev/stdout"], ["count", "r1", "-o", "-"], ["merge", "counts", "-o", "-"], ["export", "-f", "perfscript", "samples", "-o", "-"]:
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", NTRACE, *words], stderr=subprocess.PIPE, check=False)
    test(done.returncode == 1 and b": error: " in done.stderr and b"entries in" not in done.stderr, f"{' '.join(words)}: closed standard output",
         done.returncode, done.stderr)
for words in [*CSV, "-"], ["export", "-f", "perfscript", "samples", "-o", "-"]:
    done = subprocess.run(["sh", "-c", '(echo before; "$@"; echo after) >place/shared', "sh", NTRACE, *words], stderr=subprocess.PIPE, check=False)
    with open("place/shared", "rb") as file:
        text = file.read()
    os.unlink("place/shared")
    test(text.startswith(b"before\n") and text.endswith(b"\nafter\n") and len(text) > 20, f"{' '.join(words)}: what others write to the same file stays", text[:60])
# Every command that writes standard output says so when it could not.
COMMANDS = re.findall(r"^  ([a-z]+) ", subprocess.run([NTRACE, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout, re.M)
for words in [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS if command != "ntrace"), ["count", "r1", "-o", "place/sum", "--json"],
              ["merge", "counts", "-o", "place/sum", "--json"], ["report", "r1"], ["dump", "one.nex"], ["check", "--params", PARAMS, "one.nex"],
              ["detect", "one.nex"], ["stat", "one.nex"]]:
    for target, reason in (">/dev/full", b"No space left on device"), (">&-", b"Bad file descriptor"):
        done = subprocess.run(["sh", "-c", f'"$@" {target}', "sh", NTRACE, *words], stderr=subprocess.PIPE, check=False)
        failure = 2 if words[0] == "check" and words[1] != "--help" else 1
        test(done.returncode == failure and done.stderr.count(b"error: writing the output: " + reason) == 1, f"{' '.join(words)} {target}: an error",
             done.returncode, done.stderr)
os.mkfifo("place/fifo")
with subprocess.Popen(["cat", "place/fifo"], stdout=subprocess.PIPE) as reader:
    status, said = run(*CSV, "place/fifo")
    test(not status and reader.communicate()[0] == whole, "a FIFO", said)
for target in "place/fifo", "/dev/null", "/dev/full":
    for form in "sqlite", "perf-data":
        status, said = run("export", "-f", form, "-o", target, "r1", timeout=60)
        test(status == 1 and f"error: {target}: not the name of a regular file" in said, f"{form}: {target} is refused", status, said)
# An input may have a name that an unfinished output could have.
unfinished = "place/o.unfinished-abcdef"
for words, source in (["export", "-f", "csv"], "counts"), (["merge"], "counts"), (["assemble"], "one.txt"):
    shutil.copy(source, unfinished)
    status, said = run(*words, "-o", "place/o", unfinished)
    test(not status and os.path.exists(unfinished), f"{words[0]}: an input that is named as an unfinished output stays", status, said)
    shutil.rmtree("place")
    os.mkdir("place")
# A name of the longest length leaves no room for more characters; a directory's name is no part of it.
for length in 240, 248, 249, 254, 255, 256:
    for words in [*CSV], ["count", "r1", "-o"], ["export", "-f", "sqlite", "r1", "-o"]:
        name = "place/" + "n" * length
        status, said = run(*words, name)
        test((status == 0 and os.path.getsize(name) > 0 if length < 256 else status == 1 and "File name too long" in said) and
             not [other for other in os.listdir("place") if other[:2] == "nn" and other != "n" * length], f"{words[0]} {words[2]}: a name of {length} characters",
             status, said)
        if not status:
            os.unlink(name)
for length in 125, 126, 142, 143:
    for words in [*CSV], ["count", "r1", "-o"], ["export", "-f", "sqlite", "r1", "-o"]:
        name = "place/" + "n" * length
        status, said = run(*words, name, env={**os.environ, "LD_PRELOAD": f"{TOP}/faulty_disk.so", "NTRACE_FAULT": f"names {errno.ENAMETOOLONG}"})
        test(status == 0 and os.path.getsize(name) > 0 and [other for other in os.listdir("place") if other[:2] == "nn"] == ["n" * length],
             f"{words[0]} {words[2]}: a name of {length} characters where names have 143", status, said)
        if not status:
            os.unlink(name)
# The directory of the output is removed before the end.
for words in [*CSV], ["count", "r1", "-o"], ["export", "-f", "sqlite", "r1", "-o"]:
    os.mkdir("gone")
    with subprocess.Popen([NTRACE, *words, "gone/out"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env={**os.environ, "LD_PRELOAD": f"{TOP}/before_rename.so", "NTRACE_SIGNAL": str(int(signal.SIGSTOP))}) as writer:
        os.waitpid(writer.pid, os.WUNTRACED)
        shutil.rmtree("gone")
        os.kill(writer.pid, signal.SIGCONT)
        said = writer.communicate()[1].decode()
    test(writer.returncode == 1 and "error: gone/out: No such file or directory" in said and not os.path.exists("gone"),
         f"{words[0]} {words[2]}: the directory vanishes", writer.returncode, said)
# An attacker who knows the process number cannot choose what is written.
make("victim", "")
subprocess.run(["sh", "-c", f"ln -s victim o.db.$$; exec {NTRACE} export -f sqlite -o o.db r1"], stderr=subprocess.DEVNULL, check=True)
test(not os.path.getsize("victim") and os.path.getsize("o.db") and not os.path.islink("o.db"), "sqlite: no name that can be guessed")

# ---- mapped files that become shorter ----
with open("two_tasks", "rb") as file:
    program = file.read()
make("raw.bin", "x" * 8192)
for name, words in {"killed/data": [*CSV[:3], "killed", "-o"], "two_tasks": [*CSV, ], "raw.bin": None}.items():
    shutil.rmtree("killed", ignore_errors=True)
    shutil.copytree("r1", "killed", symlinks=True)
    place = Place(name, ["{o}"])
    words = [*words, place.file] if words else ["decode", "--raw", "raw.bin@0x1000", "one.nex"]
    status, said = run(*words, env={**os.environ, "LD_PRELOAD": f"{TOP}/shrink_mapped.so", "NTRACE_SHRINK": f"/{name}"})
    test(status == 1 and re.search(f"error: .*/{name}: a part of the file cannot be read", said), f"{name} becomes shorter while it is read", status, said)
    place.unchanged("a mapped file becomes shorter", said)
with open("two_tasks", "wb") as file:
    file.write(program)

# ---- the archive and the index of a recording ----
ARCHIVE = ["archive", "--sysroot", "/", "r1"]
before = sorted(os.listdir("r1"))
run("index", "r1")
report = run("report", "r1")
os.unlink("r1/index")
status, said = run("index", "r1", before=small)
test(status == 1 and "error: r1: the index cannot be kept: File too large" in said and not os.path.exists("r1/index"), "index: a full disk", status, said)
for fault, number, environment in faults({"rename": FAULTS["rename"]}):
    status, said = run("index", "r1", env=environment)
    test(status == 1 and f"error: r1: the index cannot be kept: {os.strerror(number)}" in said and sorted(os.listdir("r1")) == [name for name in before if name != "index"],
         f"index: {fault}", status, said, os.listdir("r1"))
    status, said = run(*ARCHIVE, env=environment)
    test(status == 1 and f"error: r1/archive: {os.strerror(number)}" in said and "archive" not in " ".join(os.listdir("r1")), f"archive: {fault}: nothing is left",
         status, said, os.listdir("r1"))
run("index", "r1")
status, said = run(*ARCHIVE, before=small)
test(status == 1 and "archive" not in " ".join(os.listdir("r1")), "archive: a full disk: nothing is left", status, said, os.listdir("r1"))
test("File too large" in said and "r1/archive" in said, "archive: the message says what, and where", said)
for number in SIGNALS:
    status, said = run(*ARCHIVE, env={**preloaded, "NTRACE_SIGNAL": str(int(number))})
    test(status == -number and "archive" not in " ".join(os.listdir("r1")), f"archive: signal {number}: nothing is left", status, said, os.listdir("r1"))
test(run("report", "r1") == report, "the recording is decoded as before")
# Without the programs there is nothing to archive, and nothing that hides them when they are back.
os.rename("two_tasks", "away")
status, said = run(*ARCHIVE)
test(status == 1 and "none of the 1 programs of the recording is here" in said and f"{TOP}/two_tasks: No such file" in said and
     "archive" not in " ".join(os.listdir("r1")), "archive: every program is missing", status, said, os.listdir("r1"))
os.rename("away", "two_tasks")
test(run("report", "r1") == report, "the recording is decoded as before")
# Another process makes the archive.
with subprocess.Popen([NTRACE, *ARCHIVE], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                      env={**preloaded, "NTRACE_SIGNAL": str(int(signal.SIGSTOP))}) as first:
    os.waitpid(first.pid, os.WUNTRACED)
    status, said = run(*ARCHIVE)
    test(status == 1 and f"process {first.pid} is making the archive" in said and os.path.isdir("r1/archive.new"), "archive: two at a time", status, said)
    first.kill()
    first.wait()
test(os.path.isdir("r1/archive.new") and not os.path.exists("r1/archive"), "archive: SIGKILL leaves it incomplete")
test(run("report", "r1") == report, "the recording is decoded as before")
test(run(*ARCHIVE)[0] == 0 and os.path.isdir("r1/archive") and not os.path.exists("r1/archive.new"), "archive, in place of the incomplete one")
status, said = run(*ARCHIVE)
test(status == 1 and "exists: remove it first" in said, "archive: once", status, said)
