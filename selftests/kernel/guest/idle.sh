#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hart has an idle state that loses the registers of its encoder, in the device tree of the virtual
# SoC. It does not enter it while it is traced.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
states=/sys/devices/system/cpu/cpu1/cpuidle
state=$(grep -l cpu-lost $states/state*/name 2>/dev/null)
state=${state%/name}
[ -n "$state" ] || skip_all "no idle state loses registers"
# This script stays off the hart, which has to be idle.
taskset -pc 0 $$ >/dev/null
entered() { cat "$1/usage"; }
# enters STATE N: the hart has entered it N times more
enters() { [ "$(entered "$1")" -ge $((seen + $2)) ]; }
idles() { seen=$(entered "$1"); wait_for enters "$1" "$2"; }

# The model counts accesses while the hart is off.
unpowered "$(encoder 1)" 0
ok "untraced: the hart enters the state" idles "$state" 1
is "$(($(unpowered "$(encoder 1)")))" 0 "the driver touches nothing"
hold /dev/ntrace1
before=$(entered "$state")
ok "traced: it is idle" idles $states/state0 20
is "$(entered "$state")" "$before" "without entering the state"
ask gaps
is "$answer" 0 "the trace has no gap"
ask stop
is "$answer" 0 "STOP"
ok "stopped: it is idle" idles $states/state0 5
is "$(entered "$state")" "$before" "the registers are kept for the next START"
ask start
is "$answer" 0 "START"
is "$(($(unpowered "$(encoder 1)")))" 0 "nothing was accessed while the hart was off"
ask stop
let_go
ok "released: it enters the state" idles "$state" 1
nothing_said
done_testing
