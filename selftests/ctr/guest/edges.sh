# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the program with known edges in many ways; the host judges them.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
cd $out || exit 1

# record NAME PERIOD ROUNDS FILTER [EVENT [PROCESSES]]: NAME.stacks, and NAME.base for where it was loaded.
# Without build ids (-B): the perf tool of 7.2 dies of "stack" when it collects them.
record() {
	local name=$1 period=$2 rounds=$3 filter=$4 event=${5:-ctr/cycles,depth=32/u}
	if perf record -q -B -o p.data -c "$period" -e "$event" -j "$filter" -- $here/edges "$rounds" "${6:-1}" >"$name.base" 2>"$tmp/log"; then
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
perf record -q -B -o p.data -c 20011 -e ctr/cycles/u --call-graph lbr -- $here/edges 30000 >lbr.base 2>"$tmp/log"
perf report -i p.data --stdio --no-children -g caller,0,callee --percent-limit 1 2>/dev/null >lbr.report
# What people look at.
perf record -q -B -o p.data -c 5003 -e ctr/cycles,depth=32/u -j any,u -- $here/edges 30000 >tool.base 2>"$tmp/log"
{
	perf script -i p.data --comm edges -F ip,brstacksym >tool.sym
	perf script -i p.data --comm edges -F ip >tool.ips
	perf report -i p.data --branch-history --stdio >tool.history
	perf annotate -i p.data --stdio -s hot_recursion >tool.annotate
} 2>>"$tmp/log"
is "$(state sctrctl) $(state valid)" "0x0 0" "nothing is left"
done_testing
