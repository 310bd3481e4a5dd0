#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What users of branch stacks type: users.sh [ctr|cpu|series]. Each row is a command line of perf record; the host evaluates the
# samples of each event, and the file rows says what they must have. The ways:
#   ctr      events of the module's PMU "ctr"
#   cpu      events of the kernel's own PMU, with hook=1
#   series   the same in a kernel with the series of kernel/patches, without the module
# The rows "precise" and "default" are not for ctr: the PMU "ctr" refuses precise events, and is not the default PMU. All other rows,
# and what is expected of them, are the same.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
way=${1:-ctr}
[ "$way" = series ] || needs_module
if [ "$way" = cpu ] && [ ! -e /sys/bus/event_source/devices/cpu/caps/branches ] && [ -e $pmu ]; then
	rmmod riscv_ctr
	ok "insmod hook=1" load hook=1
fi
sysctl -q kernel.perf_event_paranoid=-1
# All processes of the program edges have the same addresses.
random=$(</proc/sys/kernel/randomize_va_space)
echo 0 >/proc/sys/kernel/randomize_va_space
edges=$here/edges
one=(taskset -c 0 "$edges" 4000)

# event NAME MODIFIERS [FILTER]: prints the event cycles or instructions; FILTER is a branch_type of its own
event() {
	case $way in
	ctr) echo "ctr/by-$1${3:+,branch_type=$3}/$2" ;;
	*) [ -n "${3:-}" ] && echo "$1/branch_type=$3/$2" || echo "$1${2:+:$2}" ;;
	esac
}
cycles=$(event cycles u) instructions=$(event instructions u)

# judged NAME HOW...: the samples of the program edges in $tmp/all, one line each that begins with its event, go to NAME.1.stacks
# and so on, in the order of the events' names. HOW says what those of each event must have, "-": nothing. See judge_users().
judged() {
	local name=$1 how event number=0 events
	shift
	mapfile -t events < <(awk '{ print $1 }' "$tmp/all" | sort -u)
	is "${#events[@]}" $# "recorded $name: events with samples" || diag "$(tail -n 3 "$tmp/log") ${events[*]}"
	sort -u "$tmp/out" | grep '^base' >"$name.base"
	for how; do
		event=${events[number]:-none}
		number=$((number + 1))
		awk -v event="$event" '$1 == event { $1 = ""; print }' "$tmp/all" >"$name.$number.stacks"
		[ "$how" = - ] || echo "$name.$number $how" >>rows
	done
}
# row NAME HOW[;HOW] ARGUMENT...: one command line of perf record; without a program, with one process on CPU 0
row() {
	local name=$1 how=${2//;/ } status=0 typed
	shift 2
	[[ " $* " = *" -- "* ]] || set -- "$@" -- "${one[@]}"
	typed=$*
	[[ " ${typed%% -- *} " = *" -"[cF]" "* ]] || set -- -c 20011 "$@"
	"${perf_record[@]}" -o "$tmp/p.data" "$@" >"$tmp/out" 2>"$tmp/log" || status=$?
	[ $status -eq 0 ] || { not_ok "perf record $*: status $status"; diag "$(<"$tmp/log")"; }
	perf script -i "$tmp/p.data" --comm edges -G -F event,ip,brstack 2>>"$tmp/log" | grep . >"$tmp/all"
	# shellcheck disable=SC2086 # words
	judged "$name" $how
}

# One process.
row b any -b -c 10007 -e "$cycles" -- "$edges" 15000
cp "$tmp/p.data" tool.data
cp "$tmp/out" tool.base
row instructions any -j any,u -e "$instructions"
row all_user any -b --all-user -e "$(event cycles '')"
row call_ret =call,indcall,ret,swap -j any_call,any_ret,u -e "$cycles"
row cond =cond -j cond,u -e "$cycles"
row fp any -b --call-graph fp -e "$cycles"
row lbr stack --call-graph lbr -e "$cycles"
# Counts the interrupts, too: 8,500 instructions each with lockdep, which leave half of a period to the program.
row modes_both both@20 -b -e "$(event cycles '')"
row frequency any@20 -b -F 20000 -e "$cycles"
mkfifo "$tmp/control" "$tmp/acknowledged"
row control stack --control "fifo:$tmp/control,$tmp/acknowledged" -e "$cycles" -j stack,u -- \
	taskset -c 0 "$edges" 4000 1 1 "$tmp/control" "$tmp/acknowledged"
row per_thread any -b --per-thread -e "$cycles"
row no_inherit any -b --no-inherit -e "$cycles"
row switches any -b --switch-events -e "$cycles" -- taskset -c 0 "$edges" 2000 2
ok "switches: perf has them too" grep -q PERF_RECORD_SWITCH <(perf script -i "$tmp/p.data" --show-switch-events 2>/dev/null)
row plain plain -e "$cycles"
perf stat -x , -e "$(event instructions u),instructions:u" -o counts "${one[@]}" >/dev/null
is "$(awk -F , '/instructions/ { print $1 }' counts | uniq | wc -l)" 1 "perf stat: both count the same" || diag "$(<counts)"
# perf's own output must not be mixed with that of the program.
"${perf_record[@]}" -o - -c 20011 -b -e "$cycles" -- sh -c "${one[*]} >$tmp/out" 2>"$tmp/log" |
	perf script -i - --comm edges -F event,brstack 2>>"$tmp/log" | # has no PC here: the youngest branch leads to it
	awk 'NF { line = $1
			for (i = 2; i <= NF; i++) if ($i ~ "^0x.*/") { if (line == $1) { split($i, end, "/"); line = line " " substr(end[2], 3) } line = line " " $i }
			print line }' >"$tmp/all"
