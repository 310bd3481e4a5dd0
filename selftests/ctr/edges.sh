#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks of a program with known edges, recorded by the stock perf tool in
# the guest and held against the graph that objdump derives from the ELF.
# shellcheck source=selftests/ctr/host/common.sh
. "$(dirname "$0")/host/common.sh"
guest edges.sh

judge any
ok "any: ${found[samples]} samples" test "${found[samples]}" -ge 1000
ok "any: ${found[entries]} entries" test "${found[entries]}" -ge 30000
zero any illegal broken newest kernel mistyped missing
is "${found[deepest]}" 32 "any: depth=32 gives 32 entries"
is "${found[classes]}" call,cond,indcall,indjump,jump,otherindjump,otherjump,ret,swap "any: every class of transfer"

judge deep
zero deep illegal broken newest kernel
is "${found[deepest]}" 127 "without depth=: as many as the perf tool takes"

filtered() {
	judge "$1" chain=no
	ok "$1: ${found[samples]} samples" test "${found[samples]}" -ge 100
	zero "$1" illegal kernel mistyped
	is "${found[classes]}" "$2" "$1: $2 and nothing else"
}
filtered any_call call,indcall,swap
filtered any_ret ret,swap
filtered ind_call indcall,swap
filtered call call
filtered cond cond
filtered ind_jmp indjump,otherindjump
filtered call_ret call,ret,swap
judge instructions
ok "instructions as trigger: ${found[samples]} samples" test "${found[samples]}" -ge 100
zero instructions illegal broken newest kernel

judge stack stack=yes
ok "call stack: ${found[samples]} samples" test "${found[samples]}" -ge 100
zero stack illegal broken newest kernel
is "${found[rooted]}" "${found[hot]}" "call stack: down to main in each sample of a function hot_*"
judge stacks stack=yes
ok "call stacks of three tasks: ${found[samples]} samples" test "${found[samples]}" -ge 300
zero stacks illegal broken newest kernel

like "perf report draws the call graph" 'hot_recursion.*hot_round.*main' "$(tr '\n' ' ' <"$tmp/out/lbr.report")"

found=()
python3 selftests/ctr/host/tool.py $elf "$(sed -n 's/^base //p' "$tmp/out/tool.base")" "$tmp/out/tool" \
	>"$tmp/found" 2>"$tmp/wrong" || diag "$(cat "$tmp/wrong")"
while read -r key value; do found[$key]=$value; done <"$tmp/found"
ok "perf script -F brstacksym: ${found[sym]} entries" test "${found[sym]}" -ge 1000
ok "perf report --branch-history: ${found[history]} addresses, ${found[rows]} functions" \
	test "${found[history]}" -ge 100 -a "${found[rows]}" -ge 3
ok "perf annotate: ${found[annotated]} samples" test "${found[annotated]}" -ge 50
zero "the perf tool" sym_illegal history_wrong annotate_wrong
done_testing
