#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntrace report, count, export and index with recordings that have gaps, the kernel and several processes: numbers and
options, compared with the events of ntrace decode.

report_recording.py NTRACE DIRECTORY: with the recordings of test_places.c; prints "ok TEXT" or "failed TEXT" for each test.
"""
import collections
import csv
import json
import os
import re
import shutil
import subprocess
import sys

NTRACE, DIRECTORY = sys.argv[1:]
ROOT, TIMED = f"{DIRECTORY}/root", f"{DIRECTORY}/timed"
OBJECTS = {"/bin/prog": "prog", "/lib/libwork.so": "libwork.so", "/lib/ld-test.so.1": "ld-test.so.1", "/ccc": "ccc", "images/kernel.start": "[kernel]"}


def test(good, text, *why):
    print("ok" if good else "failed", text, flush=True)
    if not good:
        for item in why:
            print("   ", repr(item)[:1500])


def same(got, wanted, text):
    test(got == wanted, text, got, wanted)


def run(*words, recording=TIMED):
    done = subprocess.run([NTRACE, words[0], "--sysroot", ROOT, *words[1:], recording], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


events = [json.loads(line) for line in run("decode", "--json")[1].splitlines()]
blocks = [event for event in events if event["type"] == "block"]


def count(*keys, **where):
    sums = collections.Counter()
    for block in blocks:
        if all(block[key] == value for key, value in where.items()):
            sums[tuple(block[key] for key in keys)] += block["instructions"]
    return sums


total = count()[()]
modes = {"user": count(privilege="U")[()], "kernel": count(privilege="S")[()]}
gaps = [event for event in events if event["type"] == "gap"]
errors = [event for event in events if event["type"] == "error"]


def test_report():
    status, text, _ = run("report", "--json")
    report = json.loads(text)
    # Gaps do not change the status of a report: what is missing is in it.
    same((status, report["gaps"], len(report["errors"])), (0, len(gaps), 1), "report --json: gaps and errors")
    same(report["errors"][0], {"count": len(errors), "reason": errors[0]["detail"],
                               "first": {"stream": 0, "offset": errors[0]["offset"], "address": errors[0]["address"]}}, "report --json: the first error")
    same((report["instructions"]["all"], report["instructions"]["user"], report["instructions"]["kernel"]), (total, *modes.values()),
         "report --json: instructions")
    interrupts = sum(event["type"] == "trap" for event in events)
    same(report["traps"], {"all": interrupts, "exceptions": 0, "interrupts": interrupts}, "report --json: traps")
    same({(item["function"], item["object"]): item["instructions"] for item in report["functions"]}, dict(count("symbol", "object")),
         "report --json: functions")
    same({(item["cpu"], item["pid"], item["tid"], item["thread"]): (item["instructions"], item["kernel"]) for item in report["threads"]},
         {key: (number, count("cpu", "pid", "tid", "comm", privilege="S")[key]) for key, number in count("cpu", "pid", "tid", "comm").items()},
         "report --json: threads")
    by_process = json.loads(run("report", "--json", "--by-process")[1])["functions"]
    same({(item["function"], item["pid"], item["process"]): item["instructions"] for item in by_process},
         {(name, pid, {0: "swapper/0", 100: "main", 200: "beta"}[pid]): number for (name, pid), number in count("symbol", "pid").items()},
         "report --json --by-process: functions of each process")
    status, text, _ = run("report")
    same(status, 0, "report: status")
    head = dict(line.split(None, 1) for line in text.split("\n\n")[0].splitlines())
    test(re.fullmatch(rf"gaps {len(gaps)} \(at most \d+ ticks, the longest \d+ ticks\), errors {len(errors)}", head["losses"]), "report: losses", head)
    same(head["not"], f"decoded   {len(errors)} times: {errors[0]['detail']} (first: stream 0, offset 0x{errors[0]['offset']:x}, "
         f"address {errors[0]['address']})", "report: the first error")
    same(head["instructions"], f"{total}: user {modes['user']} ({100 * modes['user'] / total:.1f} %), "
         f"kernel {modes['kernel']} ({100 * modes['kernel'] / total:.1f} %)", "report: instructions")
    same(head["traps"], f"{interrupts}: exceptions 0, interrupts {interrupts}", "report: traps")
    rows = [line.split() for line in text.split("\n\n")[1].splitlines()[1:]]
    functions = {(item["function"], OBJECTS[item["object"]]): item for item in report["functions"]}
    same([(row[-1], row[-2]) for row in rows], list(functions), "report: the functions of the JSON, in their order")
    same([(row[0], row[2], row[3], row[4], row[-3]) for row in rows],
         [(f"{100 * item['instructions'] / total:.2f}", str(item["instructions"]), str(item["total"]), str(item["calls"]), item["mode"])
          for item in functions.values()], "report: their numbers")
    same([row[5:9] for row in rows], [[f"~{item['ticks']}", "ticks", f"~{item['total_ticks']}", "ticks"] for item in functions.values()],
         "report: their times")
    rows = [line.split() for line in run("report", "--by-process")[1].split("\n\n")[1].splitlines()[1:]]
    same([(row[-1], row[5], row[6], row[2], row[3], row[4]) for row in rows],
         [(item["function"], str(item["pid"]), item["process"], str(item["instructions"]), str(item["calls"]), item["mode"]) for item in by_process],
         "report --by-process: the functions of the JSON")
    status, text, _ = run("report", "--limit", "2")
    rest = total - sum(item["instructions"] for item in report["functions"][:2])
    same(text.splitlines()[-1].split(None, 3), [f"{100 * rest / total:.2f}", "%", str(rest), f"{len(functions) - 2} more functions: --limit 0 shows them"],
         "report --limit: the rest")
    same(len(run("report", "--limit", "0")[1].splitlines()), len(run("report")[1].splitlines()), "report --limit 0: all")
    rows = run("report", "--by-thread")[1].split("\n\n")[1].splitlines()
    same([line.split()[:5] + line.split()[-3:-1] for line in rows[1:2]],
         [[f"{100 * number / total:.2f}", "%", str(number), f"{100 * kernel / number:.2f}", "%", "100", "100"]
          for (number, kernel) in [(count(tid=100)[()], count(tid=100, privilege="S")[()])]], "report --by-thread: the first row")
    same([(line.split()[2], line.split()[-4:-1]) for line in rows[1:]],
         [(str(number), ["0", str(pid), str(tid)]) for (pid, tid), number in count("pid", "tid").most_common()],
         "report --by-thread: all threads, the idle one among them, the largest first")
    for options, where in ((["--user"], {"privilege": "U"}), (["--kernel"], {"privilege": "S"}), (["--pid", "200"], {"pid": 200})):
        selected = json.loads(run("report", "--json", *options)[1])
        same((selected["instructions"]["selected"], {item["function"]: item["instructions"] for item in selected["functions"]}),
             (count(**where)[()], {name: number for (name,), number in count("symbol", **where).items()}), f"report {' '.join(options)}")
    page = f"{DIRECTORY}/page.html"
    status, _, message = run("report", f"--html={page}")
    data = json.loads(re.search(r'(\{"recording":.*?\})\n</script>', open(page).read(), re.S)[1])
    same((status, data["losses"]["gaps"], [item[0] for item in data["losses"]["errors"]]), (0, len(gaps), [len(errors)]), "report --html: losses")
    test(errors[0]["detail"] in data["losses"]["errors"][0][1] and errors[0]["address"] in data["losses"]["errors"][0][2], "report --html: the first error",
         data["losses"], message)
    same({item[0]: item[3] for item in data["functions"]}, {item["function"]: item["instructions"] for item in report["functions"]},
         "report --html: functions")


def test_around():
    """Where a function begins for the Nth time, and 8 KiB before and after it."""
    offsets = [block["offset"] for block in blocks if block.get("symbol") == "labour" and not block["symbol_offset"]]
    for text, offset in (("labour", offsets[0]), ("labour:1", offsets[0]), ("labour:2", offsets[1]), ("labour:10", offsets[9]),
                         (f"labour:{len(offsets)}", offsets[-1])):
        for words in (("decode",), ("report",), ("export", "-f", "csv")):
            message = run(*words, "--around", text)[2]
            same(message.splitlines()[:1], [f"ntrace: stream 0: --offset 0,{offset + 8192}"], f"{words[0]} --around {text}")
    for text, name, found in ((f"labour:{len(offsets) + 1}", f"labour:{len(offsets) + 1}", len(offsets)), ("labour:1x", "labour:1x", 0),
                              ("labour:", "labour:", 0), (":1", ":1", 0), ("a::1", "a::1", 0), ("nowhere", "nowhere", 0)):
        status, _, message = run("decode", "--around", text)
        same((status, message), (1, f"ntrace: error: {TIMED}: --around: '{name}' is executed {found} times in what is decoded, "
                                    "counted at its first instruction\n"), f"decode --around {text}: an error")
    same("not between 1 and" in run("decode", "--around", "labour:0")[2], True, "decode --around labour:0: an error")


def test_ranges():
    """Numbers of any length: leading zeros do not count, and what is too long is refused."""
    wanted = run("decode", "--offset", "100,900")[1]
    for length in (5, 20, 30, 31, 32, 33, 60, 200):
        for text in (f"{100:#0{length}x},900", f"100,{900:#0{length}x}"):
            status, out, message = run("decode", "--offset", text)
            test(out == wanted if length < 32 else (status, out) == (2, "") and "is not a number" in message, f"decode --offset: a number of {length} characters",
                 status, message)
    for status, why, text in ((2, "is not A,B: two numbers", "5"), (2, "ends before it begins", "5,4"), (2, "'x' is not a number", "x,4"),
                              (2, "'y' is not a number", "4,y"), (2, "is not a number", "4,5,6"), (2, "is not a number", "-4,5")):
        got, out, message = run("decode", "--offset", text)
        test((got, out) == (status, "") and why in message, f"decode --offset {text}: an error", message)
    same(run("decode", "--offset", ",")[1], run("decode")[1], "decode --offset ,: everything")
    for part in (("--offset", "500,500"), ("--offset", "999999999,"), ("--time", "0,0"), ("--time", "0xfffffffffffffff0,")):
        status, out, message = run("decode", *part)
        test(out and status in (0, 3) or (status, out) == (1, "") and f"nothing was decoded: the trace has no messages in this part (option {part[0]})" in message,
             f"decode {part[0]} {part[1]}: says if nothing is there", status, message)
    same(run("decode", "--offset", "999999999,")[0], 1, "decode --offset beyond the trace: an error")


def test_callers():
    text = run("report", "--callers", "nothing")[1]
    test(re.search(r"trap_entry", text), "report --callers: who calls", text)
    text = run("report", "--callers", "begin")[1]
    test(re.search(r"^100\.00 %.* main \(thread 100\)$", text, re.M), "report --callers: a thread begins there", text)
    text = run("report", "--callees", "__switch_to")[1]
    test("it calls nothing" in text, "report --callees: it calls nothing", text)


def test_count():
    counts = f"{DIRECTORY}/counts"
    for options, where in (([], {}), (["--user"], {"privilege": "U"}), (["-k"], {"privilege": "S"}), (["--privilege", "us"], {}),
                           (["--pid", "200"], {"pid": 200}), (["--memory", "1M", "--jobs", "1"], {}), (["--class", "x", "--quiet"], {})):
        status, text, message = run("count", "--json", "-o", counts, *options)
        listed = run("export", "-f", "csv", recording=counts)
        test(status == 0 and listed[0] == 0, f"count {' '.join(options)}: succeeds", text, message, listed[2])
        report = json.loads(text)
        same(report["losses"]["gaps"] if "losses" in report else len(gaps), len(gaps), f"count {' '.join(options)}: gaps")
        executed = collections.Counter()
        for row in csv.DictReader(listed[1].splitlines()):
            executed[row.get("object", "")] += 1
        test(len(executed) >= 1, f"count {' '.join(options)}: has code", listed[1][:300])
    for why, *options in (("'3' is not I/N", "--shard", "3"), ("'/3' is not I/N", "--shard", "/3"), ("4 is not between 1 and 3", "--shard", "4/3"),
                          ("0 is not between 1 and 3", "--shard", "0/3"), ("0 is not between", "--shard", "1/0"), ("'x' is not a number", "--shard", "1/x"),
                          ("'x' is not a number", "--shard", "x/2"), ("0 is not between", "--memory", "0"), ("a label has at most", "--class", "x" * 1000),
                          ("'x' is not a number", "--pid", "x"), ("-1", "--pid", "-1")):
        status, text, message = run("count", "-o", counts, *options)
        test((status, text) == (2, "") and why in message, f"count {' '.join(options)[:40]}: an error", message)


def test_export():
    for status, why, *options in (
            (2, "there is no format 'x'", "-f", "x"), (2, "option --format is needed"), (2, "option --output is needed with perf-data", "-f", "perf-data"),
            (2, "option --output is needed with sqlite", "-f", "sqlite"), (2, "--binary is not allowed", "-f", "sqlite", "-o", "x", "-b", "ccc"),
            (2, "--binary is not allowed", "-f", "perf-data", "-o", "x", "-b", "ccc"), (2, "--binary is not allowed", "-f", "folded", "-b", "ccc"),
            (2, "--threads applies to call stacks only", "-f", "csv", "--threads"), (2, "--no-inline applies to call stacks only", "-f", "csv", "--no-inline"),
            (2, "--every-branch applies to perf-data only", "-f", "csv", "--every-branch"),
            (2, "--gcov-version applies to gcov only", "-f", "csv", "--gcov-version", "1"), (2, "'x' is not a number", "-f", "csv", "--pid", "x"),
            (2, "is not between", "-f", "gcov", "--gcov-version", "4"), (2, "is not between", "-f", "perf-data", "--depth", "1000000"),
            (2, "0 is not between", "-f", "perf-data", "--period", "0"), (2, "--class applies to counts files", "-f", "csv", "--class", "x"),
            (1, "no code of 'nowhere' was executed; executed objects:", "-f", "csv", "-b", "nowhere"),
            (1, "no selected code was executed: the export is empty", "-f", "profgen", "--pid", "7")):
        got, text, message = run("export", *options)
        test((got, text) == (status, "") and why in message, f"export {' '.join(options)}: an error", got, message)
    _, _, message = run("export", "-f", "csv", "-b", "nowhere")
    same(set(line.strip() for line in message.splitlines()[1:]) - {""}, set(OBJECTS) & set(line.strip() for line in message.splitlines()), "the objects are listed")
    test("  /ccc" in message and "  /bin/prog" in message, "with their paths", message)
    status, text, message = run("export", "-f", "csv", "-b", "ccc")
    test(status == 0 and "gaps and errors: code executed there is not counted" in message and "of /ccc" in message, "export says what is missing", message)
    status, text, message = run("export", "-f", "folded")
    folded = dict(line.rsplit(" ", 1) for line in text.splitlines())
    same(sum(map(int, folded.values())), total, "export -f folded: all instructions")
    test("gaps and errors: code executed there is missing" in message, "export -f folded: says what is missing", message)
    status, _, message = run("export", "-f", "csv", "-o", "/nonexistent/file")
    test(status == 1 and "/nonexistent/file: No such file or directory" in message, "export: no such directory", message)
    status, text, message = run("export", "-f", "perf-data", "-o", f"{DIRECTORY}/perf.data", "--depth", "4", "--period", "100")
    same(status, 0, "export -f perf-data")


def test_index():
    recording = f"{DIRECTORY}/long"
    status, text, message = run("index", "--points", "--json", recording=recording)
    points = [json.loads(line) for line in text.splitlines()]
    status, text, message = run("index", "--points", recording=recording)
    lines = text.splitlines()
    size = os.stat(f"{recording}/aux.0").st_size
    same(lines[0], f"# stream 0: CPU 0, hart 0, {size} bytes, {len(points)} points", "index --points: the stream")
    same(lines[1].split(), ["#", "offset", "address", "pid", "tid", "time"], "index --points: the heading")
    same([line.split() for line in lines[2:]],
         [[str(point["offset"]), f"0x{int(point['address'], 16):016x}", str(point["pid"]), str(point["tid"]), str(int(point["time"], 16))] for point in points],
         "index --points: the points of --json")
    same(len({len(line) for line in lines[2:] if len(line.split()[-1]) == len(lines[2].split()[-1])}), 1, "index --points: columns")
    status, text, message = run("index", "--json", recording=recording)
    same((status, json.loads(text)), (0, {"stream": 0, "cpu": 0, "hartid": 0, "bytes": size, "points": len(points)}), "index --json: the stream")
    test(f"{len(points)} points, the index was up to date" in message, "index: says that it is up to date", message)
    os.unlink(f"{recording}/index")
    status, text, message = run("index", recording=recording)
    test(re.search(rf"{len(points)} points, [\d.]+ KiB decoded", message), "index: says what was decoded", message)
    for words in ((), (recording, recording)):
        done = subprocess.run([NTRACE, "index", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        test((done.returncode, done.stdout) == (2, "") and done.stderr.startswith("ntrace index: "), f"index: {len(words)} recordings", done)


def failed(words, status):
    """The status of check tells findings from errors: 2 is any error."""
    return 2 if words[0] == "check" else status


def test_samples():
    """A perf.data file of test_export() has samples with branch stacks, and no trace."""
    samples = f"{DIRECTORY}/perf.data"
    status, text, _ = run("report", "--json", recording=samples)
    report = json.loads(text)
    same((status, report["samples"] > 0, report["counts_of"]), (0, True, "samples"), "report of samples")
    status, text, message = run("count", "--json", "-o", f"{DIRECTORY}/counts", recording=samples)
    same((status, json.loads(text)["streams"]), (0, 1), "count of samples")
    listed = [list(csv.reader(run("export", "-f", "csv", recording=path)[1].splitlines()[1:])) for path in (samples, f"{DIRECTORY}/counts")]
    test(listed[0] and len(listed[0]) == len(listed[1]), "count of samples keeps every entry", *listed)
    for why, *words in (
            ("contains samples, not a trace: --by-thread needs a trace", "report", "--by-thread"),
            ("contains samples, not a trace: --by-process needs a trace", "report", "--by-process"),
            ("contains samples, not a trace: --firmware needs a trace", "report", "--firmware", f"{ROOT}/fw"),
            ("--offset, --time and --around apply to trace only", "report", "--offset", "1,2"),
            ("--offset, --time and --around apply to trace only", "export", "-f", "csv", "--time", "1,2"),
            ("samples cannot show which code was not executed", "export", "-f", "lcov"), ("is a perf.data file already", "export", "-f", "perf-data", "-o", "x"),
            ("calls and returns are unknown: folded needs a trace", "export", "-f", "folded"),
            ("calls and returns are unknown: sqlite needs a trace", "export", "-f", "sqlite", "-o", "x"),
            ("does not contain the kernel's code", "export", "-f", "csv", "--kernel"), ("does not contain the kernel's code", "export", "-f", "csv", "--privilege", "m"),
            *(("contains samples but no trace: use ntrace report or export", command) for command in ("decode", "browse", "gdb", "index", "check", "stat"))):
        status, text, message = run(*words, recording=samples)
        test((status, text) == (failed(words, 1), "") and f"{samples}: " in message and why in message, f"{' '.join(words)} of samples: an error".replace(ROOT, ""), message)
    test(run("export", "-f", "csv", "--user", recording=samples)[0] == 0, "export --user of samples")


def test_firmware():
    """--firmware of all commands that have it. The firmware of the recordings executes nothing."""
    commands = (("decode",), ("report",), ("count", "-o", f"{DIRECTORY}/counts"), ("export", "-f", "csv"), ("index",), ("check",), ("stat",))
    for words in commands:
        plain, given = run(*words), run(*words, "--firmware", f"{ROOT}/fw")
        same(given[:2], plain[:2], f"{words[0]} --firmware: the same of a trace without firmware")
        test("firmware is not decoded" not in given[2], f"{words[0]} --firmware: a file that can be read", given[2])
        missing = run(*words, "--firmware", "/nonexistent/fw")
        # A report has its notes at the beginning.
        note = "".join(line for line in missing[1].splitlines(True) if line.startswith("note "))
        same((missing[0], missing[1].replace(note, "", 1)), plain[:2], f"{words[0]} --firmware: a file that does not exist")
        test("/nonexistent/fw: No such file or directory; firmware is not decoded" in missing[2] + note, f"{words[0]} --firmware: says so", missing[2])
        for value, status, why in ((f"{ROOT}/fw@x", 2, "'x' is not an address"),
                                   (f"{TIMED}/data@0x80000000", 1, "not an ELF file"), ("/nonexistent/fw@0x80000000", 1, "No such file or directory")):
            got, text, message = run(*words, "--firmware", value)
            test((got, text) == (failed(words, status), "") and why in message, f"{words[0]} --firmware {value}: an error".replace(ROOT, "").replace(TIMED, ""), got, message)
    for words in commands:
        done = subprocess.run([NTRACE, *words, "--sysroot", "/nonexistent", TIMED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        test((done.returncode, done.stdout) == (failed(words, 1), "") and "/nonexistent: No such file or directory (option --sysroot)" in done.stderr,
             f"{words[0]} --sysroot: no such directory", done.stderr)


def test_check():
    status, text, _ = run("check", "--json")
    *findings, summary = [json.loads(line) for line in text.splitlines()]
    same((status, summary["infos"]), (0, len(findings)), "check --json: findings")
    same({(item["stream"], item["rule"], item["address"]) for item in findings}, {(0, "flow-no-memory", gap["address"]) for gap in gaps},
         "check --json: stream, rule and address of each")
    lines = run("check")[1].splitlines()
    same(lines[0], f"# stream 0: {TIMED}/aux.0, CPU 0", "check: the stream")
    same([line.split(None, 3)[:3] for line in lines[1:-1]], [[f"0x{item['offset']:08x}", item["severity"], item["rule"]] for item in findings],
         "check: the findings of --json")
    test(all(f"at {item['address']}: {item['text']} ({item['section']})" in line for line, item in zip(lines[1:], findings)), "check: their text", lines)


def test_messages():
    """decode --level message is dump."""
    raw = [f"{TIMED}/aux.0", "--elf", f"{ROOT}/ccc"]
    for options, path in (([], [TIMED]), (["--json"], [TIMED]), (["--json", "--stream", "0"], [TIMED]), (["--params", "tsbits=16"], [TIMED]),
                          (["--json", "--params", "tsbits=32"], raw), (["--params", "srcbits=2", "--src", "1"], raw), (["--words16"], raw),
                          (["--framing", "coresight"], raw), (["--framing", "coresight:3"], raw), (["--stream", "7"], [TIMED]), (["--src", "0"], [TIMED])):
        decoded, dumped = (subprocess.run([NTRACE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
                           for words in (["decode", "--level", "message", *options, *path], ["dump", *options, path[0]]))
        same((decoded.returncode, decoded.stdout), (dumped.returncode, dumped.stdout), f"decode --level message {' '.join(options)}: as dump")


def test_damaged():
    """Recordings that lack files, or have damaged ones."""
    copy = f"{DIRECTORY}/damaged"

    def damaged(name, content):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(TIMED, copy)
        if content is None:
            os.unlink(f"{copy}/{name}")
        else:
            with open(f"{copy}/{name}", "w") as file:
                file.write(content)
    params = open(f"{TIMED}/params").read()
    for name, content, why in (
            ("params", None, "not a recording: .*no 'params' file"), ("params", "garbage\n", "not a recording: .*params does not start with"),
            ("params", params.replace("ntrace-recording 1", "ntrace-recording 99"), "made by a newer version: recording format 99"),
            ("params", params.replace("mode=htm", "mode=xyz"), r"params line \d+: bad stream parameter mode=xyz")):
        damaged(name, content)
        for words in (("decode",), ("report",), ("index",), ("export", "-f", "csv"), ("gdb",), ("browse",), ("stat",), ("check",)):
            status, text, message = run(*words, recording=copy)
            test((status, text) == (failed(words, 1), "") and re.search(f"{copy}.*{why}", message), f"{words[0]}: {why}", message)
    # Without records of tasks, all are one unknown.
    damaged("data", None)
    status, text, message = run("report", "--json", "--by-process", recording=copy)
    report = json.loads(text)
    test(f"{copy}/data: No such file or directory; programs are unknown" in report["notes"][0], "report: tells that there are no records of tasks", report["notes"])
    kernel = count(privilege="S")[()]
    same([(item["pid"], item["tid"], item["instructions"]) for item in report["threads"]], [(-1, -1, kernel)], "report --json: an unknown thread")
    same({item["function"]: (item["pid"], item["process"], item["instructions"]) for item in report["functions"]},
         {name: (-1, "", number) for (name,), number in count("symbol", privilege="S").items()}, "report --json --by-process: an unknown process")
    rows = run("report", "--by-thread", recording=copy)[1].split("\n\n")[1].splitlines()
    same(rows[1].split()[-4:], ["0", "?", "?", "unknown"], "report --by-thread: an unknown thread")
    same(len(rows[0]), len(rows[1]) - 1, "report --by-thread: the columns are below their headings")
    rows = run("report", "--by-process", recording=copy)[1].split("\n\n")[1].splitlines()
    same([line.split()[-3:] for line in rows[1:]], [["?", "[kernel]", item["function"]] for item in report["functions"]],
         "report --by-process: an unknown process")
    same({line.index("?") for line in rows[1:]}, {rows[0].index("pid") + 2}, "report --by-process: below its heading")
    damaged("aux.0", None)
    status, text, message = run("report", recording=copy)
    test(status == 1 and f"warning: {copy}/aux.0: No such file" in message and f"error: {copy}: No such file" in message,
         "report: no trace", message)
    for words in (("index",), ("decode", "--offset", "1,2"), ("report", "--time", "1,2")):
        status, text, message = run(*words, recording=copy)
        test(status == 1 and message.endswith(f"ntrace: error: {copy}: not a recording: a file is missing\n"), f"{' '.join(words)}: no trace", message)
    os.mkdir(f"{copy}/aux.0")
    status, text, message = run("index", recording=copy)
    test(status == 1 and message.endswith(f"ntrace: error: {copy}: not a recording: {copy}/aux.0 is not a regular file\n"), "index: a directory instead of a trace", message)
    os.rmdir(f"{copy}/aux.0")
    for status, words in ((1, ("dump",)), (1, ("stat",)), (2, ("check",))):
        done = subprocess.run([NTRACE, *words, copy], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        test(done.returncode == status and f"ntrace: error: {copy}/aux.0: No such file or directory\n" in done.stderr, f"{words[0]}: no trace", done.stderr)
    damaged("aux.0", "")
    status, text, message = run("report", recording=copy)
    test(status in (0, 1) and "instructions" in text + message, "report: an empty trace", text, message)


def test_headings():
    headings = {(): "share instructions with callees calls time with callees mode object function",
                ("--by-process",): "share instructions calls mode pid process object function",
                ("--kernel",): "share instructions with callees calls time with callees mode object function",
                ("--by-thread",): "share instructions kernel time CPU pid tid thread"}
    for options, heading in headings.items():
        rows = run("report", *options)[1].split("\n\n")[1].splitlines()
        same(" ".join(rows[0].split()), heading, f"report {' '.join(options)}: the headings")
        test(all(row.index("kernel" if "kernel" in row else "user") == rows[0].index("mode") for row in rows[1:] if "mode" in rows[0]),
             f"report {' '.join(options)}: the modes are below theirs", *rows)


def test_children():
    """Programs that a command starts get its standard streams only."""
    script, listed = f"{DIRECTORY}/objdump", f"{DIRECTORY}/descriptors"
    with open(script, "w") as file:
        file.write(f"#!/bin/sh\nls -l /proc/self/fd | sed -n 's/.* -> //p' | grep '^/' | grep -vE '^/proc/|^/dev/' >>{listed}\n"
                   "exec riscv64-linux-gnu-objdump \"$@\"\n")
    os.chmod(script, 0o755)
    for words in (("decode", "--level", "instruction", "--disassemble", "--lines", TIMED),
                  ("decode", "--level", "instruction", "--disassemble", "--params", "tsbits=32", "--elf", f"{ROOT}/ccc", f"{TIMED}/aux.0"),
                  ("report", "--annotate", "labour", TIMED)):
        open(listed, "w").close()
        sysroot = [] if "--elf" in words else ["--sysroot", ROOT]
        done = subprocess.run([NTRACE, words[0], "--objdump", script, *sysroot, *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        left = [path for path in open(listed).read().split() if DIRECTORY in path and path != listed]
        test("nop" in done.stdout and not left, f"{' '.join(words[:3])}: the disassembler gets no files".replace(DIRECTORY, ""), done.stderr, left)


test_report()
test_around()
test_ranges()
test_callers()
test_count()
test_export()
test_index()
test_samples()
test_firmware()
test_check()
test_messages()
test_damaged()
test_headings()
test_children()