judged pipe any
if [ "$way" != ctr ]; then
	row precise any -b -e cycles:upp
	row default both@20 -b
fi

# Several events.
row two "any;any" -j any,u -e "$cycles,$instructions"
row filters "any;=call" -e "$(event cycles u any),$(event instructions u call)"
row modes "any;kernel@20" -e "$(event cycles u any),$(event instructions k any)"
row group "any;any" -j any,u -e "{$cycles,$instructions}"
row group_filters "any;=call" -e "{$(event cycles u any),$(event instructions u call)}"
row group_read "any;-" -j any,u -e "{$cycles,$instructions}:S"
row group_plain "any;plain" -e "{$(event cycles u any),instructions:u}"
row group_software any -e "{$(event cycles u any),page-faults:u}"
row lbr_two "stack;stack" -j stack,u -e "$cycles,$instructions"

# Several users: two record a task, one the hart. The task waits until all do.
mkfifo "$tmp/go"
taskset -c 1 sh -c "read -r go <$tmp/go; exec $edges 20000" >"$tmp/out" &
program=$!
recording users_a -c 20011 -e "$(event cycles u any)" -p $program
recording users_b -c 20011 -e "$(event cycles u call)" -t $program
# This one counts the interrupts of all three, which execute more instructions than a short period.
recording users_c -c 200003 -a -C 1 -e "$(event cycles '' any)"
echo >"$tmp/go"
wait $program
end_recordings
for name in users_a:any users_b:=call users_c:shared@20; do
	perf script -i "$tmp/${name%%:*}.data" --comm edges -G -F event,ip,brstack 2>>"$tmp/log" | grep . >"$tmp/all"
	judged "${name%%:*}" "${name#*:}"
done
like "a call stack beside other branches of its task is refused" 'resource busy|counters are busy' \
	"$("${perf_record[@]}" -o "$tmp/d.data" -e "$(event cycles u any),$(event instructions u stack)" true 2>&1)"

# Processes that come, fork, exec and go; threads; harts.
# shellcheck disable=SC2016 # for the shell below perf
siblings='for i in 1 2 3 4 5 6; do '"$edges"' $((i * 300)) & done; wait'
row siblings stack -e "$cycles" -j stack,u -- taskset -c 0 sh -c "$siblings"
row siblings_all stack -a -e "$cycles" -j stack,u -- taskset -c 0 sh -c "$siblings"
row forked stack -e "$cycles" -j stack,u -- taskset -c 0 "$edges" 1500 3
row executed stack -e "$cycles" --call-graph lbr -- taskset -c 0 sh -c "$edges 1500; exec $edges 3000"
# Branches of the program before exec are not those of the new one. Without u the period counts interrupts, too, see above.
for what in u ''; do
	period=2003
	[ -n "$what" ] || period=20011
	"${perf_record[@]}" -o "$tmp/p.data" -c "$period" -e "$(event cycles "$what" ind_call)" -- \
		sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do taskset -c 0 $here/apart; done" >"$tmp/out" 2>"$tmp/log"
	perf script -i "$tmp/p.data" --comm apart -F brstack 2>>"$tmp/log" |
		grep -oE '0x[0-9a-f]+/0x[0-9a-f]+' | tr / '\n' >"$tmp/addresses"
	is "$(grep -vcE '^0x(7[0-9a-f]{7}|f[0-9a-f]{15})$' "$tmp/addresses")" 0 "exec ${what:-both}: no branch of the program before" ||
		diag "$(sort "$tmp/addresses" | uniq -c | grep -vE '0x(7[0-9a-f]{7}|f[0-9a-f]{15})$' | head -n 5)"
	ok "exec ${what:-both}: $(wc -l <"$tmp/addresses") addresses" test "$(wc -l <"$tmp/addresses")" -ge 100
