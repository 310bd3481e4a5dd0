#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks of the kernel, while other counters interrupt and freeze the ring;
# and those of the kernel's own PMU, with hook=1.
# shellcheck source=selftests/ctr/host/common.sh
. "$(dirname "$0")/host/common.sh"
guest kernel.sh

kernel() {
	found=()
	while read -r key value; do found[$key]=$value; done < <(python3 selftests/ctr/host/kernel.py "$tmp/out/$1.stacks")
}
kernel k
ok "kernel: ${found[samples]} samples" test "${found[samples]}" -ge 300
is "${found[newest]} ${found[user]}" "0 0" "kernel: the youngest entry leads to the PC; nothing of user mode"
kernel uk
ok "both: ${found[samples]} samples" test "${found[samples]}" -ge 300
is "${found[newest]}" 0 "both: the youngest entry leads to the PC"
ok "both: ${found[user]} entries of user mode, ${found[kernel]} of the kernel, ${found[traps]} traps" \
	test "${found[user]}" -gt 100 -a "${found[kernel]}" -gt 100 -a "${found[traps]}" -gt 10
kernel k_only_branches
is "${found[user]}" 0 "samples of user mode with branches of the kernel: no others"
for name in hook hook_two hook_ctr; do
	judge $name
	ok "$name: ${found[samples]} samples" test "${found[samples]}" -ge 100
	zero $name illegal broken newest kernel
done
is "$(tr -d ' \n' <"$tmp/out/hook_two.events")" cycles:u:instructions:u: "two events of the cpu PMU take turns"
judge hook_stack stack=yes
ok "hook_stack: ${found[samples]} samples" test "${found[samples]}" -ge 100
zero hook_stack illegal broken newest kernel
done_testing
