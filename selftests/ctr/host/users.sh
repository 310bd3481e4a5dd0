# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Evaluates the samples of users.sh: judge_users DIRECTORY EVENTS. The file rows in the directory has a line for each event of
# each command line, EVENTS in all:
#   NAME any      branches that sequential code connects, the youngest one with the PC; 25 in a sample on average
#   NAME stack    call frames, the whole stack in each sample of a function hot_*
#   NAME =CLASSES transfers of these classes only, and of all of them
#   NAME both     branches of user mode and of the kernel
#   NAME shared   the same, on a hart whose tasks other events record
#   NAME kernel   nothing of user mode
#   NAME plain    no branches
# HOW@COUNT: at least that many samples instead of 40, and 10 entries in a sample instead of 25. All but the last four have no
# address of the kernel.
# shellcheck source=selftests/ctr/host/common.sh
. selftests/ctr/host/common.sh

kernel() { finds python3 selftests/ctr/host/kernel.py "$out/$1.stacks"; }

judge_users() {
	local out=$1 name how least entries rows=0
	while read -r name how; do
		least=40 entries=25
		[[ $how != *@* ]] || { least=${how#*@} how=${how%@*} entries=10; }
		cp "$out/${name%.*}.base" "$out/$name.base"
		rows=$((rows + 1))
		judge_row "$name" "$how" "$least" "$entries"
	done <"$out/rows"
	is "$rows" "$2" "the events of all command lines"
	judge_tools
}
judge_row() {
	local name=$1 how=$2
	case $how in
	any) judge "$name" ;;
	stack) judge "$name" stack=yes ;;
	=*) judge "$name" chain=no ;;
	both | shared | kernel) kernel "$name" ;;
	plain)
		is "$(awk 'NF > 1' "$out/$name.stacks" | wc -l)" 0 "$name: no branches"
		found=([samples]=$(wc -l <"$out/$name.stacks"))
		;;
	esac
	many "$name" "$3"
	case $how in any | stack | =*) zero "$name" illegal broken newest kernel mistyped ;; esac
	case $how in
	any)
		ok "$name: ${found[entries]:-0} entries" test "${found[entries]:-0}" -ge $((${found[samples]:-1} * $4))
		;;
	stack) is "${found[rooted]}" "${found[hot]}" "$name: down to _start in each sample of a function hot_*" ;;
	=*) is "${found[classes]}" "${how#=}" "$name: $how and nothing else" ;;
	kernel)
		is "${found[newest]:-1} ${found[user]:-1}" "0 0" "$name: the youngest entry leads to the PC; nothing of user mode"
		;;
	both | shared)
		is "${found[newest]:-1}" 0 "$name: the youngest entry leads to the PC"
		ok "$name: ${found[user]} entries of user mode, ${found[kernel]} of the kernel" \
			test "${found[user]:-0}" -ge 300 -a "${found[kernel]:-0}" -ge 30
		;;
	esac
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
	# An instruction of this machine takes one cycle.
	like "perf annotate: IPC" 'Average IPC: 1\.00' "$(<"$out/tool.ipc")"
	is "$(awk '$2 ~ /^[0-9]+$/ && $1 ~ /^[0-9]+\.[0-9]+$/ { print $1 }' "$out/tool.ipc" | sort -u)" 1.00 "perf annotate: IPC of each block"
	zero "the perf tool" mispredict_wrong sym_illegal history_wrong annotate_wrong
}
