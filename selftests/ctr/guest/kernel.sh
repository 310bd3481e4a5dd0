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
mkfifo "$tmp/up"
"${perf_record[@]}" -C 0 -o "$tmp/other.data" -c $((1000003 * slow)) -e instructions -- \
	sh -c "echo up >$tmp/up; exec sleep 10000" 2>"$tmp/other.log" &
other=$!
read -r answer <"$tmp/up"
is "$answer" up "another counter is at work"
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
kill $other
wait $other
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

# The same with the kernel's own PMU, in the usual form of the command.
rmmod riscv_ctr
ok "insmod hook=1" load hook=1
edges_stacks hook -b -e cycles:u -c 20011 -- "$here/edges" 15000
edges_stacks hook_two -b -e cycles:u,instructions:u -c 20011 -- taskset -c 0 "$here/edges" 15000 2
perf script -i "$tmp/p.data" -F event 2>/dev/null | sort -u >hook_two.events
edges_stacks hook_stack -e cycles:u -j stack,u -c 20011 -- taskset -c 0 "$here/edges" 15000 2
edges_stacks hook_ctr -e ctr/by-cycles,depth=32/u -j any,u -c 20011 -- "$here/edges" 15000
ok "counting continues as before" perf stat -e cycles,instructions true
ok "samples without branch stack too" "${perf_record[@]}" -o "$tmp/p.data" -e cycles:u true
fails "rmmod is refused" 'busy|Resource temporarily unavailable|in use' rmmod riscv_ctr
left_clean "with hook=1"
done_testing
