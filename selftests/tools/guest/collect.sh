#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `ntrace collect`: windows of one process and of all CPUs. host/collect.sh evaluates the counts.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
load_module
short_symbols
# files DIRECTORY: how many, hidden ones included
files() {
	local found
	shopt -s nullglob dotglob
	found=("$1"/*)
	echo ${#found[@]}
}
# Its parent never waits for it.
bash -c '"$0" >/dev/null & echo $! >steady.pid; exec sleep infinity' "$here/steady" &
parent=$!
has_pid() { [ -s steady.pid ]; }
until_true has_pid
steady=$(<steady.pid)
attempt process ntrace collect -o process.d -p "$steady" --privilege u --window 0.002 --interval 0.05 -n 3 --class steady
status process 0
like "process: what it says" 'process.d/20.*Z-.*[.]counts: counts of 3 of 3 windows' "$(<process.err)"
is "$(files process.d)" 1 "process: one file, and nothing of the windows"
is "$(basename process.d/*.counts | cut -c 1-2)" 20 "its name begins with the year"
# Each window begins a new file, and only the current one is small enough.
attempt files ntrace collect -o files.d -p "$steady" --privilege u --window 0.001 --interval 0.05 -n 3 --rotate 0 -q
status files 0
is "$(<files.err)" "" "--quiet"
is "$(files files.d)" 3 "--rotate: three files"
attempt small ntrace collect -o files.d -p "$steady" --privilege u --window 0.001 --interval 0.05 -n 2 --rotate 0 --size 1
status small 0
is "$(files files.d)" 1 "--size: the last one is left"
like "--size: says what it removed" 'files.d/20.*: removed, the files exceed --size' "$(<small.err)"
attempt cpus ntrace collect -o cpus.d --window 0.001 --interval 0.05 -n 1
status cpus 0
# Windows begin an interval after each other.
begin=$(date +%s%N)
attempt spaced ntrace collect -o spaced.d -p "$steady" --privilege u --window 0.001 --interval 3 -n 2
ok "spaced: the second window begins 3 s after the first one" test $((($(date +%s%N) - begin) / 1000000)) -ge 3000
# A signal, while it rests.
ntrace collect -o signal.d -p "$steady" --privilege u --window 0.001 --interval 1000 2>signal.err >signal.out </dev/null &
collect=$!
has_file() { compgen -G 'signal.d/20*.counts' >/dev/null; }
until_true has_file
kill -TERM $collect
finish signal $collect
status signal 0
is "$(files signal.d)" 1 "a signal: the counts are kept, the window is not"
# The process ends, and stays a zombie, which cannot be traced.
ntrace collect -o ended.d -p "$steady" --privilege u --window 0.001 --interval 0.02 2>ended.err >ended.out </dev/null &
collect=$!
has_file() { compgen -G 'ended.d/20*.counts' >/dev/null; }
until_true has_file
kill "$steady"
finish ended $collect
status ended 0
like "a zombie is no error" '(^|: )ended.d/20[^:]*: counts of ' "$(tail -n 1 ended.err)"
kill $parent
attempt nothing ntrace collect -o /proc/none --window 0.001 -n 1
says nothing 1 "/proc/none: "
# A window without any trace.
attempt empty ntrace collect -o empty.d --privilege vu --window 0.001 -n 1
status empty 1
like "empty: says what" 'empty.d: none of 1 windows could be counted: --window may be too short' "$(<empty.err)"
is "$(files empty.d)" 0 "empty: no file"
# Names up to 2,000 bytes: those of the files in it are longer.
long=$(printf './%.0s' {1..997})
attempt long ntrace collect -o "${long}long.d" --window 0.001 -n 1
status long 0
attempt longer ntrace collect -o "${long}longer.d" --window 0.001 -n 1
says longer 1 "the name is longer than 2000 bytes"
attempt usage ntrace collect --window 2 --interval 1
status usage 2
done_testing
