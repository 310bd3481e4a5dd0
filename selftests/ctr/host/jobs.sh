# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The parts of ctr.sh that evaluate the recordings of its jobs on this host.
# shellcheck source=selftests/ctr/host/users.sh
. selftests/ctr/host/users.sh

judge_edges() {
	# shellcheck disable=SC2154 # guest.sh sets it
	local out=$results/edges
	judge any
	many any 500
	ok "any: ${found[entries]} entries" test "${found[entries]:-0}" -ge 15000
	zero any illegal broken newest kernel mistyped missing
	ok "any: the cycles of ${found[timed]} entries, the predictions of ${found[predicted]}" \
		test "${found[timed]:-0}" -ge 15000 -a "${found[predicted]:-0}" -ge 15000
	zero any mistimed mispredicted
	is "${found[deepest]}" 32 "any: depth=32 gives 32 entries"
	is "${found[classes]}" call,cond,indcall,indjump,jump,otherindjump,otherjump,ret,swap "any: every class of transfer"

	judge deep
	many deep 50
	zero deep illegal broken newest kernel
	is "${found[deepest]}" 127 "depth=127: as many as the perf tool accepts"
	judge default
	is "${found[deepest]}" 32 "without depth=: 32 entries"

	filtered any_call call,indcall,swap
	filtered any_ret ret,swap
	filtered ind_call indcall,swap
	filtered call call
	filtered cond cond
	filtered ind_jmp indjump,otherindjump

	judge stack stack=yes
	many "call stack" 100
	zero stack illegal broken newest kernel
	is "${found[rooted]}" "${found[hot]}" "call stack: down to _start in each sample of a function hot_*"
	judge stacks stack=yes
	many "call stacks of three tasks" 150
	zero stacks illegal broken newest kernel
	is "${found[rooted]}" "${found[hot]}" "call stacks of three tasks: down to _start in each sample of a function hot_*"
	like "perf report draws the call graph" 'hot_recursion.*hot_round.*main' "$(tr '\n' ' ' <"$out/lbr.report")"
}
filtered() {
	judge "$1" chain=no
	many "$1" 100
	zero "$1" illegal kernel mistyped
	is "${found[classes]}" "$2" "$1: $2 and nothing else"
}
judge_kernel() {
	local out=$results/kernel
	kernel k
	many kernel 300
	is "${found[newest]} ${found[user]}" "0 0" "kernel: the youngest entry leads to the PC; nothing of user mode"
	kernel uk
	many both 300
	is "${found[newest]}" 0 "both: the youngest entry leads to the PC"
	ok "both: ${found[user]} entries of user mode, ${found[kernel]} of the kernel, ${found[traps]} traps" \
		test "${found[user]:-0}" -gt 100 -a "${found[kernel]:-0}" -gt 100 -a "${found[traps]:-0}" -gt 10
	kernel k_only_branches
	many "samples of user mode with branches of the kernel" 10
	is "${found[user]}" 0 "samples of user mode with branches of the kernel: no others"
	judge hook_ctr
	many hook_ctr 100
	zero hook_ctr illegal broken newest kernel
}

judge_trace() {
	local out=$results/trace
	ways both.json
	is "${found[entries]} ${found[returns]} ${found[errors]}" "20 20 10" "each call and each return, with its error"
	zero both illegal broken newest mistyped
	# Ignores entries before which the hart ran another task.
	ok "${found[called]} entries came from user mode through the system call" test "${found[called]:-0}" -ge 17
	ok "${found[lost]} ways lost to interrupts" test "${found[lost]:-99}" -le 4
	ok "${found[user]} transfers of user mode" test "${found[user]:-0}" -gt 100
	ok "${found[transfers]} transfers" test "${found[transfers]:-0}" -ge 1500
	ok "a probe costs ${found[probe]} entries of the ring" test "${found[probe]:-99}" -le 16
	# The evaluation must find each altered transfer, and nothing else.
	ways both.json alter
	ok "altered: ${found[altered]} hits" test "${found[altered]:-0}" -ge 20
	is "${found[illegal]} ${found[broken]}" "${found[altered]} ${found[altered]}" "altered: each illegal, its follower broken"
}
ways() { finds python3 selftests/ctr/host/trace.py "$out" "$out/$1" do_sys_openat2 "${@:2}"; }

# The recordings from before, during and after the sleep.
judge_suspend() {
	local out=$results/suspend name
	for name in task harts; do
		judge $name
		many $name 100
		zero $name illegal broken newest kernel mistyped
	done
	judge calls stack=yes
	many calls 100
	zero calls illegal broken newest kernel
	is "${found[rooted]}" "${found[hot]}" "calls: down to _start in each sample of a function hot_*"
}
