# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep while a hart is recorded, and while a task is. Runs in the guest with one
# hart. The file system that takes the runner's results does not survive it: powers off
# by itself.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
cd $out || exit 1
echo 0 >/sys/module/suspend/parameters/pm_test_delay
echo devices >/sys/power/pm_test
# sampled COUNT: waits for so many samples more than there are now.
sampled() {
	local goal=$(($(state samples) + $1))
	until [ "$(state samples)" -ge "$goal" ]; do :; done
}

# asleep NAME ARGUMENTS...: perf record of what runs for ever goes through a sleep.
asleep() {
	local name=$1 recorder control
	shift
	perf record -q -B -o p.data -c 100003 -e ctr/cycles/u "$@" >/dev/null 2>record.err &
	recorder=$!
	sampled 20
	control=$(state sctrctl)
	ok "$name: it is recorded (sctrctl $control)" test "$control" != 0x0
	echo freeze >/sys/power/state
	sampled 20
	is "owned=$(state owned) sctrctl=$(state sctrctl)" "owned=1 sctrctl=$control" "$name: after a sleep as before"
	kill -INT $recorder
	wait $recorder
	perf script -i p.data -F ip,brstack 2>/dev/null >stacks
	ok "$name: samples of before and after ($(grep -c . stacks))" test "$(grep -c . stacks)" -ge 40
	is "$(grep -cE 'f{6,}[0-9a-f]{6,}' stacks)" 0 "$name: no address of the kernel"
	is "owned=$(state owned) sctrctl=$(state sctrctl) valid=$(state valid)" "owned=0 sctrctl=0x0 valid=0" \
		"$name: nothing is left"
}
$here/edges 1000000000 >/dev/null &
program=$!
asleep hart -C 0 -j any,u
asleep task -j stack,u -p $program
kill $program
wait $program 2>/dev/null
echo "1..$tap_count"
poweroff -f
