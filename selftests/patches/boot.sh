#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel with the series of kernel/patches and of the driver in the virtual SoC. Records branch stacks
# with the kernel's own PMU, of programs with known edges; the evaluation is the same as for riscv_ctr in selftests/ctr.
# Runs tests of the driver. Boots a kernel whose PMU cannot be registered, too.
# shellcheck source=selftests/patches/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=selftests/ctr/host/users.sh
. selftests/ctr/host/users.sh
mapfile -t driver < <(patches_of build/patches/ntrace)
ok "the series apply" whole "${patches[@]}" "${driver[@]}" || done_testing
ok "a small configuration" configure CONFIG_NTRACE=y CONFIG_DEVMEM=y || done_testing

ok "the kernel" image patched || done_testing

guest_job boot patches/boot.sh
guest_boot patched --kernel patched --smp 1 --icount
guest_ran boot || done_testing
out=$results/boot

# The command lines of users, as with the module: see selftests/ctr/ctr.sh.
guest_job users ctr/users.sh series
guest_boot patched-users --kernel patched --smp 2 --icount --global ntrace-encoder.ctr-details=on
! guest_ran users || judge_users "$results/users" 48

# The driver of the series, with the tests of the module.
guest_job driver kernel/driver.sh
guest_job perf kernel/perf.sh
guest_job context kernel/context.sh 32
guest_boot patched-driver --kernel patched --icount --tools --append iomem=relaxed

# For the cover letter, which has these numbers.
samples=0
many_of_all() {
	many "$@"
	samples=$((samples + ${found[samples]:-0}))
}
judge any
many_of_all any 500
zero any illegal broken newest kernel mistyped missing
is "${found[deepest]}" 127 "any: with riscv_ctr.depth=0 as deep as perf accepts"
is "${found[classes]}" call,cond,indcall,indjump,jump,otherindjump,otherjump,ret,swap "any: every class of transfer"
for name in b two; do
	judge "$name"
	many_of_all "$name" 100
	zero "$name" illegal broken newest kernel
	is "${found[deepest]}" 32 "$name: 32 entries"
done
is "$(tr -d ' \n' <"$out/two.events")" cycles:u:instructions:u: "two: both events had their turns"
judge calls chain=no
many_of_all calls 100
zero calls illegal kernel mistyped
is "${found[classes]}" call "calls: nothing else"
for name in stack stacks; do
	judge "$name" stack=yes
	many_of_all "$name" 100
	zero "$name" illegal broken newest kernel
	# A forked process begins with an empty stack.
	[ "$name" = stacks ] || is "${found[rooted]}" "${found[hot]}" "$name: down to main in each sample of a function hot_*"
done
like "perf report draws the call graph" 'hot_recursion.*hot_round.*main' "$(tr '\n' ' ' <"$out/lbr.report")"
diag "$samples samples of user mode in all"
finds python3 selftests/ctr/host/kernel.py "$out/k.stacks"
ok "kernel: ${found[samples]} samples, ${found[kernel]} entries" test "${found[kernel]:-0}" -ge 1000
is "${found[user]}" 0 "kernel: none of user mode"

# The last step of the PMU's probe fails: all steps before are undone.
sed -i 's/ret = cpuhp_state_add_instance(CPUHP_AP_PERF_RISCV_STARTING, &pmu->node);/ret = -ENOMEM;/' "$work/drivers/perf/riscv_pmu_sbi.c"
is "$(git -C "$work" diff --stat | tail -n 1)" " 1 file changed, 1 insertion(+), 1 deletion(-)" "a fault in the PMU driver"
ok "the kernel with the fault" image failed || done_testing
guest_job failed patches/failed.sh
guest_boot failed --kernel failed --icount
done_testing
