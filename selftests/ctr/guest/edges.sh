# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the program with known edges in many ways; the host judges them.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
cd $out || exit 1

# record NAME PERIOD ROUNDS FILTER [EVENT [PROCESSES]]: NAME.stacks, and NAME.base for where it was loaded.
record() {
	local name=$1 period=$2 rounds=$3 filter=$4 event=${5:-ctr/cycles,depth=32/u}
	if perf record -q -o p.data -c "$period" -e "$event" -j "$filter" -- $here/edges "$rounds" "${6:-1}" >"$name.base" 2>"$tmp/log"; then
		perf script -i p.data --comm edges -F ip,brstack 2>>"$tmp/log" |
			grep -v '^$' >"$name.stacks"
		pass "recorded $name: $(wc -l <"$name.stacks") samples"
	else
		not_ok "record $name"
		diag "$(cat "$tmp/log")"
	fi
}
record any 10007 150000 any,u,save_type
record deep 100003 100000 any,u ctr/cycles/u
for filter in any_call any_ret ind_call call cond ind_jmp; do
	record "$filter" 20011 30000 "$filter,u,save_type"
done
record call_ret 20011 30000 call,any_ret,u,save_type
record instructions 20011 30000 any,u ctr/instructions,depth=32/u

# Rings of tasks: somebody else takes the hart whenever the program yields it.
while :; do :; done &
record stack 20011 60000 stack,u
kill $!
# Tasks whose contexts perf swaps without a word.
record stacks 20011 40000 stack,u ctr/cycles/u 3
# Its own callchains are from the ring.
perf record -q -o p.data -c 20011 -e ctr/cycles/u --call-graph lbr -- $here/edges 30000 >lbr.base 2>"$tmp/log"
perf report -i p.data --stdio --no-children -g caller,0,callee --percent-limit 1 2>/dev/null >lbr.report

# The kernel, while somebody else's counter overflows all the time: its
# interrupts freeze the ring too.
perf record -q -a -o other.data -c 30011 -e instructions sleep 100 2>/dev/null &
sleep 0.2
kernel() {
	perf record -q -o p.data -c 30011 -e "$2" -j "$3" -- bash -c 'for i in {1..60}; do (:); done' 2>"$tmp/log"
	perf script -i p.data -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >"$1.stacks"
	pass "recorded $1: $(wc -l <"$1.stacks") samples"
}
kernel k ctr/cycles,depth=16/k any,k,save_type
kernel uk ctr/cycles,depth=64/ any,u,k,save_type
kernel k_only_branches ctr/cycles,depth=16/u any,k
kill %%
ok "samples were taken" test "$(state samples)" -gt 1000
is "$(state sctrctl) $(state valid)" "0x0 0" "nothing is left"
done_testing
