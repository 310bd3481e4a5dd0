#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep, including the devices, while a task and while all harts are recorded; the host evaluates the recordings.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
grep -qw devices /sys/power/pm_test 2>/dev/null || skip_all "the kernel cannot test its sleep"
needs_module

# The driver of 9p does not survive a system sleep in a guest: unbind it first.
shares=() unbound=()
prepare() {
	local mount device
	while read -r mount; do
		read -r _ place _ <<<"$mount"
		umount "$place" && shares+=("$mount")
	done < <(awk '$3 == "9p"' /proc/mounts)
	for device in /sys/bus/virtio/drivers/9pnet_virtio/virtio*; do
		[ -e "$device" ] || continue
		echo "${device##*/}" >/sys/bus/virtio/drivers/9pnet_virtio/unbind
		unbound+=("${device##*/}")
	done
}
restore() {
	local device mount tag place options
	for device in "${unbound[@]}"; do echo "$device" >/sys/bus/virtio/drivers/9pnet_virtio/bind; done
	for mount in "${shares[@]}"; do
		read -r tag place _ options _ <<<"$mount"
		mount -t 9p -o "$options" "$tag" "$place"
	done
}
doze() {
	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	echo devices >/sys/power/pm_test
	echo freeze >/sys/power/state
	echo none >/sys/power/pm_test
}
dozed() { dmesg | grep -c 'PM: suspend exit'; }

# asleep NAME CPU ARGUMENT...: records with these arguments before and after a sleep
asleep() {
	local name=$1 cpu=$2 before
	shift 2
	"${perf_record[@]}" -T -o "$tmp/$name.data" "$@" -- taskset -c "$cpu" "$here/edges" 10000000000 >"$name.base" 2>"$name.log" &
	recorder=$!
	ok "$name: samples before the sleep" wait_for_samples "$cpu" 50 || diag "$(<"$name.log")"
	before=$(dozed)
	ok "$name: sleep" doze
	is "$(($(dozed) - before))" 1 "$name: all devices slept"
	ok "$name: samples after it" wait_for_samples "$cpu" 50
	pkill -x -P "$recorder" edges
	wait $recorder
	perf script -i "$tmp/$name.data" --comm edges -F ip,brstack 2>>"$name.log" | grep -v '^$' >"$name.stacks"
	ok "recorded $name: $(wc -l <"$name.stacks") samples" test "$(wc -l <"$name.stacks")" -ge 100 || diag "$(<"$name.log")"
	left_clean "$name"
}
prepare
asleep task 1 -c 600011 -e ctr/by-cycles,depth=32/u -j any,u,save_type
asleep calls 1 -c 600011 -e ctr/by-cycles/u -j stack,u
asleep harts 1 -a -c 600011 -e ctr/by-cycles,depth=32/u -j any,u,save_type
doze
left_clean "a sleep without events"
restore
ok "rmmod after all" rmmod riscv_ctr
done_testing
