#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel with the series of kernel/patches in the virtual SoC, and records branch stacks
# with the kernel's own PMU, of programs with known edges. The evaluation is the same as for
# riscv_ctr in selftests/ctr.
# shellcheck source=selftests/patches/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=selftests/ctr/host/common.sh
. selftests/ctr/host/common.sh
series() { fresh && for patch in "${patches[@]}"; do apply "$patch" || return 1; done; }
ok "the series applies" series || done_testing
ok "a small configuration" configure || done_testing

ok "the kernel" image patched || done_testing

guest_job boot patches/boot.sh
guest_boot patched --kernel patched --smp 1 --icount
guest_ran boot || done_testing
out=$results/boot

judge any
many any 500
zero any illegal broken newest kernel mistyped missing
is "${found[deepest]}" 127 "any: with riscv_ctr.depth=0 as deep as perf accepts"
is "${found[classes]}" call,cond,indcall,indjump,jump,otherindjump,otherjump,ret,swap "any: every class of transfer"
for name in b two; do
	judge $name
	many $name 100
	zero $name illegal broken newest kernel
	is "${found[deepest]}" 32 "$name: 32 entries"
done
is "$(tr -d ' \n' <"$out/two.events")" cycles:u:instructions:u: "two: both events had their turns"
judge calls chain=no
many calls 100
zero calls illegal kernel mistyped
is "${found[classes]}" call "calls: nothing else"
for name in stack stacks; do
	judge $name stack=yes
	many $name 100
	zero $name illegal broken newest kernel
	# A forked process begins with an empty stack.
	[ $name = stacks ] || is "${found[rooted]}" "${found[hot]}" "$name: down to main in each sample of a function hot_*"
done
like "perf report draws the call graph" 'hot_recursion.*hot_round.*main' "$(tr '\n' ' ' <"$out/lbr.report")"
finds python3 selftests/ctr/host/kernel.py "$out/k.stacks"
ok "kernel: ${found[samples]} samples, ${found[kernel]} entries" test "${found[kernel]:-0}" -ge 1000
is "${found[user]}" 0 "kernel: none of user mode"
done_testing
