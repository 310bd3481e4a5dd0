# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Random events, and many that are opened and closed, while a hart goes and comes.
# Arguments: SECONDS OF RANDOM EVENTS, NUMBER OF EVENTS TO OPEN, SEED
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
seconds=$1 number=$2 seed=$3
type=$(</sys/bus/event_source/devices/ctr/type)
cd $out || exit 1
# Events that interrupt too often are throttled, as on any machine.
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
sysctl -q kernel.perf_event_paranoid=-1
mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null

ok "$number times open and close" $here/abi "$type" churn "$number"
left_clean "after open and close"

(while sleep 1; do
	echo 0 >/sys/devices/system/cpu/cpu1/online
	sleep 0.3
	echo 1 >/sys/devices/system/cpu/cpu1/online
done) >/dev/null 2>&1 &
hotplug=$!
diag "attr_fuzz $type $seed $seconds"
if $here/attr_fuzz "$type" "$seed" "$seconds" >fuzz.out 2>fuzz.err; then
	pass "random events for $seconds s"
else
	not_ok "random events: status $?"
fi
diag "$(cat fuzz.out fuzz.err)"
kill $hotplug
wait $hotplug 2>/dev/null
echo 1 >/sys/devices/system/cpu/cpu1/online 2>/dev/null
sleep 1
tried=$(sed -n 's/^tried //p' fuzz.out)
opened=$(sed -n 's/^opened //p' fuzz.out)
ok "${opened:-0} of ${tried:-0} were opened" test "${opened:-0}" -gt $((${tried:-1} / 20))
taken=$(($(state samples 0) + $(state samples 1)))
ok "$taken samples were taken" test "$taken" -gt 10
left_clean "after random events"
again() { perf record -q -B -o p.data -c 20011 -e ctr/cycles/u -j any,u -- "$here"/edges 20000 >/dev/null 2>&1; }
enough 11 p.data again
ok "and it records as before" test "$(perf script -i p.data -F ip,brstack 2>/dev/null | grep -c 0x)" -gt 10
ok "rmmod" rmmod riscv_ctr
done_testing
