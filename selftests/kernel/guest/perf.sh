# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The PMU "ntrace". Runs in the guest.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
type=$(</sys/bus/event_source/devices/ntrace/type)
is "$(</sys/bus/event_source/devices/ntrace/cpumask)" 0-1 "cpumask: the harts with an encoder"
program $here/perf abi "$type"
echo 2 >/proc/sys/kernel/perf_event_paranoid
program $here/perf refused "$type"
echo 3 >/proc/sys/kernel/perf_event_paranoid

# What is traced is decoded on the host, with the addresses of the maps.
echo 0 >/proc/sys/kernel/randomize_va_space
out=/root/traced
mkdir "$out"
trace() {
	mkdir "$out/$1"
	$here/perf trace "$type" "$out/$1" "$1" >"$out/$1/steps"
}
# Somebody else on both harts, whose code is elsewhere.
for cpu in 0 1; do
	taskset -c $cpu sh -c 'while :; do :; done' &
	others+=("$!")
done
trace plain
trace fork
kill "${others[@]}"
trace drain
trace pause
trace resume
trace snapshot
mkdir "$tmp/full"
program $here/perf trace "$type" "$tmp/full" full
is "$(perf stat -x, -e ntrace//u true 2>&1 | awk -F, '$3 ~ /ntrace/ { print ($1 > 100) }' | sort -u)" 1 \
	"perf stat counts bytes of trace"
is "$(dmesg | grep -c 'ntrace [0-9a-z.-]*: ')" 0 "the driver has nothing to say"
done_testing
