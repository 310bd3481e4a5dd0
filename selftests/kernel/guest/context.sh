# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# scontext and Ownership messages. Runs in the guest: context.sh BITS
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
type=$(</sys/bus/event_source/devices/ntrace/type)
caps() { cat "/sys/bus/event_source/devices/ntrace/caps/$1"; }
if [ "$1" -lt 32 ]; then
	is "$(caps context)" "$([ "$1" -gt 0 ] && echo 0x1 || echo 0x0)" "caps: whether the encoder tells contexts"
	program $here/perf nameless "$type"
	is "$(dmesg | grep -c Oops)" 0 "and no oops"
	done_testing
fi
is "$(caps context)" 0x1 "caps: context"
out=/root/traced/context
mkdir -p "$out"
for cpu in 0 1; do
	taskset -c $cpu sh -c 'while :; do :; done' &
	others+=("$!")
done
$here/perf trace "$type" "$out" context >"$out/steps"
kill "${others[@]}"
done_testing