done
row threads any -b -e "$cycles" -- taskset -c 0 "$edges" 1500 1 3
row threads_stack stack -e "$cycles" --call-graph lbr -- taskset -c 0 "$edges" 1500 1 3
row migrated stack -e "$cycles" -j stack,u -- \
	taskset -c 0 sh -c "$edges 6000 & for i in 1 0 1 0 1 0; do taskset -cp \$i \$! >/dev/null; done; wait"
row all any@40 -b -a -e "$cycles" -- sh -c "taskset -c 0 $edges 2000 & taskset -c 1 $edges 2000; wait"
row hotplug any@40 -b -a -e "$cycles" -- sh -c "
	taskset -c 1 $edges 1500 & taskset -c 0 $edges 1500
	echo 0 >/sys/devices/system/cpu/cpu1/online
	$edges 1500
	wait
	echo 1 >/sys/devices/system/cpu/cpu1/online"

# A cgroup: nothing else of the hart is recorded.
mkdir -p /sys/fs/cgroup
grep -q ' /sys/fs/cgroup cgroup2 ' /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
mkdir /sys/fs/cgroup/ctr
# Linux 6.12 gives cgroups the controller perf_event when another one is enabled.
echo +pids >/sys/fs/cgroup/cgroup.subtree_control
taskset -c 0 sh -c 'while :; do :; done' &
other=$!
row cgroup any -a -C 0 -e "$cycles" -G ctr -j any,u -- \
	sh -c "echo \$\$ >/sys/fs/cgroup/ctr/cgroup.procs; exec ${one[*]}"
is "$(perf script -i "$tmp/p.data" -F comm 2>/dev/null | grep -cvE 'edges|sh|taskset|^$')" 0 "cgroup: no other program"
is "$(perf script -i "$tmp/p.data" -F pid 2>/dev/null | grep -cw $other)" 0 "cgroup: no process outside of it"
row cgroup_stack stack -a -C 0 -e "$cycles" -G ctr -j stack,u -- \
	sh -c "echo \$\$ >/sys/fs/cgroup/ctr/cgroup.procs; exec ${one[*]}"
kill $other
wait $other 2>/dev/null
rmdir /sys/fs/cgroup/ctr

# One sample in a tick: perf stops the event at each sample, and starts it at the next tick. The program takes seven ticks, of
# 200 periods each.
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 100 >/proc/sys/kernel/perf_event_max_sample_rate
row throttled any@5 -b -e "$cycles" -- taskset -c 0 "$edges" 150000
throttled=$(perf script -D -i "$tmp/p.data" 2>/dev/null | grep -c PERF_RECORD_THROTTLE)
ok "throttled $throttled times" test "$throttled" -ge 5
echo 200000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

# The output of perf's own tools.
{
	perf script -i tool.data --comm edges -F ip,brstacksym >tool.sym
	perf script -i tool.data --comm edges -F ip >tool.ips
	perf report -i tool.data --branch-history --stdio >tool.history
	perf report -i tool.data --stdio --comms edges -s mispredict >tool.mispredict
	perf report -i tool.data --stdio --comms edges --total-cycles >tool.cycles
	perf annotate -i tool.data --stdio -s hot_recursion >tool.annotate
	perf annotate -i tool.data --stdio2 -s hot_recursion >tool.ipc
} 2>>"$tmp/log"
ok "recorded for the tools of perf: $(wc -l <tool.ips) samples" test -s tool.ips -a -s tool.sym || diag "$(<"$tmp/log")"
rm tool.data

echo "$random" >/proc/sys/kernel/randomize_va_space
[ ! -e /sys/kernel/debug/riscv_ctr ] || left_clean "at the end"
done_testing
