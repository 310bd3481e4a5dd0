#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep, including the devices, while two harts are traced.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
running() { grep -cE ' control=0x[0-9a-f]+( active)? enabled' $debug/components; }
# Read the registers directly.
encoders_enabled() { enabled "$(encoder 0)" && enabled "$(encoder 1)"; }
blocks=$(wc -l <$debug/components)

# Linux' 9p over virtio does not survive a system sleep, so the test unmounts 9p meanwhile. In the
# virtual SoC, busybox has these commands.
tool() { if command -v "$1" >/dev/null; then "$@"; else busybox "$@"; fi; }
shares() { awk '$3 == "9p" { print $1, $2, $4 }' /proc/mounts; }
virtio_9p=/sys/bus/virtio/drivers/9pnet_virtio
mapfile -t mounted < <(shares)
for share in "${mounted[@]}"; do
	tool umount "$(cut -d' ' -f2 <<<"$share")" || { not_ok "umount of $share"; done_testing; }
done
nodes=()
for node in "$virtio_9p"/virtio*; do
	[ -e "$node" ] || continue
	nodes+=("${node##*/}")
	echo "${node##*/}" >$virtio_9p/unbind
done
share_again() {
	local node share
	for node in "${nodes[@]}"; do
		echo "$node" >$virtio_9p/bind
	done
	for share in "${mounted[@]}"; do
		# shellcheck disable=SC2086 # source, directory and options
		set -- $share
		tool mount -t 9p -o "$3" "$1" "$2" || not_ok "mount of $share"
	done
}

hold /dev/ntrace1
exec {other_in}<&"${HOLD[0]}" {other_out}>&"${HOLD[1]}"
other=$HOLD_PID
hold /dev/ntrace0 2>/dev/null
is "$(running)" "$blocks" "all blocks are enabled"
before=$(dmesg | grep -c 'PM: suspend exit')
# The sleep can be shorter than the five seconds requested.
echo 0 >/sys/module/suspend/parameters/pm_test_delay
echo devices >/sys/power/pm_test && echo freeze >/sys/power/state
share_again
is "$(($(dmesg | grep -c 'PM: suspend exit') - before))" 1 "it was asleep"
is "$(running)" "$blocks" "all blocks are enabled again"
ok "the encoders' registers confirm it" encoders_enabled
ask state
is "$answer" 1 "the capture runs, without START"
ask stop
is "$answer" 0 "STOP"
ask start
is "$answer" 0 "START"
echo stop >&"$other_out"
read -r -t 120 answer <&"$other_in"
is "$answer" 0 "that of the other hart stops"
echo none >/sys/power/pm_test
let_go
kill "$other"
nothing_said
done_testing
