# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# Checks that the trace contains exactly the filtered code: functions of a program and of the kernel
# with a known number of calls, and trap handlers.
# shellcheck source=selftests/kernel/judge/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# decoded NAME: prints "FUNCTION PRIVILEGE ENTRIES INSTRUCTIONS" for each function, where ENTRIES
# counts the blocks at its first instruction; then errors, if there are any
decoded() {
	"$ntrace" decode --json --sysroot "$sysroot" --level block "$results/filters/$1.data" 2>"$tmp/$1.err" | python3 -c '
import collections, json, sys
entries, instructions, errors = collections.Counter(), collections.Counter(), collections.Counter()
for line in sys.stdin:
    event = json.loads(line)
    if event["type"] == "error":
        errors[event.get("error", "?")] += 1
    if event["type"] != "block":
        continue
    key = event.get("symbol", "?"), event["privilege"]
    instructions[key] += event["instructions"]
    entries[key] += event.get("symbol_offset") == 0
for key in sorted(instructions):
    print(*key, entries[key], instructions[key])
for error, count in errors.items():
    print("error:", error, count)' >"$tmp/$1.txt"
}

# judge_filters CALLS
judge_filters() {
	local name
	make_sysroot
	for name in function two file syscall ecall interrupt only; do decoded $name; done
	is "$(cat "$tmp/function.txt")" "counted U 1750 15750" "one function: all its calls and all of each"
	is "$(cat "$tmp/two.txt")" "recursive U 101 802
tail U 250 250" "two functions, one of a single instruction"
	is "$(grep -E '^(counted|tail|recursive) ' "$tmp/file.txt")" "counted U 1750 15750
recursive U 101 802
tail U 250 250" "a whole file"
	is "$(awk '$1 != "?" && $2 != "U"' "$tmp/file.txt")" "" "a whole file: nothing else"
	is "$(grep '^counted ' "$tmp/only.txt")" "counted U 1750 15750" "one of two threads"
	is "$(cut -d' ' -f1-3 "$tmp/syscall.txt")" "__riscv_sys_sched_get_priority_max S $1" "a function of the kernel"
	is "$(grep -c ' U ' "$tmp/ecall.txt")" 0 "handlers of ecall: nothing of user space"
	is "$(grep __riscv_sys_sched_get_priority_max "$tmp/ecall.txt" | cut -d' ' -f3)" "$1" "handlers of ecall: each call"
	is "$(grep -c __riscv_sys_ "$tmp/interrupt.txt")" 0 "handlers of interrupts: no system call"
	ok "handlers of interrupts: timers" grep -qE '^(riscv_timer_interrupt|hrtimer_interrupt) ' "$tmp/interrupt.txt"
	is "$(grep -h error "$tmp"/{function,two,file,syscall,ecall,interrupt}.txt)" "" "nothing else than filters is missing"
	is "$(highest "$results/filters/all.data")" "True True" "all addresses, but user space only: none of the kernel in any field"
}
