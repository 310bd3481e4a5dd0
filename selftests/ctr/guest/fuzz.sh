#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random events, and many that are opened and closed, while a hart goes offline and online.
# Arguments: number of random events, number of events to open and close, seed; without arguments:
# few events
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
[ $# -ne 0 ] || set -- 200 100 1
[ $# -eq 3 ] || { echo "usage: fuzz.sh [EVENTS EVENTS SEED]" >&2; exit 2; }
number=$1 churn=$2 seed=$3
cpu1=/sys/devices/system/cpu/cpu1/online
needs_module
type=$(<$pmu/type)
# Events that interrupt too often are throttled, as on any machine.
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
sysctl -q kernel.perf_event_paranoid=-1
mkdir -p /sys/fs/cgroup
grep -q ' /sys/fs/cgroup cgroup2 ' /proc/mounts ||
	ok "cgroups are mounted" mount -t cgroup2 none /sys/fs/cgroup

ok "$churn times open and close" "$here/abi" "$type" churn "$churn"
left_clean "after open and close"

# Meanwhile, a hart goes offline and online; when and how often does not matter.
(while sleep 0.05; do
	echo 0 >$cpu1
	sleep 0.02
	echo 1 >$cpu1
	echo x >>"$tmp/hotplugs"
done) >/dev/null 2>&1 &
hotplug=$!
before=$(($(state samples 0) + $(state samples 1)))
diag "attr_fuzz $type $seed $number"
ok "$number random events" "$here/attr_fuzz" "$type" "$seed" "$number"
cp "$tmp/.ok" fuzz.out
diag "$(<fuzz.out)"
ok "beside a hart that went and came $(wc -l <"$tmp/hotplugs") times" test -s "$tmp/hotplugs"
kill $hotplug
wait $hotplug 2>/dev/null
echo 1 >$cpu1 2>/dev/null
# Grandchildren end by themselves.
gone() { ! pgrep -x attr_fuzz >/dev/null; }
ok "all its tasks have gone" wait_for gone
tried=$(sed -n 's/^tried //p' fuzz.out)
opened=$(sed -n 's/^opened //p' fuzz.out)
ok "${opened:-0} of ${tried:-0} were opened" test "${opened:-0}" -gt $((${tried:-1} / 20))
taken=$(($(state samples 0) + $(state samples 1) - before))
ok "$taken samples were taken" test "$taken" -gt 10
left_clean "after random events"
"${perf_record[@]}" -o "$tmp/p.data" -c 20011 -e ctr/by-cycles/u -j any,u -- "$here/edges" 4000 >/dev/null 2>"$tmp/log"
again=$(perf script -i "$tmp/p.data" -F ip,brstack 2>>"$tmp/log" | grep -c 0x)
ok "and it records as before: $again samples" test "$again" -gt 10 || diag "$(<"$tmp/log")"
ok "rmmod" rmmod riscv_ctr
done_testing
