# SPDX-License-Identifier: GPL-2.0-only
"""Builds what the mutants are run with, and runs the tests.

Library: every source is compiled with the sanitizers and linked into libmutant.so,
which all tests share: a mutant costs one compilation and one link. A second
libmutant.so counts executed lines (gcov), once per test.
Command: the same for the ntrace program; its tests are scripts, which find it in the
build/ of a tree of symbolic links.
"""
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer".split()
INCLUDE = [f"-I{path}" for path in ("lib/include", "lib", "kernel/include", "kernel/include/uapi",
                                    "tools/vsoc/model", "selftests/lib", "selftests")]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-DNTRACE_BPF=none", "-w", *INCLUDE]
LIBS = "-ldw -lelf -lzstd -lz -liberty -pthread -lm".split()
CHECKED = ["-O1", "-fPIC", *SANITIZERS]
# libgcov has a function of the name of one in lib/export/gcov_write.c.
COUNTED = ["-O0", "-g", "-fPIC", "--coverage", "-Dgcov_write=ntrace_gcov_write"]
# test_property runs 2,000 programs by default; a mutant that some program notices is noticed by these.
SHORTER = {"test_property": {"COUNT": "200"}}
# An endless loop ends here: processor time, with room for what sanitizers and a busy cache add.
CPU_FACTOR, CPU_LEAST = 4, 3
MEMORY_MB = 1024
FILE_BYTES = 256 << 20
# A deadlock uses no processor time.
WALL_SECONDS = 600


