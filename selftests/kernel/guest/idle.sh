#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# idle.sh [HART]: a hart has an idle state that loses the registers of its encoder, in the device tree of
# the virtual SoC, and perhaps those of its bridge and, with other harts, of its funnel. It does not
# enter it while it is traced.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
hart=${1:-1}
states=/sys/devices/system/cpu/cpu$hart/cpuidle
state=$(grep -l cpu-lost "$states"/state*/name 2>/dev/null)
state=${state%/name}
[ -n "$state" ] || skip_all "no idle state loses registers"
# This script stays off the hart, which has to be idle.
taskset -pc 0 $$ >/dev/null
entered() { cat "$1/usage"; }
# enters STATE N: the hart has entered it N times more; a short program wakes a hart that nothing else wakes
enters() { taskset -c "$hart" true; [ "$(entered "$1")" -ge $((seen + $2)) ]; }
idles() { seen=$(entered "$1"); wait_for enters "$1" "$2"; }

# The model counts accesses while the hart is off.
unpowered "$(encoder "$hart")" 0
ok "untraced: the hart enters the state" idles "$state" 1
is "$(($(unpowered "$(encoder "$hart")")))" 0 "the driver touches nothing"
hold /dev/ntrace"$hart"
before=$(entered "$state")
ok "traced: it is idle" idles "$states"/state0 20
is "$(entered "$state")" "$before" "without entering the state"
ask gaps
is "$answer" 0 "the trace has no gap"
ask head
ok "trace has come" test "$answer" -gt 0
ask stop
is "$answer" 0 "STOP"
ok "stopped: it is idle" idles "$states"/state0 5
is "$(entered "$state")" "$before" "the registers are kept for the next START"
ask start
is "$answer" 0 "START"
is "$(($(unpowered "$(encoder "$hart")")))" 0 "nothing was accessed while the hart was off"
ask stop
let_go
ok "released: it enters the state" idles "$state" 1
nothing_said
done_testing
