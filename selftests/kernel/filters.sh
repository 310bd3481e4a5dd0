#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What is filtered is all that is in the trace, and all of it: functions with a known
# number of calls, of a program and of the kernel; handlers of traps. And no filter
# makes more visible than privilege allows.
# shellcheck source=selftests/tools/recording_common.sh
. "$(dirname "$0")/../tools/recording_common.sh"
cd "$top" || exit 1
make_sysroot "$counted"
mkdir -p "$sysroot/root/kernel"
cp build/riscv64/selftests/kernel/filters "$sysroot/root/kernel/"
calls=321
# boot NAME RANGES OPTION...
boot() {
	local name=$1 ranges=$2
	shift 2
	relay "$name" tools/vsoc/run --quiet --modules --tools --check-dmesg "$@" \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh --put "$counted:/root/counted" \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/filters.sh:/root/kernel/filters.sh \
		--get "/root/results:$tmp" -- bash /root/kernel/filters.sh "$ranges" $calls
}
boot four 4
boot none 0 --global ntrace-encoder.comparators=0

# decoded NAME: "FUNCTION PRIVILEGE ENTRIES INSTRUCTIONS" of each, entries: blocks at its first
# instruction; then errors, if there are any
decoded() {
	"$ntrace" decode --json --sysroot "$sysroot" --level block "$results/$1.data" 2>"$tmp/$1.err" | python3 -c '
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
for name in function two file syscall ecall interrupt; do decoded $name; done
is "$(cat "$tmp/function.txt")" "counted U 1750 15750" "one function: all its calls and all of each"
is "$(cat "$tmp/two.txt")" "recursive U 101 802
tail U 250 250" "two functions, one of a single instruction"
is "$(grep -E '^(counted|tail|recursive) ' "$tmp/file.txt")" "counted U 1750 15750
recursive U 101 802
tail U 250 250" "a whole file"
is "$(awk '$1 != "?" && $2 != "U"' "$tmp/file.txt")" "" "a whole file: nothing else"
is "$(cut -d' ' -f1-3 "$tmp/syscall.txt")" "__riscv_sys_sched_get_priority_max S $calls" "a function of the kernel"
is "$(grep -c ' U ' "$tmp/ecall.txt")" 0 "handlers of ecall: nothing of user space"
is "$(grep __riscv_sys_sched_get_priority_max "$tmp/ecall.txt" | cut -d' ' -f3)" $calls "handlers of ecall: each call"
is "$(grep -c __riscv_sys_ "$tmp/interrupt.txt")" 0 "handlers of interrupts: no system call"
ok "handlers of interrupts: timers" grep -qE '^(riscv_timer_interrupt|hrtimer_interrupt) ' "$tmp/interrupt.txt"
is "$(grep -h error "$tmp"/*.txt)" "" "nothing else than filters is missing"
# Fields of full addresses lack bit 0, user space has 47 bits here at most.
is "$("$ntrace" dump --json "$results/all.data" | python3 -c 'import json, sys
messages = [json.loads(line) for line in sys.stdin]
numbers = [int(str(value), 0) for message in messages for value in [*message.get("fields", {}).values(), message.get("address", 0)]]
print(len(messages) > 500, max(numbers) < 1 << 47)')" "True True" "all addresses, but user space only: none of the kernel in any field"
done_testing
