#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The PMU "ntrace". Usage: perf.sh [COUNTED]; COUNTED: program to record if the encoders cannot exclude
# the kernel. Its trace can only be decoded with a copy of the kernel, which a recording has.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
type=$(<$pmu/type)
is "$(<$pmu/cpumask)" 0-1 "cpumask: the harts with an encoder"
program perf abi "$type"
paranoid=$(</proc/sys/kernel/perf_event_paranoid)
echo 2 >/proc/sys/kernel/perf_event_paranoid
program perf refused "$type"
echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid

# The host decodes the trace with these address maps.
trace() {
	mkdir "$1"
	program perf trace "$type" "$1" "$1" $sparse
}
if [ -n "$version0" ]; then
	# The kernel is in the trace, and the longer the run, the more of it.
	sparse=''
	trace drain
	trace snapshot
	trace full
	if [ -e /proc/lockdep ]; then
		skip "record --task" "to save trace, the debug kernel executes more than it saves the trace of"
	else
		ntrace record -q --task -o counted.data -- "$1" >out
		is "$? $(<out)" "7 done" "record --task"
	fi
	nothing_said
	done_testing
fi
# A second task on both harts, whose code is at other addresses.
for cpu in 0 1; do
	taskset -c $cpu sh -c 'while :; do :; done' &
	others+=("$!")
done
trace plain
trace fork
kill "${others[@]}"
wait "${others[@]}" 2>/dev/null
trace drain
trace pause
trace resume
trace snapshot
trace full
is "$(perf stat -x, -e ntrace//u true 2>&1 | awk -F, '$3 ~ /ntrace/ { print ($1 > 100) }' | sort -u)" 1 \
	"perf stat counts bytes of trace"
nothing_said
done_testing
