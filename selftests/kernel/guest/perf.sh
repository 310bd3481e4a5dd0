#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The PMU "ntrace".
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
	program perf trace "$type" "$1" "$1"
}
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
