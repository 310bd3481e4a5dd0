#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# For a kernel whose PMU driver fails in the last step of its probe: nothing of CTR is left.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/../ctr/common.sh"

like "CTR was found" 'riscv_ctr: [0-9]+ entries' "$(dmesg | grep riscv_ctr)"
ok "the PMU is gone" test ! -e /sys/bus/event_source/devices/cpu
# perf exits with 255, which fails() takes for a crash.
# shellcheck disable=SC2016 # for that shell
fails "no branch stacks" 'support branch stack' \
	sh -c 'perf record -q -o "$1" -b -e cycles:u -- true || exit 1' sh "$tmp/p.data"
for state in 0 1; do
	echo "$state" >/sys/devices/system/cpu/cpu1/online
	is "$(</sys/devices/system/cpu/cpu1/online)" "$state" "hotplug: cpu1 is $state"
done
is "$(grep -c ctr /sys/devices/system/cpu/hotplug/states)" 0 "no callback of CTR is left"
done_testing
