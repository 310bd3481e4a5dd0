#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks of a program with known edges, recorded by the stock perf tool in
# the guest and held against the graph that objdump derives from the ELF.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
elf=build/riscv64/selftests/ctr/edges

tools/vsoc/run --quiet --smp 1 --icount --timeout 200 --check-dmesg --module build/kernel/ctr/riscv_ctr.ko \
	--put build/riscv64/selftests/ctr:/root/ctr --put selftests/tap.sh:/root/tap.sh \
	--put selftests/ctr/guest/common.sh:/root/ctr/common.sh --put selftests/ctr/guest/edges.sh:/root/ctr/edges.sh \
	--get "/tmp/out:$tmp" -- bash /root/ctr/edges.sh >"$tmp/guest" 2>"$tmp/guest.err"
is "$?" 0 "the guest records" || diag "$(cat "$tmp/guest" "$tmp/guest.err")"

# judge NAME KEY=VALUE...: sets the variables samples, illegal, ...
declare -A found
judge() {
	local name=$1 key value
	shift
	found=()
	python3 selftests/ctr/host/edges.py $elf "$(sed -n 's/^base //p' "$tmp/out/$name.base")" "$tmp/out/$name.stacks" "$@" \
		>"$tmp/found" 2>"$tmp/wrong" || diag "$(cat "$tmp/wrong")"
	while read -r key value; do found[$key]=$value; done <"$tmp/found"
}
# zero NAME FIELD...: nothing of that sort was found.
zero() {
	local name=$1 field sum=0 text=''
	shift
	for field in "$@"; do
		text+=" $field ${found[$field]}"
		sum=$((sum + ${found[$field]:-1}))
	done
	is "$sum" 0 "$name:$text" || diag "$(cat "$tmp/wrong")"
}

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

kernel() {
	found=()
	while read -r key value; do found[$key]=$value; done < <(python3 selftests/ctr/host/kernel.py "$tmp/out/$1.stacks")
}
kernel k
ok "kernel: ${found[samples]} samples" test "${found[samples]}" -ge 500
is "${found[newest]} ${found[user]}" "0 0" "kernel: the youngest entry leads to the PC; nothing of user mode"
kernel uk
ok "both: ${found[samples]} samples" test "${found[samples]}" -ge 500
is "${found[newest]}" 0 "both: the youngest entry leads to the PC"
ok "both: ${found[user]} entries of user mode, ${found[kernel]} of the kernel, ${found[traps]} traps" \
	test "${found[user]}" -gt 100 -a "${found[kernel]}" -gt 100 -a "${found[traps]}" -gt 10
kernel k_only_branches
is "${found[user]}" 0 "samples of user mode with branches of the kernel: no others"
like "perf report draws the call graph" 'hot_recursion.*hot_round.*main' "$(tr '\n' ' ' <"$tmp/out/lbr.report")"
done_testing
