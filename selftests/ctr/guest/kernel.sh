#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the kernel, and then with events of the kernel's own PMU; the host evaluates the recordings. The module cannot be
# removed afterwards.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module

# An interrupt of the debug kernel executes more instructions than a short period, which also counts them: nothing else would
# run.
slow=1
[ ! -e /proc/lockdep ] || slow=30
# Records the kernel while a counter of another user overflows continuously: its interrupts freeze the ring too.
recording other -C 0 -c $((1000003 * slow)) -e instructions
kernel() {
	"${perf_record[@]}" -o "$tmp/$1.data" -c $((30011 * slow)) -e "$2" -j "$3" -- \
		taskset -c 0 bash -c 'for i in {1..30}; do (:); done' 2>"$tmp/$1.log"
}
before=$(state samples)
kernel k ctr/by-cycles,depth=16/k any,k,save_type
kernel uk ctr/by-cycles,depth=64/ any,u,k,save_type
# This one does not count the interrupts.
slow=1
kernel k_only_branches ctr/by-cycles,depth=16/u any,k
end_recordings
for name in k uk k_only_branches; do
	perf script -i "$tmp/$name.data" -F ip,brstack 2>>"$tmp/$name.log" | grep -v '^$' >$name.stacks
	count=$(wc -l <$name.stacks)
	ok "recorded $name: $count samples" test "$count" -gt 0 || diag "$(<"$tmp/$name.log")"
done
ok "samples were taken" test "$(state samples)" -gt $((before + 1000))
others=$(perf script -i "$tmp/other.data" -F ip 2>/dev/null | grep -c .)
# One for each million instructions: it has counted to the end. The recordings execute 100 to 160 million.
ok "the other counter has $others samples" test "$others" -gt 50
left_clean "recorded the kernel"

# The kernel's own PMU. users.sh has the usual command lines.
rmmod riscv_ctr
ok "insmod hook=1" load hook=1
edges_stacks hook_ctr -e ctr/by-cycles,depth=32/u -j any,u -c 20011 -- "$here/edges" 15000

# Each combination that is accepted has samples with branches. accepted EVENTS ARGUMENT...: EVENTS: number of events that have them
accepted() {
	local events=$1
	shift
	is "$(sampled_events "$@")" "$events" "perf record $*: samples with branches" || diag "$(<"$tmp/log")"
}
# sampled_events ARGUMENT...: prints the number of events that have samples with branches, or "refused"
sampled_events() {
	if "${perf_record[@]}" -o "$tmp/p.data" -c 20011 "$@" -- taskset -c 0 "$here/edges" 2000 2 >"$tmp/out" 2>"$tmp/log"; then
		perf script -i "$tmp/p.data" --comm edges -F event,brstack 2>>"$tmp/log" | awk 'NF > 1 { print $1 }' | sort -u | wc -l
	else
		echo refused
	fi
}
# refused REASON ARGUMENT...: the kernel log has the reason. perf of 7.x then opens the two events of a group one by one, and
# records without an event that is busy.
refused() {
	local reason=$1 before events
	shift
	before=$(dmesg | grep -cF "no branch stack: $reason")
	events=$(sampled_events "$@")
	like "perf record $*: refused" '^(refused|[12])$' "$events" || diag "$(<"$tmp/log")"
	ok "the kernel log says why: $reason" test "$(dmesg | grep -cF "no branch stack: $reason")" -gt "$before"
}
any=branch_type=any
accepted 2 -b -e '{cycles:u,instructions:u},cycles:u'
accepted 2 --call-graph lbr -e '{cycles:u,instructions:u}'
accepted 2 -b --no-inherit -e '{cycles:u,instructions:u}'
accepted 2 -b -a -e '{cycles:u,instructions:u}'
accepted 2 -b -e '{cycles:uD,instructions:u}'
accepted 2 -b -e '{cycles:k,instructions:k}'
accepted 2 -b -e '{cycles,instructions}'
accepted 1 -e "{instructions:u,cycles/$any/u}"
accepted 1 -e "{cpu-clock:u,cycles/$any/u}"
accepted 2 -j any,u -e '{ctr/by-cycles/u,cycles:u}'
accepted 2 -j any,u -e '{cycles:u,ctr/by-cycles/u}'
refused 'call stacks and other branches cannot be recorded at once' -e "cycles/$any/u,instructions/branch_type=stack/u"
refused 'the event counts neither user mode nor the kernel' -b -e cycles:h
refused 'the event counts guests alone' -b -e cycles:uG
refused 'CTR has no transactions, and no counters of branches' -j in_tx,u -e cycles:u
refused 'the branch filter selects no kind of branch' -j save_type,u -e cycles:u
is "$(<"/sys/bus/event_source/devices/cpu/caps/branches")" "$(<$pmu/caps/branches)" "perf finds the depth of the ring with the PMU cpu"
echo 1 >/proc/sys/net/core/bpf_jit_enable
relay branches "$here/branches" cpu
ok "counting continues as before" perf stat -e cycles,instructions true
ok "samples without branch stack too" "${perf_record[@]}" -o "$tmp/p.data" -e cycles:u true
fails "rmmod is refused" 'busy|Resource temporarily unavailable|in use' rmmod riscv_ctr
left_clean "with hook=1"
done_testing
