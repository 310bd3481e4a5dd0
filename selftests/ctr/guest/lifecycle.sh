#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Accepted and refused events; isolation of tasks; events, harts and the module that come and go.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module
type=$(<$pmu/type)

# record NAME ARGUMENT...: perf record with output in NAME.data
record() {
	local name=$1
	shift
	"${perf_record[@]}" -o "$tmp/$name.data" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" || diag "$(<"$tmp/$name.err")"
}
# samples NAME: prints the number of samples.
samples() { perf script -i "$tmp/$1.data" -F ip 2>/dev/null | grep -c .; }
some_samples() { ok "$2" test "$(samples "$1")" -ge "${3:-10}"; }

relay abi "$here/abi" "$type"
sysctl -q kernel.perf_event_paranoid=-1
left_clean "after refusals"
# Counts objects, without those that wait for an RCU grace period.
objects() {
	echo 1 >/sys/module/rcutree/parameters/do_rcu_barrier
	awk '/^kmalloc|^perf_event/ { sum += $2 } END { print sum }' /proc/slabinfo
}
"$here/abi" "$type" churn 50
before=$(objects)
ok "1000 times open and close" "$here/abi" "$type" churn 1000
leaked=$(($(objects) - before))
if [ -e /proc/lockdep ]; then
	skip "no objects leaked" "the debug kernel keeps freed ones for a while (KASAN); kmemleak finds those that are lost"
else
	ok "no objects leaked ($leaked)" test "$leaked" -lt 700
fi
left_clean "after open and close"

is "$(cd $pmu/events && echo *)" "by-branch-misses by-branches by-cache-misses by-cache-references by-cycles by-instructions \
by-stalled-cycles-backend by-stalled-cycles-frontend" "names of events as in the documentation"

perf stat -x , -e cycles,instructions,branch-misses true 2>"$tmp/stat"
is "$(grep -c . "$tmp/stat")" 3 "events without a PMU name are those of the cpu PMU alone" || diag "$(<"$tmp/stat")"

coproc "$here/abi" "$type" hold
read -r answer <&"${COPROC[0]}"
is "$answer" holding "an event is open"
fails "rmmod with an open event is refused" 'busy|Resource temporarily unavailable|in use' rmmod riscv_ctr
kill "$COPROC_PID"
wait "$COPROC_PID" 2>/dev/null

# Tasks with marked addresses share a hart; each sees only its own. marks NAME: prints the numbers
# of samples and of entries with another task's mark.
marks() {
	local pid mark own=0 strange=0
	perf script -i "$tmp/$1.data" -F pid,brstack 2>/dev/null >"$tmp/stacks"
	while read -r pid mark; do
		own=$((own + $(awk -v pid="$pid" '$1 == pid' "$tmp/stacks" | grep -c "$mark")))
		strange=$((strange + $(awk -v pid="$pid" '$1 == pid' "$tmp/stacks" |
			sed "s/$mark//g" | grep -cE '\b0x5[1-9]00[0-9a-f]{6}\b')))
	done <"$tmp/$1.out"
	echo "$own $strange"
}
isolated() {
	read -r own strange < <(marks "$1")
	ok "$2: $own samples with marked entries" test "$own" -ge 50
	is "$strange" 0 "$2: no addresses of others"
}
marked=(taskset -c 1 "$here/marked" 3 100)
record inherit -c 20011 -e ctr/by-cycles,depth=64/u -j any,u -- "${marked[@]}"
isolated inherit "tasks that inherit an event"
record all -a -c 20011 -e ctr/by-cycles,depth=64/u -j any,u -- "${marked[@]}"
isolated all "all tasks of a hart"
record stack -c 20011 -e ctr/by-cycles/u -j stack,u -- "${marked[@]}"
isolated stack "call stacks"
left_clean "after recordings"

# Recordings of user mode contain no kernel address in any field.
record user -a -g -c 100003 -e ctr/by-cycles/u -j any,u -- sh -c 'ls -lR /etc | sort | wc'
some_samples user "callchains and branches of user mode" 50
is "$(perf script -i "$tmp/user.data" -F ip,brstack 2>/dev/null | grep -cE 'f{6,}[0-9a-f]{6,}')" 0 \
	"no address of the kernel in them"

# Ways to record. perf records until a command ends, and this command waits for samples on CPU 1:
# with -F, the kernel's control loop decides how many samples a program of a given length gets.
export -f state sampled wait_for wait_for_samples
taskset -c 1 "$here/edges" 10000000000 >"$tmp/edges.out" &
program=$!
record frequency -F 2000 -e ctr/by-cycles/u -j any,u -p $program -- bash -c 'wait_for_samples 1 20'
some_samples frequency "by frequency"
record attach -c 100003 -e ctr/by-cycles/u -j any,u -p $program -- bash -c 'wait_for_samples 1 20'
some_samples attach "-p"
record thread --per-thread -c 100003 -e ctr/by-cycles/u -j any,u -p $program -- bash -c 'wait_for_samples 1 20'
some_samples thread "--per-thread"

# A hart goes offline while perf records it, and comes back.
record offline -a -c 100003 -e ctr/by-cycles/u -j any,u -- bash -c '
	wait_for_samples 1 20
	echo 0 >/sys/devices/system/cpu/cpu1/online
	wait_for_samples 0 20
	echo 1 >/sys/devices/system/cpu/cpu1/online'
some_samples offline "a hart goes offline and comes back while it is recorded"
is "$(state usable 1) $(state sctrctl 1)" "1 0x0" "it is usable again, and idle"
taskset -cp 1 $program >/dev/null 2>&1
record again -a -C 1 -c 100003 -e ctr/by-cycles/u -j any,u -- bash -c 'wait_for_samples 1 20'
some_samples again "and recorded again"
kill $program
wait $program 2>/dev/null
left_clean "at the end"

ok "rmmod" rmmod riscv_ctr
ok "rmmod: the PMU is gone" test ! -e $pmu
ok "it can be loaded again" load
left_clean "loaded again"
fails "loaded twice: refused" 'exist' load
rmmod riscv_ctr
fails "layout=nonsense: refused" 'nvalid' load layout=nonsense
done_testing
