#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hart enters idle states that lose the registers of its encoder while it is traced. The state is
# in the device tree of the virtual SoC; the test resets the encoder meanwhile.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
state=$(grep -l cpu-lost /sys/devices/system/cpu/cpu1/cpuidle/state*/name 2>/dev/null)
state=${state%/name}
[ -n "$state" ] || skip_all "no idle state loses registers"
# This script stays off the hart, which has to be idle when the encoder is reset: after a reset while
# the hart runs, no later one is like a loss of power.
taskset -pc 0 $$ >/dev/null
entered() { cat "$state/usage"; }
# Waits until the hart enters the state once more.
enters() { [ "$(entered)" -gt "$seen" ]; }
idles() { seen=$(entered); wait_for enters; }
grows() { ask head; [ "$answer" -gt "$seen_head" ]; }
goes_on() {
	ask head
	seen_head=$answer
	wait_for grows
}

ok "untraced: the hart enters the state" idles
hold /dev/ntrace1
ok "traced: it does" idles
ok "and is traced" goes_on
ask gaps
ok "a gap shows each pause" test "$answer" -gt 0
# The model counts accesses while the hart is off. Only then is a reset like the loss of power.
lost=''
for _ in {1..100}; do
	unpowered "$(encoder 1)" 0
	devmem "$(encoder 1)" 32 0
	[ "$(($(unpowered "$(encoder 1)")))" = 1 ] && lost=yes && break
	ask stop
	ask start
done
ok "the encoder loses its registers" test -n "$lost"
ok "and is traced after it" goes_on
is "$(ask state; echo "$answer")" 1 "the capture runs"
ask loss
is $((answer & 4)) 0 "the encoder has lost nothing"
ask stop
is "$answer" 0 "STOP"
ask start
is "$answer" 0 "START"
ask stop
let_go
nothing_said

# The debug log of the driver is not enough: without a capture, the notifier is not there.
unpowered "$(encoder 1)" 0
idles
is "$(($(unpowered "$(encoder 1)")))" 0 "untraced: the driver touches nothing"
done_testing
