# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# SiFive's encoders of before the specification. Runs in the guest.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
components=/sys/kernel/debug/ntrace/components
off() { grep -c ' control=0x8 ' $components; }
is "$(grep -c 'version=0\.0 ' $components)" 2 "debugfs: two encoders of version 0"
is "$(off)" 2 "both are off"
# The most that perf lets anyone do.
echo -1 >/proc/sys/kernel/perf_event_paranoid
program $here/v0 "$(encoder 0)" "$(</sys/bus/event_source/devices/ntrace/type)"
like "the log tells of the error" 'encoder does not start' "$(dmesg)"
is "$(dmesg | grep -c 'cannot write to its sink (control 0x')" 2 "and of each sink that failed, once"
told=$(dmesg | grep -cE 'ntrace ([0-9a-z.-]+: |ntrace)')
is "$(off)" 2 "both are off"

hold /dev/ntrace1
echo 0 >/sys/devices/system/cpu/cpu1/online
ask start
is "$answer" ENODEV "the hart is offline: START: ENODEV"
echo 1 >/sys/devices/system/cpu/cpu1/online
ask start
is "$answer" 0 "and back: START"
let_go

mkdir -p /root/results
cd /root/results || exit 1
if [ -e /proc/lockdep ]; then
	skip "record" "to save trace, the debug kernel executes more than it saves the trace of"
else
	ntrace record -q -o counted.data --timestamps any -- /root/counted >out
	is "$? $(<out)" "7 done" "record"
fi
rmmod ntrace
is "$(devmem "$(encoder 0)" 32) $(devmem "$(encoder 1)" 32)" "0x00000008 0x00000008" "rmmod: both are off"
is "$(dmesg | grep -cE 'ntrace ([0-9a-z.-]+: |ntrace)')" "$told" "the driver has nothing more to say"
done_testing
