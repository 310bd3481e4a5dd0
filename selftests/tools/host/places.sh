# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2034,SC2154 # of and for recording_common.sh
# The matrix of guest/places.sh: of each program the very code, with its counts, or a note that it is unknown.
query_with='functions = values[0]["functions"]
places = "here mounted jailed pivot overlay dev memfd removed replaced moved moving bare baremount bareover".split()
def cell(name, place):
    """What was decoded of the code of a program: its function, or memory."""
    found = [(f["function"], f["instructions"], f["calls"]) for f in functions if f["process"] == name
             and (f["function"] in places + ["wrong", "bare-wrong"] or f["object"].startswith("[memory of " + name + ","))]
    return found == [(None, 6300, 0) if place.startswith("mov") else (place, 6300, 700)] or found
def cells(prefixes):
    return [(name, cell(name, place)) for prefix in prefixes for place in places for name in [prefix + "-" + place]
            if cell(name, place) is not True]
def sampled():
    return sorted({f["function"] for f in functions} & {*places, "wrong", "bare-wrong"})
def decoded_or_silent(paths):
    return [path for path in paths if not any(path in note and "not decoded" in note for note in report["notes"])]'

# What the recorder copied, and the archive, are enough: this machine has none of these files.
for name in task all storm; do
	is "$(<"$results/$name.archive.rc")" 0 "$name: archive" || diag "$(<"$results/$name.archive.err")"
	"$ntrace" report --user --json --limit 0 --by-process "$results/$name.data" >"$tmp/$name.json" 2>"$tmp/err"
done
is "$(query "$tmp/task.json" "cells('t')")" "[]" "task: the programs that a recorded command starts"
is "$(query "$results/pid.report.out" "cells('p')")" "[]" "pid: the programs that ran before" || diag "$(<"$results/pid.report.err")"
is "$(query "$tmp/all.json" "cells('b')")" "[]" "all: the programs that ran before, system-wide"
is "$(query "$tmp/all.json" "cells('a')")" "[]" "all: the programs that start later"
is "$(query "$tmp/storm.json" "[(name, place, cell(name, place)) for round in '123' for place in places[:6] + ['removed', 'replaced']
	for name in [f'storm{round}-{place}'] if cell(name, place) is not True]")" "[]" "storm: many that start at a time and wait, by their last names"

# Stock perf copies nothing: few can be found. Of a process that runs, it knows a path below another root.
others="'/placed/mounted /placed/jailed /placed/pivot /placed/overlay/prog /memfd: /placed/removed /placed/replaced'.split() + \
	'memory /placed/bare: /placed/baremount /placed/bareover/prog'.split()"
perf_found() {
	is "$(query "$results/$1.report.out" "sampled()")" "$2" "$1: these programs can be found" || diag "$(<"$results/$1.report.err")"
	is "$(query "$results/$1.report.out" "decoded_or_silent($others)")" "[]" "$1: notes about the others"
}
perf_found perf_task "['dev', 'here']"
perf_found perf_all "['dev', 'here', 'jailed']"
