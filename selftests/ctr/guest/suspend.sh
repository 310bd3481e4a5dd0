# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep while a hart and a task are recorded. Runs in the guest. The file system
# that takes the runner's results does not survive it: powers off by itself.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
cd $out || exit 1
# sampled CPU COUNT: so many samples more than there are now.
sampled() {
	local goal=$(($(state samples "$1") + $2))
	until [ "$(state samples "$1")" -ge "$goal" ]; do :; done
}
of_hart() { echo "owned=$(state owned "$1") sctrctl=$(state sctrctl "$1")"; }

taskset -c 1 $here/edges 1000000000 >/dev/null &
program=$!
perf record -q -B -o hart.data -C 1 -c 100003 -e ctr/cycles/u -j any,u 2>hart.err &
recorder=$!
taskset -c 0 perf record -q -B -o task.data -c 100003 -e ctr/cycles/u -j stack,u -- \
	$here/edges 1000000000 >/dev/null 2>task.err &
stacks=$!
sampled 0 20
sampled 1 20
before=$(of_hart 1)
echo devices >/sys/power/pm_test && echo freeze >/sys/power/state
is "$(of_hart 1)" "$before" "after a sleep the hart records as before"
sampled 0 20
sampled 1 20
pass "there are samples of the hart and of the task"
kill -INT $recorder $stacks
wait $recorder $stacks
kill $program
wait $program 2>/dev/null
for name in hart task; do
	perf script -i $name.data -F ip,brstack 2>/dev/null >$name.stacks
	ok "$name: $(grep -c . $name.stacks) samples" test "$(grep -c . $name.stacks)" -ge 40
	is "$(grep -cE 'f{6,}[0-9a-f]{6,}' $name.stacks)" 0 "$name: no address of the kernel"
done
left_clean "at the end"
echo "1..$tap_count"
poweroff -f
