# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The parts of ctr.sh that evaluate the recordings of its jobs on this host.
# shellcheck source=selftests/ctr/host/common.sh
. selftests/ctr/host/common.sh

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
	filtered call_ret call,ret,swap
	judge instructions
	many "instructions as trigger" 100
	zero instructions illegal broken newest kernel

	judge stack stack=yes
	many "call stack" 100
	zero stack illegal broken newest kernel
	is "${found[rooted]}" "${found[hot]}" "call stack: down to main in each sample of a function hot_*"
	judge stacks stack=yes
	many "call stacks of three tasks" 150
	zero stacks illegal broken newest kernel
	is "${found[rooted]}" "${found[hot]}" "call stacks of three tasks: down to main in each sample of a function hot_*"
	like "perf report draws the call graph" 'hot_recursion.*hot_round.*main' "$(tr '\n' ' ' <"$out/lbr.report")"
	judge_tools
}
filtered() {
	judge "$1" chain=no
	many "$1" 100
	zero "$1" illegal kernel mistyped
	is "${found[classes]}" "$2" "$1: $2 and nothing else"
}
# Checks the perf tool's output for one recording.
judge_tools() {
	finds python3 selftests/ctr/host/tool.py $elf "$(sed -n 's/^base //p' "$out/tool.base")" "$out/tool"
	ok "perf script -F brstacksym: ${found[sym]} entries" test "${found[sym]:-0}" -ge 1000
	ok "perf report --branch-history: ${found[history]} addresses, ${found[rows]} functions" \
		test "${found[history]:-0}" -ge 100 -a "${found[rows]:-0}" -ge 3
	ok "perf annotate: ${found[annotated]} samples" test "${found[annotated]:-0}" -ge 50
	ok "perf report -s mispredict: ${found[mispredicted]} entries" test "${found[mispredicted]:-0}" -ge 1000
	ok "perf report --total-cycles: ${found[blocks]} blocks" test "${found[blocks]:-0}" -ge 15
	zero "the perf tool" mispredict_wrong sym_illegal history_wrong annotate_wrong
}

# users NAME LEAST KEY=VALUE...: nothing in the samples of an event is wrong.
users() {
	cp "$out/${1%.*}.base" "$out/$1.base"
	judge "$1" "${@:3}"
	many "$1" "$2"
	zero "$1" illegal broken newest kernel
}
# frames NAME LEAST: each sample in a function hot_* has all frames down to main.
frames() {
	users "$1" "$2" stack=yes
	is "${found[rooted]}" "${found[hot]}" "$1: down to main in each sample of a function hot_*"
}
# only NAME CLASSES
only() {
	users "$1" 40 chain=no
	is "${found[classes]}" "$2" "$1: $2 and nothing else"
}

judge_users() {
	local out=$results/users name
	for name in two.1 two.2 filters.1 modes.1 group.1 group.2 group_filters.1 group_read.1 group_plain.1 users_a.1 cgroup.1; do
		users $name 40
		ok "$name: $((found[entries] / found[samples])) entries in a sample" test $((found[entries] / found[samples])) -ge 25
	done
	for name in filters.2 group_filters.2 users_b.1; do only $name call; done
	kernel modes.2
	is "${found[newest]:-1} ${found[user]:-1}" "0 0" "modes: the youngest entry of the kernel's event leads to the PC; nothing of user mode"
	kernel users_c.1
	ok "users_c: a hart beside its tasks: ${found[user]} entries of user mode" test "${found[user]:-0}" -ge 300
	is "$(awk 'NF > 1' "$out/plain.1.stacks" | wc -l) $(test "$(wc -l <"$out/plain.1.stacks")" -ge 40 && echo many)" "0 many" \
		"plain: samples without branches"
	for name in lbr.1 lbr.2 siblings.1 siblings_all.1 forked.1 migrated.1; do frames $name 40; done
}

judge_kernel() {
	local out=$results/kernel name
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
	for name in hook hook_two hook_ctr; do
		judge $name
		many $name 100
		zero $name illegal broken newest kernel
	done
	is "$(tr -d ' \n' <"$out/hook_two.events")" cycles:u:instructions:u: "two events of the cpu PMU have samples"
	judge hook_stack stack=yes
	many hook_stack 100
	zero hook_stack illegal broken newest kernel
}
kernel() { finds python3 selftests/ctr/host/kernel.py "$out/$1.stacks"; }

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
	is "${found[rooted]}" "${found[hot]}" "calls: down to main in each sample of a function hot_*"
}
