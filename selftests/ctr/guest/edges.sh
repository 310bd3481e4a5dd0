#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the program with known edges in many ways; the host evaluates the recordings.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module

# record NAME PERIOD ROUNDS FILTER [EVENT [PROCESSES]]: all processes on one hart
record() {
	edges_stacks "$1" -c "$2" -e "${5:-ctr/by-cycles,depth=32/u}" -j "$4" -- taskset -c 0 "$here/edges" "$3" "${6:-1}"
}
record any 10007 30000 any,u,save_type
record deep 100003 40000 any,u ctr/by-cycles,depth=127/u
record default 100003 20000 any,u ctr/by-cycles/u
for filter in any_call any_ret ind_call call cond ind_jmp; do
	record "$filter" 20011 15000 "$filter,u,save_type"
done

# Rings per task: another task takes the hart whenever the program yields it.
taskset -c 0 sh -c 'while :; do :; done' &
record stack 20011 15000 stack,u
kill $!
wait $! 2>/dev/null
# perf swaps the contexts of these tasks without calling the PMU.
record stacks 20011 7000 stack,u ctr/by-cycles/u 3
# perf takes callchains from the ring.
"${perf_record[@]}" -o "$tmp/p.data" -c 20011 -e ctr/by-cycles/u --call-graph lbr -- "$here/edges" 15000 >/dev/null 2>"$tmp/log"
perf report -i "$tmp/p.data" --stdio --no-children -g caller,0,callee --percent-limit 1 2>>"$tmp/log" >lbr.report
ok "recorded with --call-graph lbr" test -s lbr.report || diag "$(<"$tmp/log")"
left_clean "recorded"
done_testing
