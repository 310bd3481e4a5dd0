#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `ntrace top`: tables of all CPUs and of one process, with and without a terminal. host/top.sh evaluates them.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
load_module
short_symbols
lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
# shown NAME: the command succeeded without complaints
shown() {
	status "$1" 0
	is "$(<"$1.err")" "" "$1: nothing on stderr"
}

"$here/steady" >/dev/null &
steady=$!
echo $steady >pid
# Short windows: decoding takes many instructions for each traced one. If a hart has no task switch in a window, its task is
# unknown, so a process sleeps and wakes on each hart.
mkfifo nothing
for cpu in 0 1; do
	taskset -c $cpu bash -c 'exec 7<>nothing; while :; do read -r -t 0.001 -u 7; done' &
	wakers+=("$!")
done
attempt harts ntrace top -n 2 -d 0.12 --share 1.5 --json --limit 0
shown harts
kill "${wakers[@]}"
attempt process ntrace top -p $steady -n 3 -d 0.1 --share 0.5 --privilege u --json --limit 0
shown process
attempt kernel ntrace top -p $steady -n 1 -d 0.1 --share 0.5 --sort calls --batch --limit 5
shown kernel
# The same numbers from record and report.
attempt whole ntrace record -p $steady --privilege u -o whole.data -- sleep 0.002
status whole 0

# Memory does not grow with the number of windows, and their times add up.
date +%s.%N >many.begin
ntrace top -p $steady -d 0.05 --share 0.4 --privilege u --json >many.out 2>many.err </dev/null &
many=$!
for number in 3 6 9 12 15; do
	until_true lines many.out $number && awk '/VmHWM/ { print $2 }' "/proc/$many/status" >>many.memory
done
kill -INT $many
finish many $many
date +%s.%N >many.end
shown many

# A terminal: keys and a signal.
pictures=(-d 0.05 --share 0.4)
on_terminal() {
	local name=$1
	shift
	TERM=xterm python3 "$here/terminal.py" "$name.out" "$@" -- \
		ntrace top -p $steady "${pictures[@]}" --privilege u >"$name.said" 2>"$name.err"
	is "$?" 0 "$name: exit status" || diag "$(cat "$name.err")"
	is "$(<"$name.said")" "modes kept" "$name: keys work, and the terminal's modes are restored"
}
on_terminal terminal 9 60 1:traced:c 3:traced:p 1:PAUSED:q
# Windows of 0.2 ms may fall into a time when the process waits, and have nothing to show.
pictures=(-d 0.05 --share 4)
on_terminal unsized 0 0 2:traced:q
pictures=(-d 0.05 --share 0.4)
on_terminal signal 12 60 1:traced:SIGTERM
# While a window lasts, keys count at once.
pictures=(-d 1000 --share 50)
on_terminal waiting 12 60 1:1049h:q

# The watched process ends.
ntrace top -p $steady -d 0.05 --share 0.4 --privilege u --json >ended.out 2>ended.err </dev/null &
watching=$!
until_true lines ended.out 1
kill $steady
wait $steady
finish ended $watching
shown ended
is "$(ls -d /tmp/ntrace-top.* 2>/dev/null)" "" "nothing is left of the windows"
done_testing
