#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records with the patched perf, /root/perf, and the driver's module. The host decodes the recordings.
#   perf.sh JOB: task, range, snapshot, thread, cpus, refused, shell, or lost
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/kernel/guest/tap.sh
. "$here/../kernel/tap.sh"
load=/root/selftests/tools/truth_load perf=/root/perf
# Nothing but the recording: build-ids are those of the host's copies.
record() { "$perf" record -B -N --no-bpf-event -o p.data "$@" >record.out 2>record.err; }
refused() { record "$@" -- true || { cat record.out record.err; return 1; }; }

case $1 in
task) ok "a task and its children" record -e ntrace//u -- "$load" 1 2 ;;
range) ok "an address filter" record -e ntrace//u --filter "filter by_value @ $load" -- "$load" 1 1 ;;
thread) ok "a thread, wherever it runs" record --per-thread -e ntrace//u -- "$load" 1 1 ;;
cpus) ok "all CPUs" record -a --kcore -e ntrace// -- "$load" 1 1 ;;
# 8 KiB, and a reader that sleeps: perf loses trace, and the kernel says where.
lost) ok "a small AUX area" record -m ,2 -e ntrace//u -- "$load" 1 1 ;;
# A signal, and a command of --control.
snapshot)
	mkfifo control answers
	"$perf" record -B -N --no-bpf-event -o p.data --control=fifo:control,answers -S16384 -e ntrace//u -- "$load" 20 1 >record.out 2>record.err &
	pid=$!
	exec {control}>control {answers}<answers
	# The handler of the signal is there before the program.
	wait_for pgrep -x truth_load
	kill -USR2 $pid
	echo snapshot >&$control
	read -r answer <&$answers
	is "$answer" ack "the command snapshot"
	wait $pid
	is "$?" 0 "a snapshot"
	;;
# perf's own test
shell)
	mkdir bin
	ln -s $perf bin/perf
	PATH=$PWD/bin:$PATH
	ok "test_ntrace.sh" bash /root/test_ntrace.sh
	;;
refused)
	for kind in start stop tracestop; do
		fails "a filter $kind" 'not supported' refused -e ntrace//u --filter "$kind by_value @ $load"
	done
	# perf goes on without the event whose samples would have trace.
	record --aux-sample -e '{ntrace//u,cycles:u}' -- true
	like "AUX samples" 'Failure to open event .cycles:u.*Invalid argument' "$(tr '\n' ' ' <record.err)"
	;;
esac
[ "$tap_failures" -eq 0 ] || diag "$(cat record.out record.err)"
done_testing
