#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Commands of ntrace under limits of the process (ulimit): each does all that it does without, or ends with one error, and no
message is without the limit.

limits.py NTRACE DIRECTORY: with r1 of small_recordings.sh, wide, which is r1 with 40 streams, and tour, which has an archive.
"""
import os
import pathlib
import re
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tap import done, ok

NTRACE, TOP = sys.argv[1:]
os.chdir(TOP)
COMMANDS = {name: words.split() for name, words in {
    "report": "report tour", "report --annotate": "report --annotate count_words tour", "report --html": "report --html out tour",
    "report --callers": "report --callers leaf wide", "decode": "decode --level instruction --lines r1", "dump": "dump tour", "stat": "stat tour",
    "check": "check tour", "count": "count -o out tour", "encode": "encode --pcs first.pcs --elf two_tasks --mode htm -o out",
    "export lcov": "export -f lcov -o out r1", "export gcov": "export -f gcov -b two_tasks -o out r1", "export folded": "export -f folded -o out wide",
    "export sqlite": "export -f sqlite -o out r1", "export perf-data": "export -f perf-data --period 100 -o out r1",
    "detect": "detect --elf two_tasks first.nex", "archive": "archive r1",
}.items()}
KIB = 1024
LIMITS = {  # resource, values, the error; what begins before main() has errors of the loader
    "-n": (resource.RLIMIT_NOFILE, (5, 8, 10, 18, 19, 24, 58), "open files.*ulimit -n"),
    "-s": (resource.RLIMIT_STACK, (100 * KIB, 256 * KIB, 511 * KIB, 512 * KIB), "the stack.*ulimit -s"),
    "-v": (resource.RLIMIT_AS, (24 * KIB * KIB, 32 * KIB * KIB, 64 * KIB * KIB, 100 * KIB * KIB, 200 * KIB * KIB), "(out of|allocate) memory .*ulimit -v"),
    "-f": (resource.RLIMIT_FSIZE, (0, KIB, 16 * KIB), "File too large.*ulimit -f"),
}


def clean():
    subprocess.run(["rm", "-rf", "out", "r1/archive", "r1/index", "wide/index", "tour/index"], check=True)


def run(words, limit=None):
    clean()
    result = subprocess.run([NTRACE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                            preexec_fn=limit and (lambda: resource.setrlimit(*limit)))
    written = b""
    if os.path.exists("out"):
        with open("out", "rb") as file:
            # The rest of a database is its time.
            written = file.read() if "sqlite" not in words else b"a database"
    # Without progress, and what is true of these recordings.
    said = [line for line in result.stderr.decode(errors="replace").splitlines() if not re.search(r", [0-9]+ s$|r1/images/k|wide/images/k|__switch_to|no task switches|have the same trace", line)]
    return result.returncode, result.stdout + written + repr(sorted(os.walk("r1"))).encode(), said


for name, words in COMMANDS.items():
    whole = run(words)
    ok(not whole[0] or name == "check", f"{name}: without a limit", whole)
    for option, (number, values, reason) in LIMITS.items():
        wrong = []
        for value in values:
            status, output, said = run(words, (number, (value, value)))
            more = [line for line in said if line not in whole[2]]
            refused = status in (1, 2) and [line for line in more if "error: " in line] == more[-1:] and all(re.search(reason, line) for line in more)
            advised = re.search(r"ulimit -n ([0-9]+)", said[-1]) if refused and option == "-n" else None
            if advised and run(words, (number, (int(advised[1]), int(advised[1])))) != whole:
                wrong.append((value, "not enough", *said))
            if not refused and (status, output, said) != whole:
                wrong.append((value, status, more))
        ok(not wrong, f"{name}: ulimit {option}: all, or an error that names the limit", *wrong)
clean()
done()
