#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pre-ratification SiFive encoders. Usage: v0.sh COUNTED; COUNTED: program to
# record
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
components=$debug/components
off() { grep -c ' control=0x8 ' $components; }
is "$(grep -c 'version=0\.0 ' $components)" 2 "debugfs: two encoders of version 0"
is "$(off)" 2 "both are off"
# Most permissive setting of perf.
echo -1 >/proc/sys/kernel/perf_event_paranoid
program v0 "$(encoder 0)" "$(<$pmu/type)"
like "the log tells of the error" 'encoder does not start' "$(said)"
is "$(said | grep -c 'cannot write to its sink (control 0x')" 2 "and of each sink that failed, once"
said_all
is "$(off)" 2 "both are off"

hold /dev/ntrace1
echo 0 >/sys/devices/system/cpu/cpu1/online
ask start
is "$answer" ENODEV "the hart is offline: START: ENODEV"
echo 1 >/sys/devices/system/cpu/cpu1/online
ask start
is "$answer" 0 "and back: START"
let_go

if [ -e /proc/lockdep ]; then
	skip "record" "to save trace, the debug kernel executes more than it saves the trace of"
else
	ntrace record -q -a -o counted.data --timestamps any -- "$1" >out
	is "$? $(<out)" "7 done" "record"
fi
rmmod ntrace
is "$(register "$(encoder 0)") $(register "$(encoder 1)")" "0x00000008 0x00000008" "rmmod: both are off"
is "$(said)" "" "the driver has nothing more to say"
done_testing