class Failed(Exception):
    pass


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **more)
    if done.returncode:
        raise Failed(" ".join(command)[:400] + "\n" + done.stderr[-2000:])
    return done.stdout


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Suite:
    """@sources with the tests of one kind: "library" or "command"."""

    def __init__(self, kind, options, jobs):
        self.kind, self.work, self.jobs = kind, os.path.join(options.work, kind), jobs
        self.top = os.getcwd()
        self.cc = options.cc
        self.library = sorted(glob.glob(options.library))
        self.command = sorted(glob.glob("tools/ntrace/*.c")) if kind == "command" else []
        self.sources = self.command or self.library
        self.tests = sorted(glob.glob(options.tests)) if kind == "library" else options.scripts
        self.extra = [] if options.fixture else sorted(
            glob.glob("selftests/property/*.c") + glob.glob("tools/vsoc/model/*.c") +
            [p for p in glob.glob("selftests/oracle/*.c") if not re.search(r"/exec_log\.c$", p) and not has_main(p)])
        self.libs = [] if options.fixture else LIBS
        self.facts = {}
        os.makedirs(self.work, exist_ok=True)

    def parallel(self, function, items):
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, items))

    def compile(self, source, out, flags, text=None):
        """Compiles a source, or @text in its place. Raises Failed."""
        # Headers are looked for beside the source wherever the text comes from.
        command = [self.cc, *FLAGS, *flags, "-iquote", os.path.dirname(source), "-c", "-o", out]
        if text is None:
            run([*command, source])
        else:
            run([*command, "-x", "c", "-"], input=f'# 1 "{source}"\n' + text)

    def object(self, directory, source, flags):
        """The object of a source; compiled when what the compiler reads has changed."""
        out = os.path.join(self.work, directory, source[:-2] + ".o")
        key = digest(self.cc, *flags, run([self.cc, *FLAGS, *flags, "-E", source]))
        stamp = out + ".key"
        if not (os.path.exists(out) and os.path.exists(stamp) and open(stamp).read() == key):
            os.makedirs(os.path.dirname(out), exist_ok=True)
            self.compile(source, os.path.abspath(out), flags)
            with open(stamp, "w") as file:
                file.write(key)
        return out, key

    def build(self):
        """Both builds of all there is, and of each test its program; the key of it all."""
        keys = []

        def objects(directory, sources, flags):
            made = self.parallel(lambda source: self.object(directory, source, flags), sources)
            keys.extend(key for _, key in made)
            return [path for path, _ in made]

        self.checked = dict(zip(self.library + self.command, objects("san", self.library + self.command, CHECKED)))
        counted = dict(zip(self.library + self.command, objects("cov", self.library + self.command, COUNTED)))
        self.counted = counted
        for name, objs, flags in (("san", self.checked, SANITIZERS), ("cov", counted, ["--coverage"])):
            self.link([objs[s] for s in self.library] + [objs[s] for s in self.command],
                      os.path.join(self.work, name), flags)
        if self.kind == "library":
            extra = self.archive(objects("san", self.extra, CHECKED))
            programs = self.parallel(lambda test: self.program(test, extra), self.tests)
            keys.extend(key for _, key in programs)
            self.run_of = dict(zip(map(test_name, self.tests), (os.path.abspath(p) for p, _ in programs)))
        else:
            keys.extend(digest(open(test).read()) for test in self.tests)
            self.run_of = {test_name(test): test for test in self.tests}
        return digest("2", *keys)

    def program(self, test, extra):
        obj, key = self.object("san", test, CHECKED)
        out = os.path.join(self.work, "bin", test_name(test))
        os.makedirs(os.path.dirname(out), exist_ok=True)
        run([self.cc, *SANITIZERS, obj, "-o", out, *extra, "-L", os.path.join(self.work, "san"),
             "-lmutant", *self.libs])
        return out, key

    def archive(self, objects):
        """Helpers of tests as an archive: a test takes what it needs."""
        path = os.path.join(self.work, "bin", "helpers.a")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        if objects:
            run(["ar", "rcs", path, *objects])
        return [path] if objects else []

    def link(self, objects, directory, flags):
        """libmutant.so, or the command."""
        os.makedirs(directory, exist_ok=True)
        if self.kind == "library":
            run([self.cc, *flags, "-shared", *objects, "-o", os.path.join(directory, "libmutant.so"), *self.libs])
            return
        os.makedirs(os.path.join(directory, "tree", "build"), exist_ok=True)
        tree = os.path.join(directory, "tree")
        for base, into in ((self.top, tree), (os.path.join(self.top, "build"), os.path.join(tree, "build"))):
            for name in os.listdir(base):
                link = os.path.join(into, name)
                if name not in ("build", ".git", "ntrace", "mutate", "results") and not os.path.lexists(link):
                    os.symlink(os.path.join(base, name), link)
        run([self.cc, *flags, *objects, "-o", os.path.join(tree, "build", "ntrace"), *self.libs])

    def run_test(self, name, directory, cpu, environment):
        """Runs a test with what is built in @directory: (status or None, plan, seconds of processor time)."""
        scratch = os.path.join(directory, "tmp")
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(scratch)
        env = {**os.environ, "TMPDIR": os.path.abspath(scratch), "LD_LIBRARY_PATH": os.path.abspath(directory),
               "ASAN_OPTIONS": f"hard_rss_limit_mb={MEMORY_MB}:abort_on_error=0", "LC_ALL": "C.UTF-8",
               "NTRACE_SHARED": os.environ.get("NTRACE_SHARED") or os.path.join(self.top, "..", "shared"),
               **SHORTER.get(name, {}), **environment}
        command, cwd = self.run_of[name], self.top
        if self.kind == "command":
            cwd = os.path.join(os.path.abspath(directory), "tree")
            command = os.path.join(cwd, command)
            del env["LD_LIBRARY_PATH"]

        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))

        with open(os.path.join(directory, "out"), "w+", errors="replace") as out:
            # A session of its own: what a test leaves running is ended with it.
            process = subprocess.Popen([command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                status = process.wait(WALL_SECONDS)
            except subprocess.TimeoutExpired:
                status = None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            out.seek(0)
            plan = re.findall(r"^1\.\.\d+", out.read(), re.M)
        shutil.rmtree(scratch, ignore_errors=True)
        return status, plan[-1] if plan else None, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)

    def measure(self, say):
        """Of each test, unmutated: its plan, processor time, and the lines that it executes."""
        key = self.build()
        path = os.path.join(self.work, "facts.json")
        if os.path.exists(path):
            with open(path) as file:
                kept = json.load(file)
            if kept["key"] == key:
                self.facts = kept
                return
        facts = {"key": key, "plan": {}, "cpu": {}, "lines": {}}
        # One at a time: their times must be their own.
        for name in self.run_of:
            say(f"running {name} as it is")
            status, plan, cpu = self.run_test(name, os.path.join(self.work, "san"), 3000, {})
            if status or not plan:
                raise Failed(f"{name} fails without a mutant (status {status}): see {self.work}/san/out")
            facts["plan"][name], facts["cpu"][name] = plan, cpu
            data = os.path.abspath(os.path.join(self.work, "data", name))
            shutil.rmtree(data, ignore_errors=True)
            # Counting needs no sanitizers; a program that was linked with them brings them along.
            self.run_test(name, os.path.join(self.work, "cov"), 3000, {"GCOV_PREFIX": data})
            for source, lines in self.executed(data).items():
                for line, count in lines.items():
                    tests = facts["lines"].setdefault(source, {}).setdefault(line, [])
                    if count:
                        tests.append(name)
            shutil.rmtree(data, ignore_errors=True)
        with open(path + ".new", "w") as file:
            json.dump(facts, file)
        os.replace(path + ".new", path)
        self.facts = facts

    def executed(self, data):
        """{source: {line: whether it was executed}} from the counters below @data."""
        counters = glob.glob(data + "/**/*.gcda", recursive=True)
        for counter in counters:
            notes = counter[len(data):-4] + "gcno"
            os.symlink(notes, counter[:-4] + "gcno")
        if not counters:
            return {}
        # Files of the same name would overwrite each other's output: it comes on stdout, one object for each.
        result = {}
        for unit in run(["gcov", "--json-format", "--stdout", *counters], cwd=data).splitlines():
            for source in json.loads(unit)["files"] if unit else ():
                lines = result.setdefault(source["file"], {})
                for line in source["lines"]:
                    number = str(line["line_number"])
                    lines[number] = lines.get(number, False) or line["count"] > 0
        return result

    def tests_of(self, mutant):
        """The tests that execute the line of a mutant; of its statement, if the line has no code of its own."""
        lines = self.facts["lines"].get(mutant.file, {})
        tests = lines.get(str(mutant.line))
        if tests is None:
            tests = [test for line in range(mutant.first, mutant.last + 1) for test in lines.get(str(line), [])]
        return sorted(set(tests))

    def kills(self, name, directory):
        """Whether a test notices: it fails, or does not run all of its checks, or does not end."""
        limit = int(self.facts["cpu"][name] * CPU_FACTOR) + CPU_LEAST
        status, plan, _ = self.run_test(name, directory, limit, {})
        return status != 0 or plan != self.facts["plan"][name]

    def same_code(self, source, text, directory):
        """Whether the optimizer makes the same of the mutant and the original: then they are equivalent."""
        made = []
        for name, code in (("before", open(source).read()), ("after", text)):
            path = os.path.abspath(os.path.join(directory, name + ".o"))
            self.compile(source, path, ["-O2", "-DNDEBUG"], code)
            with open(path, "rb") as file:
                made.append(file.read())
        return made[0] == made[1]


def has_main(path):
    return re.search(r"^int main\b", open(path).read(), re.M) is not None


def test_name(path):
    return re.sub(r"\.(c|sh)$", "", os.path.basename(path))
