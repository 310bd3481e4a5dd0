# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# Trace of guest/perf.c: how often which function was called is known.
# shellcheck source=selftests/kernel/judge/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# executed DIR [FUNCTION [PARAMS]]: $count: how often FUNCTION (step) is in the traces of DIR;
# $tmp/wrong: what ntrace complains of. The addresses are those of DIR/maps.
executed() {
	local dir=$1 function=${2:-step} elfs=() base='' range mode offset path file address guest_root
	local program=build/riscv64/selftests/kernel/perf
	guest_root=$(tools/vsoc/run --print-sysroot)
	while read -r range mode offset _ _ path; do
		case "$mode $offset $path" in
		"r-xp 00000000 "*/kernel/perf) base=${range%-*} elfs+=(--elf "$program@0x$base") ;;
		"r-xp 00000000 /"*) elfs+=(--elf "$guest_root$path@0x${range%-*}") ;;
		esac
	done <"${maps:-$dir}/maps"
	address=$(riscv64-linux-gnu-nm "$program" | awk -v name="$function" '$3 == name { print $1 }')
	address=$(printf '0x%x' $((0x$base + 0x$address)))
	count=0
	: >"$tmp/wrong"
	for file in "$dir"/?.nex; do
		"$ntrace" decode --level pc ${3:+--params "$3"} "${elfs[@]}" "$file" >"$tmp/pcs" 2>>"$tmp/wrong"
		count=$((count + $(grep -cx "$address" "$tmp/pcs")))
	done
}

# steps_of DIR WHAT: all of them and nothing else
steps_of() {
	executed "$1"
	is "steps $count" "$(cat "$1/steps")" "$2: each step is in the trace"
	is "$(head -n 3 "$tmp/wrong")" "" "$2: and nothing that is not this program's"
}

judge_perf() {
	local test dir
	for test in plain drain fork; do
		dir=$results/perf/$test
		steps_of "$dir" "$test"
		is "$(awk '$3 != 0' "$dir/flags" | head -n 3)" "" "$test: no record is truncated"
		ok "$test: trace from both harts" test -s "$dir/0.nex" -a -s "$dir/1.nex"
	done
	for test in pause resume; do
		dir=$results/perf/$test
		executed "$dir"
		is "steps $count" "$(cat "$dir/steps")" "$test: by a page fault: the steps on one side of it"
		is "$(head -n 3 "$tmp/wrong")$(awk '$3 != 0' "$dir/flags")" "" "$test: nothing is wrong or truncated"
	done
	ok "drain: more than the AUX area" test "$(cat "$results"/perf/drain/?.nex | wc -c)" -gt 1048576
	dir=$results/perf/snapshot
	is "$(stat -c %s "$dir/0.nex")" 65536 "snapshot: as much as the AUX area holds"
	executed "$dir"
	ok "snapshot: $count steps in it" test "$count" -gt 10000
	ok "snapshot: decoded from the first sync to the end" test "$(wc -l <"$tmp/wrong")" -le 4 || diag "$(tail -n 3 "$tmp/wrong")"
}

judge_security() {
	local name user
	for name in btm htm; do
		is "$(highest "$results/security/$name.nex")" "True True" "$name: no address of the kernel in any field of any message"
	done
	is "$(highest "$results/security/kernel.nex")" "True False" "with the kernel there is one"
	# Two users, each in its own trace and nowhere else.
	for user in 65533 65534; do
		steps_of "$results/security/$user" "user $user"
	done
}

# Ownership messages name the task: at each place of the trace the same one as perf's records do.
judge_context() {
	local dir=$results/context/context
	steps_of "$dir" context
	# A PERF_RECORD_AUX has offset, size, flags, thread and hart; PROCESS is FORMAT[2], PRV[2], V[1], CONTEXT.
	is "$(for cpu in 0 1; do
		"$ntrace" dump --json "$dir/$cpu.nex" | python3 -c 'import json, sys
records = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
records = [record for record in records if record[4] == int(sys.argv[2]) and record[1]]
seen, wrong = {}, []
for message in map(json.loads, sys.stdin):
    process = int(str(message.get("fields", {}).get("PROCESS", 0)), 0)
    if process & 3 != 2:
        continue
    tids = [tid for offset, size, _, tid, _ in records if offset <= message["offset"] < offset + size]
    if tids != [process >> 5]:
        wrong.append((message["offset"], process >> 5, tids))
    seen.setdefault(process >> 5, 0)
    seen[process >> 5] += 1
records_with = sum(1 for offset, size, _, tid, _ in records)
print(wrong[:3], len(seen) > 1, sum(seen.values()) >= records_with)' "$dir/flags" "$cpu"
	done)" "[] True True
[] True True" "on each hart: several tasks, each piece of the trace says whose it is, as its record does"
}

# Two tasks that share harts and the sink: each has its own steps and none of the other.
judge_turns() {
	local maps=$results/funnel/turns dir=$results/funnel/turns function mine other
	for function in step other_step; do
		[ $function = step ] && mine=step other=other_step || mine=other_step other=step
		executed "$dir" $mine srcbits=1
		is "steps $count" "$(cat "$results/funnel/turns/steps")" "two tasks, $mine(): all of them are in its own trace"
		is "$(head -n 3 "$tmp/wrong")" "" "two tasks, $mine(): and nothing that is not this program's"
		ok "two tasks, $mine(): trace from both harts" test -s "$dir/0.nex" -a -s "$dir/1.nex"
		executed "$dir" $other srcbits=1
		is "$count" 0 "two tasks, $mine(): nothing of the other"
		dir=$dir/other
	done
	is "$(awk '$3 != 0' "$maps/flags" | head -n 3)" "" "two tasks: no record is truncated"
}
