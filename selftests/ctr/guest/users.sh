#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What users of branch stacks type: several events, groups, several users on a hart, processes that come and go. The host
# evaluates the samples of each event.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module
sysctl -q kernel.perf_event_paranoid=-1
# All processes of the program edges have the same addresses.
random=$(</proc/sys/kernel/randomize_va_space)
echo 0 >/proc/sys/kernel/randomize_va_space
edges=$here/edges
any=branch_type=any call=branch_type=call

# split NAME FILE: writes the stacks of each event of the program edges to NAME.1.stacks and so on, in the order of the
# events' names
split() {
	local event number=0 events
	perf script -i "$2" --comm edges -F event,ip,brstack 2>>"$tmp/log" | grep . >"$tmp/all"
	events=$(perf evlist -i "$2" 2>>"$tmp/log" | grep -v '^#\|dummy' | sort -u)
	for event in $events; do
		number=$((number + 1))
		awk -v event="$event:" '$1 == event { $1 = ""; print }' "$tmp/all" >"$1.$number.stacks"
		pass "recorded $1: $(wc -l <"$1.$number.stacks") samples of $event"
	done
	sort -u "$tmp/out" | grep '^base' >"$1.base"
}
# recorded NAME ARGUMENT...
recorded() {
	local name=$1 status=0
	shift
	"${perf_record[@]}" -o "$tmp/$name.data" -c 20011 "$@" >"$tmp/out" 2>"$tmp/log" || status=$?
	[ $status -eq 0 ] || { not_ok "perf record $*: status $status"; diag "$(<"$tmp/log")"; }
	split "$name" "$tmp/$name.data"
}
one=(taskset -c 0 "$edges" 4000)

# One process, several events.
recorded two -j any,u -e ctr/by-cycles/u,ctr/by-instructions/u -- "${one[@]}"
recorded filters -e "ctr/by-cycles,$any/u,ctr/by-instructions,$call/u" -- "${one[@]}"
recorded modes -e "ctr/by-cycles,$any/u,ctr/by-instructions,$any/k" -- "${one[@]}"
recorded group -j any,u -e '{ctr/by-cycles/u,ctr/by-instructions/u}' -- "${one[@]}"
recorded group_filters -e "{ctr/by-cycles,$any/u,ctr/by-instructions,$call/u}" -- "${one[@]}"
recorded group_read -j any,u -e '{ctr/by-cycles/u,ctr/by-instructions/u}:S' -- "${one[@]}"
recorded group_plain -e "{ctr/by-cycles,$any/u,instructions:u}" -- "${one[@]}"
recorded plain -e ctr/by-cycles/u -- "${one[@]}"
recorded lbr -j stack,u -e ctr/by-cycles/u,ctr/by-instructions/u -- "${one[@]}"
perf stat -x , -e ctr/by-instructions/u,instructions:u -o counts "${one[@]}" >/dev/null
is "$(awk -F , '/instructions/ { print $1 }' counts | uniq | wc -l)" 1 "perf stat: both count the same" || diag "$(<counts)"

# Several users: two record a task, one the hart.
export -f state sampled wait_for wait_for_samples
taskset -c 1 "$edges" 100000000000 >"$tmp/program" &
program=$!
recording users_a -c 20011 -e "ctr/by-cycles,$any/u" -p $program
recording users_b -c 20011 -e "ctr/by-cycles,$call/u" -p $program
# This one counts the interrupts of all three, which execute more instructions than a short period.
recording users_c -c 200003 -a -C 1 -e "ctr/by-cycles,$any/"
wait_for_samples 1 600
end_recordings
for name in users_a users_b users_c; do
	cp "$tmp/program" "$tmp/out"
	split $name "$tmp/$name.data"
done
like "a call stack beside other branches of its task is refused" 'resource busy|counters are busy' \
	"$("${perf_record[@]}" -o "$tmp/d.data" -e "ctr/by-cycles,$any/u,ctr/by-instructions,branch_type=stack/u" true 2>&1)"
kill $program
wait $program 2>/dev/null

# Call stacks of processes that come, fork and go, on one hart.
# shellcheck disable=SC2016 # for the shell below perf
siblings='for i in 1 2 3 4 5 6; do '"$edges"' $((i * 300)) & done; wait'
recorded siblings -e ctr/by-cycles/u -j stack,u -- taskset -c 0 sh -c "$siblings"
recorded siblings_all -a -e ctr/by-cycles/u -j stack,u -- taskset -c 0 sh -c "$siblings"
recorded forked -e ctr/by-cycles/u -j stack,u -- taskset -c 0 "$edges" 1500 3
recorded migrated -e ctr/by-cycles/u -j stack,u -- \
	taskset -c 0 sh -c "$edges 6000 & for i in 1 0 1 0 1 0; do taskset -cp \$i \$! >/dev/null; done; wait"

# A cgroup: nothing else of the hart is recorded.
mkdir -p /sys/fs/cgroup
grep -q ' /sys/fs/cgroup cgroup2 ' /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
mkdir /sys/fs/cgroup/ctr
# Linux 6.12 gives cgroups the controller perf_event when another one is enabled.
echo +pids >/sys/fs/cgroup/cgroup.subtree_control
taskset -c 0 sh -c 'while :; do :; done' &
other=$!
recorded cgroup -a -C 0 -e ctr/by-cycles/u -G ctr -j any,u -- \
	sh -c "echo \$\$ >/sys/fs/cgroup/ctr/cgroup.procs; exec taskset -c 0 $edges 4000"
kill $other
wait $other 2>/dev/null
is "$(perf script -i "$tmp/cgroup.data" -F comm 2>/dev/null | grep -cvE 'edges|sh|taskset|^$')" 0 "cgroup: no other program"
is "$(perf script -i "$tmp/cgroup.data" -F pid 2>/dev/null | grep -cw $other)" 0 "cgroup: no process outside of it"
rmdir /sys/fs/cgroup/ctr

echo "$random" >/proc/sys/kernel/randomize_va_space
left_clean "at the end"
done_testing
