#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The PMU "ntrace" in the guest: tasks between harts, their children, full and
# overwritten AUX areas, who may trace what; an empty kernel log. What the guest
# has traced is decoded here: how often a function was called is known.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
program=build/riscv64/selftests/kernel/perf
ok "the guest's part" tools/vsoc/run --quiet --timeout 200 --modules --check-dmesg \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh --put selftests/kernel/guest/perf.sh:/root/kernel/perf.sh \
	--get "/root/traced:$tmp" -- bash /root/kernel/perf.sh || diag "$(grep -v '^ok' "$tmp/.ok")"
sysroot=$(tools/vsoc/run --print-sysroot)
step=$(riscv64-linux-gnu-nm "$program" | awk '$3 == "step" { print $1 }')

# executed DIR: $count: how often step() is in the traces of DIR; $tmp/wrong: what ntrace complains of.
executed() {
	local dir=$1 elfs=() base='' range mode offset path file address
	while read -r range mode offset _ _ path; do
		case "$mode $offset $path" in
		"r-xp 00000000 /root/kernel/perf") base=${range%-*} elfs+=(--elf "$program@0x$base") ;;
		"r-xp 00000000 /"*) elfs+=(--elf "$sysroot$path@0x${range%-*}") ;;
		esac
	done <"$dir/maps"
	address=$(printf '0x%x' $((0x$base + 0x$step)))
	count=0
	: >"$tmp/wrong"
	for file in "$dir"/?.nex; do
		build/ntrace decode --level pc "${elfs[@]}" "$file" >"$tmp/pcs" 2>>"$tmp/wrong"
		count=$((count + $(grep -cx "$address" "$tmp/pcs")))
	done
}

for test in plain drain fork; do
	dir=$tmp/traced/$test
	executed "$dir"
	is "steps $count" "$(cat "$dir/steps")" "$test: each step is in the trace"
	is "$(head -n 3 "$tmp/wrong")" "" "$test: and nothing that is not this program's"
	is "$(awk '$3 != 0' "$dir/flags" | head -n 3)" "" "$test: no record is truncated"
	ok "$test: trace from both harts" test -s "$dir/0.nex" -a -s "$dir/1.nex"
done
for test in pause resume; do
	dir=$tmp/traced/$test
	executed "$dir"
	is "steps $count" "$(cat "$dir/steps")" "$test: by a page fault: the steps on one side of it"
	is "$(head -n 3 "$tmp/wrong")$(awk '$3 != 0' "$dir/flags")" "" "$test: nothing is wrong or truncated"
done
ok "drain: more than the AUX area" test "$(cat "$tmp"/traced/drain/?.nex | wc -c)" -gt 9000000
dir=$tmp/traced/snapshot
is "$(stat -c %s "$dir/0.nex")" 65536 "snapshot: as much as the AUX area holds"
executed "$dir"
ok "snapshot: $count steps in it" test "$count" -gt 10000
ok "snapshot: decoded from the first sync to the end" test "$(wc -l <"$tmp/wrong")" -le 4 || diag "$(tail -n 3 "$tmp/wrong")"
done_testing
