# SPDX-License-Identifier: GPL-2.0-only
"""Builds the programs for the mutants, and runs the tests.

The library is compiled with the sanitizers and linked into libmutant.so, and the command into
libcommand.so, which the tests share: a mutant costs one compilation and one link. A second build
counts executed lines (gcov), once for each test. Tests that are scripts find the command
in the build/ of a tree of symbolic links.

"""
import fnmatch
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer".split()
INCLUDE = [f"-I{path}" for path in ("lib/include", "lib", "kernel/include", "kernel/include/uapi",
                                    "tools/vsoc/model", "tools/ntrace", "selftests/kernel/host", "selftests/lib",
                                    "selftests")]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-w", *INCLUDE]
CHECKED = ["-O1", "-fPIC", *SANITIZERS]
# With strict C, gcc would not replace fork() and exec() by its own, which keep the counters of a child.
COUNTED = ["-O0", "-g", "-fPIC", "--coverage", "-std=gnu11"]
# test_property runs 2,000 programs by default; these are enough to detect a mutant that any program
# detects.
SHORTER = {"test_property": {"COUNT": "200"}}
# Limit of processor time, against endless loops; it leaves room for sanitizers and a busy cache.
CPU_FACTOR, CPU_LEAST = 4, 3
MEMORY_MB = 2048
FILE_BYTES = 256 << 20
# Allocations of the library go through functions that a test can replace: test_nomem*.c have their own.
WRAPPED = "malloc calloc realloc aligned_alloc strdup strndup asprintf".split()
WRAP = [f"-Wl,--wrap={name}" for name in WRAPPED]
WRAPPERS = """
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size) { return __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return __real_calloc(count, size); }
void *__wrap_realloc(void *memory, size_t size) { return __real_realloc(memory, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) { return __real_aligned_alloc(alignment, size); }
char *__wrap_strdup(const char *text) { return __real_strdup(text); }
char *__wrap_strndup(const char *text, size_t size) { return __real_strndup(text, size); }
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(text, format, arguments);
	va_end(arguments);
	return length;
}
"""
# Library, command, and the parts of the command.
BUILT = ("libmutant.so", "libcommand.so", "ntrace")
# A deadlock uses no processor time, and a busy host gives each test little of it.
WALL_FACTOR, WALL_LEAST = 6, 90
WATCHED_SECONDS = 0.5
# Limits of processor time and time without a mutant.
UNLIMITED = 3000, 3600


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
    """Sources of the library and the command, and the tests of both."""

    def __init__(self, options, jobs):
        self.work, self.jobs, self.cc = options.work, jobs, options.cc
        self.top = os.getcwd()
        self.library = sorted(glob.glob(options.library))
        self.command = [] if options.fixture else sorted(
            path for path in glob.glob("tools/ntrace/**/*.c", recursive=True) if not path.endswith(".bpf.c"))
        self.mains = [path for path in self.command if has_main(path)]
        self.sources = self.library + self.command
        self.tests = sorted(path for pattern in options.tests for path in glob.glob(pattern))
        self.scripts = [] if options.fixture else options.scripts
        # Files that scripts read besides themselves.
        self.others = [] if options.fixture else sorted(
            glob.glob("selftests/lib/*.py") + glob.glob("Documentation/examples/*.[cS]") + ["selftests/tap.sh"])
        self.extra = [] if options.fixture else sorted(
            glob.glob("selftests/property/*.c") + glob.glob("tools/vsoc/model/*.c") +
            [p for p in glob.glob("selftests/oracle/*.c") if not re.search(r"/exec_log\.c$", p) and not has_main(p)])
        self.libs = [] if options.fixture else run(
            ["make", "-s", "--eval", "print-libs: ; @echo $(CMD_LIBS) $(LIBS)", "print-libs"]).split()
        self.guest, self.guest_lock, self.recipes = options.guest, threading.Lock(), None
        self.facts = {}
        os.makedirs(self.work, exist_ok=True)

    def parallel(self, function, items):
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, items))

    def compile(self, source, out, flags, text=None):
        """Compiles a source, or @text in its place. Raises Failed."""
        # Look for headers beside the source, wherever the text comes from.
        command = [self.cc, *FLAGS, *flags, "-iquote", os.path.dirname(source), "-c", "-o", out]
        if text is None:
            run([*command, source])
        else:
            run([*command, "-x", "c", "-"], input=f'# 1 "{source}"\n' + text)

    def object(self, directory, source, flags):
        """Returns the object of a source; compiles it if the compiler's input has changed."""
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
        """Makes both builds, and the program of each test. Returns the key of the shared parts,
        and {test: its own key}."""
        keys = []

        def objects(directory, sources, flags):
            made = self.parallel(lambda source: self.object(directory, source, flags), sources)
            keys.extend(key for _, key in made)
            return [path for path, _ in made]

        self.checked = dict(zip(self.sources, objects("san", self.sources, CHECKED)))
        counted = dict(zip(self.sources, objects("cov", self.sources, COUNTED)))
        for name, objs, flags in (("san", self.checked, SANITIZERS), ("cov", counted, ["--coverage"])):
            directory = os.path.join(self.work, name)
            self.make_tree(directory)
            self.link_library(directory, objs, flags)
            self.link_command(directory, directory, objs, flags)
        extra = self.archive(objects("san", self.extra, CHECKED))
        shared = digest(*keys)
        programs = self.parallel(lambda test: self.program(test, extra), self.tests)
        self.run_of = dict(zip(map(test_name, self.tests), (os.path.abspath(p) for p, _ in programs)))
        self.run_of.update({test_name(script): script for script in self.scripts})
        self.native = list(self.run_of)
        self.run_of.update({f"{test_name(script)}:{job}": script for _, script, job in self.guest})
        others = [open(path).read() for path in self.others]
        own = {test_name(test): key for test, (_, key) in zip(self.tests, programs)}
        for name, script in self.run_of.items():
            if name not in own:
                own[name] = digest(open(script).read(), *others)
        return shared, own

    def program(self, test, extra):
        obj, key = self.object("san", test, CHECKED)
        out = os.path.join(self.work, "bin", test_name(test))
        os.makedirs(os.path.dirname(out), exist_ok=True)
        wrap = WRAP if test_name(test).startswith("test_nomem") else []
        run([self.cc, *SANITIZERS, *wrap, obj, "-o", out, *extra, "-L", os.path.join(self.work, "san"),
             "-Wl,--as-needed", *(["-lcommand"] if self.command else []), "-lmutant", *self.libs])
        return out, key

    def archive(self, objects):
        """Puts helpers of tests into an archive: a test links only those it needs."""
        path = os.path.join(self.work, "bin", "helpers.a")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        if objects:
            run(["ar", "rcs", path, *objects])
        return [path] if objects else []

    def link_library(self, directory, objects, flags):
        wrappers = os.path.join(self.work, "wrappers.o")
        if not os.path.exists(wrappers):
            run([self.cc, "-D_GNU_SOURCE", "-O1", "-fPIC", "-fno-builtin", "-x", "c", "-", "-c", "-o", wrappers], input=WRAPPERS)
        run([self.cc, *flags, "-shared", *WRAP, *(objects[source] for source in self.library), wrappers,
             "-o", os.path.join(directory, "libmutant.so"), *self.libs])

    def link_command(self, directory, base, objects, flags, source=None):
        """Links the command: its parts into libcommand.so, which tests of parts use, too. @base has the
        library. With @source, links only what contains it."""
        parts = [path for path in self.command if path not in self.mains]
        if parts and source not in self.mains:
            run([self.cc, *flags, "-shared", *(objects[path] for path in parts), "-L", base, "-lmutant",
                 "-o", os.path.join(directory, "libcommand.so"), *self.libs])
        if self.mains and (source is None or source in self.mains):
            run([self.cc, *flags, *(objects[path] for path in self.mains), "-L", base, "-lcommand", "-lmutant",
                 "-o", os.path.join(directory, "ntrace"), *self.libs])

    def install(self, source, obj, directory):
        """Links library and command in @directory, with @obj as the object of @source."""
        objects, base = {**self.checked, source: obj}, os.path.join(self.work, "san")
        self.drop_guest(directory)
        self.make_tree(directory)
        for name in BUILT:
            if os.path.lexists(os.path.join(directory, name)):
                os.unlink(os.path.join(directory, name))
        if source in self.library:
            self.link_library(directory, objects, SANITIZERS)
        else:
            self.link_command(directory, base, objects, SANITIZERS, source)
        for name in BUILT:
            if not os.path.exists(os.path.join(directory, name)) and os.path.exists(os.path.join(base, name)):
                os.symlink(os.path.abspath(os.path.join(base, name)), os.path.join(directory, name))

    def make_tree(self, directory):
        """Makes a copy of the project with another build/ntrace, for scripts. They may look for
        libraries in build/."""
        tree = os.path.join(directory, "tree")
        os.makedirs(os.path.join(tree, "build"), exist_ok=True)
        links = {os.path.join(tree, "build", name): os.path.join("..", "..", name) for name in BUILT}
        if self.scripts:
            for base, into in ((self.top, tree), (os.path.join(self.top, "build"), os.path.join(tree, "build"))):
                for name in os.listdir(base):
                    if name not in ("build", ".git", "ntrace", "mutate", "results"):
                        links[os.path.join(into, name)] = os.path.join(base, name)
        for link, target in links.items():
            if not os.path.lexists(link):
                os.symlink(target, link)

    def run_test(self, name, directory, limits, environment, scratch=None, expected=None):
        """Runs a test with the files built in @directory, with limits of processor time and time in seconds,
        until it has another failure than those @expected: (status, its results and plan in short, both times).

        Its files go to @scratch, and what it prints to the file out there; by default both are in @directory.
        """
        scratch = scratch or directory
        temporary = os.path.join(scratch, "tmp")
        shutil.rmtree(temporary, ignore_errors=True)
        os.makedirs(temporary)
        env = {**os.environ, "TMPDIR": os.path.abspath(temporary), "LD_LIBRARY_PATH": os.path.abspath(directory),
               "ASAN_OPTIONS": f"hard_rss_limit_mb={MEMORY_MB}:quarantine_size_mb=64", "LC_ALL": "C.UTF-8",
               "NTRACE_SHARED": os.environ.get("NTRACE_SHARED") or os.path.join(self.top, "..", "shared"),
               **SHORTER.get(name, {}), **environment}
        command, cwd = self.run_of[name], self.top
        if ":" in name:
            env["JOBS_ONLY"] = name.split(":")[1]
        if self.scripts:
            cwd = os.path.join(os.path.abspath(directory), "tree")
        if command.endswith(".sh"):
            command = os.path.join(cwd, command)

        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (limits[0], limits[0] + 1))

        with open(os.path.join(scratch, "out"), "w+", errors="replace") as out:
            # A session of its own: processes that a test leaves running are killed with it.
            process = subprocess.Popen([command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True)
            ended, late, begin = threading.Event(), threading.Event(), time.monotonic()

            def watch():
                while not ended.wait(WATCHED_SECONDS):
                    if time.monotonic() - begin > limits[1] or (expected is not None and failures(results_in(out.name)) - expected):
                        late.set()
                        kill_group(process.pid)

            watcher = threading.Thread(target=watch)
            watcher.start()
            # Processor time of the test alone.
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - begin
            ended.set()
            watcher.join()
            process.returncode = os.waitstatus_to_exitcode(status)
            kill_group(process.pid)
            results = results_in(out.name)
        shutil.rmtree(temporary, ignore_errors=True)
        return None if late.is_set() else process.returncode, results, (usage.ru_utime + usage.ru_stime, wall)

    def measure(self, say):
        """For each test without a mutant: its results, processor time, and the lines that it
        executes."""
        if self.scripts and not os.path.exists("build/libntrace.so"):
            raise Failed("scripts need what `make lib native` builds")
        shared, keys = self.build()
        path = os.path.join(self.work, "facts.json")
        facts = {"shared": shared, "keys": {}, "results": {}, "times": {}, "lines": {}}
        if os.path.exists(path):
            with open(path) as file:
                kept = json.load(file)
            # The lines belong to this build of the library only.
            if kept.get("shared") == shared and "times" in kept:
                facts = kept
        # Measurements of a test are invalid once the test has changed.
        forget(facts, {name for name, key in facts["keys"].items() if keys.get(name) != key})
        facts["keys"] = keys
        self.facts = facts
        lock, threads = threading.Lock(), threading.local()

        def measure_one(name):
            threads.scratch = getattr(threads, "scratch", None) or os.path.join(self.work, f"measure{threading.get_ident()}")
            say(f"running {name} as it is")
            status, results, times, lines = self.measure_test(name, threads.scratch, say)
            with lock:
                facts["results"][name], facts["times"][name] = [status, results], times
                for source, executed in lines.items():
                    for line, count in executed.items():
                        tests = facts["lines"].setdefault(source, {}).setdefault(line, [])
                        if count:
                            tests.append(name)
                with open(path + ".new", "w") as file:
                    json.dump(facts, file)
                os.replace(path + ".new", path)

        self.parallel(measure_one, [name for name in self.native if name not in facts["results"]])
        for scratch in glob.glob(os.path.join(self.work, "measure*")):
            shutil.rmtree(scratch, ignore_errors=True)

    def measure_test(self, name, scratch, say):
        """A test without a mutant: (status, results, its times, {source: {line: whether it is executed}})."""
        status, results, times = self.run_test(name, os.path.join(self.work, "san"), UNLIMITED, {}, scratch)
        broken = re.findall(r"not ok (\d+)", results)
        with open(os.path.join(scratch, "out"), errors="replace") as out:
            if ": runtime error: " in out.read():
                raise Failed(f"{name}: a sanitizer has a finding without a mutant: see {scratch}/out")
        # Some checks of scripts limit memory (ulimit -v) below a sanitizer's shadow memory.
        if "1.." not in results or (name not in map(test_name, self.scripts) and (status or broken)):
            raise Failed(f"{name} fails without a mutant (status {status}): see {scratch}/out")
        if broken:
            say(f"{name}: checks {', '.join(broken)} fail with the sanitizers and do not count")
        data = os.path.abspath(os.path.join(self.work, "data", name))
        shutil.rmtree(data, ignore_errors=True)
        # Counting needs no sanitizers, but a program that was linked with them has them.
        counted, _, _ = self.run_test(name, os.path.join(self.work, "cov"), UNLIMITED, {"GCOV_PREFIX": data}, scratch)
        if counted and name not in map(test_name, self.scripts):
            say(f"{name}: fails where lines are counted (status {counted}): lines may be missing")
        lines = self.executed(data)
        shutil.rmtree(data, ignore_errors=True)
        return status, results, times, lines

    def executed(self, data):
        """{source: {line: whether it was executed}} from the counters below @data."""
        counters = glob.glob(data + "/**/*.gcda", recursive=True)
        for counter in counters:
            notes = counter[len(data):-4] + "gcno"
            os.symlink(notes, counter[:-4] + "gcno")
        if not counters:
            return {}
        # Object files of the same name would overwrite each other's output: print it, one object at
        # a time.
        result = {}
        for unit in run(["gcov", "--json-format", "--stdout", *counters], cwd=data).splitlines():
            for source in json.loads(unit)["files"] if unit else ():
                lines = result.setdefault(source["file"], {})
                for line in source["lines"]:
                    number = str(line["line_number"])
                    lines[number] = lines.get(number, False) or line["count"] > 0
        return result

    def tests_of(self, mutant):
        """Returns the tests that execute the line of a mutant, or its statement if the line has
        no code of its own."""
        lines = self.facts["lines"].get(mutant.file, {})
        tests = lines.get(str(mutant.line))
        if tests is None:
            tests = [test for line in range(mutant.first, mutant.last + 1) for test in lines.get(str(line), [])]
        return sorted(set(tests))

    def guest_tests(self, source):
        """Returns the guest tests for a source of the command."""
        name = source.removeprefix("tools/ntrace/")
        return [f"{test_name(script)}:{job}" for patterns, script, job in self.guest
                if source in self.command and any(fnmatch.fnmatch(name, pattern) for pattern in patterns.split())]

    def measure_guest(self, name):
        """Result of a guest test without a mutant; computed once, because it takes a boot."""
        with self.guest_lock:
            if name in self.facts["results"]:
                return
            directory = os.path.join(self.work, "san")
            status, results, times = self.run_test(name, directory, UNLIMITED, {})
            if status or "not ok" in results:
                raise Failed(f"{name} fails without a mutant (status {status}): see {directory}/out")
            self.facts["results"][name], self.facts["times"][name] = [status, results], times

    def drop_guest(self, directory):
        """Removes the replacement of build/riscv64, and returns its path."""
        path = os.path.join(directory, "tree", "build", "riscv64")
        if os.path.islink(path):
            os.unlink(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
        return path

    def install_guest(self, source, text, directory):
        """The link command follows the echo of make's quiet output."""
        with self.guest_lock:
            if self.recipes is None:
                self.recipes = run(["make", "-n", "-B", "build/riscv64/ntrace"]).splitlines()
        obj = f"build/riscv64/obj/{source[:-2]}.o"
        [compiler] = [line for line in self.recipes if line.endswith(f" -c {source} -o {obj}")]
        # Keep the command line after make's prefix.
        [linker] = [line.split(";")[-1] for line in self.recipes
                    if " -o build/riscv64/ntrace " in f"{line} " and "/cc " in line]
        mutant = os.path.abspath(os.path.join(directory, "guest.o"))
        words = compiler.split(" -MMD ")[0].split()
        run([*words, "-w", "-iquote", os.path.dirname(source), "-x", "c", "-c", "-o", mutant, "-"],
            input=f'# 1 "{source}"\n' + text)
        machine, real = self.drop_guest(directory), os.path.join(self.top, "build", "riscv64")
        os.makedirs(machine)
        for name in os.listdir(real):
            if name != "ntrace":
                os.symlink(os.path.join(real, name), os.path.join(machine, name))
        run([mutant if word == obj else word for word in linker.replace(
            " -o build/riscv64/ntrace", f" -o {os.path.abspath(machine)}/ntrace").split()])

    def kills(self, name, directory):
        """Tells whether a test detects the mutant: a check fails or is not run, or the test does
        not end."""
        if ":" in name:
            self.measure_guest(name)
        cpu, wall = self.facts["times"][name]
        limits = int(cpu * CPU_FACTOR) + CPU_LEAST, wall * WALL_FACTOR + WALL_LEAST
        expected = self.facts["results"][name]
        status, results, _ = self.run_test(name, directory, limits, {}, expected=failures(expected[1]))
        return [status, results] != expected

    def same_code(self, source, text, directory):
        """Tells whether the optimizer makes the same code from mutant and original: then they
        are equivalent."""
        made = []
        for name, code in (("before", open(source).read()), ("after", text)):
            path = os.path.abspath(os.path.join(directory, name + ".o"))
            self.compile(source, path, ["-O2", "-DNDEBUG"], code)
            with open(path, "rb") as file:
                made.append(file.read())
        return made[0] == made[1]


def results_in(path):
    with open(path, errors="replace") as out:
        return " ".join(re.findall(r"^(?:ok \d+|not ok \d+|1\.\.\d+)(?=\s)", out.read(), re.M))


def failures(results):
    return set(re.findall(r"not ok \d+", results))


def kill_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def forget(facts, names):
    """Drops the measurements of these tests."""
    for part in ("results", "times"):
        facts[part] = {name: value for name, value in facts[part].items() if name not in names}
    for lines in facts["lines"].values():
        for line, tests in lines.items():
            lines[line] = [name for name in tests if name not in names]


def has_main(path):
    return re.search(r"^int main\b", open(path).read(), re.M) is not None


def test_name(path):
    """Name of a program of selftests/lib; of other tests also their group, because two groups may
    have tests of the same name."""
    return re.sub(r"^selftests/lib/(test_.*)\.c$|^selftests/(.*)\.(?:sh|c)$|^(.*)\.c$", r"\1\2\3", path)
