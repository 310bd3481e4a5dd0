# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# Checks the trace of guest/perf.c, whose calls of step() are counted.
# shellcheck source=selftests/kernel/judge/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# complete JOB: the job ran, and on a kernel that drains trace as fast as its programs make it. The debug
# kernel does not: losses are reported, and there is no point in counting what is left.
complete() { [ "${NTRACE_KERNEL:-}" != debug ] && guest_ran "$1"; }

program=build/riscv64/selftests/kernel/perf
# loaded DIR: sets $elfs and $base, the places of the code from DIR/maps
loaded() {
	local range mode offset path guest_root
	elfs=() base=''
	guest_root=$(tools/vsoc/run --print-sysroot)
	while read -r range mode offset _ _ path; do
		case "$mode $offset $path" in
		"r-xp 00000000 "*/kernel/perf) base=${range%-*} elfs+=(--elf "$program@0x$base") ;;
		"r-xp 00000000 /"*) elfs+=(--elf "$guest_root$path@0x${range%-*}") ;;
		esac
	done <"$1/maps"
}
address_of() {
	printf '0x%x' $((0x$base + 0x$(riscv64-linux-gnu-nm "$program" | awk -v name="$1" '$3 == name { print $1 }')))
}

# decode_pcs FILE: the addresses of its code in $tmp/pcs; adds to $tmp/wrong what ntrace complains about. A file may have
# messages without code, such as those that end a trace.
decode_pcs() {
	"$ntrace" decode --level pc --params "srcbits=${src_bits:-0}" "${elfs[@]}" "$1" 2>&1 >"$tmp/pcs" |
		grep -vE ': (nothing was decoded|no messages)' >>"$tmp/wrong"
}

# executed DIR: sets $count to the number of calls of step() in the traces of DIR, and writes to
# $tmp/wrong what ntrace complains about.
executed() {
	local file
	loaded "$1"
	count=0
	: >"$tmp/wrong"
	for file in "$1"/?.nex; do
		decode_pcs "$file"
		count=$((count + $(grep -cx "$(address_of step)" "$tmp/pcs")))
	done
}

# Bytes that a partial record lacks at most: the driver expects NTRACE_PATH_HOLDS in each funnel and in the sink, and no path
# has more than two funnels.
held_most=$((3 * 128))

# steps_of DIR WHAT: the traces have all steps and nothing else. $fork_flags allows partial records: of two tasks at a time,
# a sink that they share may hold back the end of one (judge_turns), which is then cut in its code.
steps_of() {
	local expected partial=0 bytes
	executed "$1"
	expected=$(sed 's/steps //' "$1/steps")
	[ "${fork_flags:-0}" -eq 0 ] || partial=$(awk '$3 == 4' "$1/flags" | wc -l)
	if [ "$partial" -eq 0 ]; then
		is "$count" "$expected" "$2: each step is in the trace"
		is "$(head -n 3 "$tmp/wrong")" "" "$2: and no other program's code"
		return
	fi
	bytes=$(cat "$1"/?.nex | wc -c)
	ok "$2: of $expected steps, at most those that $partial partial records lack are missing: $((expected - count))" \
		test "$count" -le "$expected" -a $(((expected - count) * bytes)) -le $((partial * held_most * expected))
}

# skip_message TRACE: a part of a stream begins inside a message, whose rest may look like one of another encoder, or like a sync. The
# last byte of a message has MSEO 3.
skip_message() {
	python3 - "$1" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
first = next(i for i, byte in enumerate(data) if byte & 3 == 3)
open(sys.argv[1], "wb").write(data[first + 1:])
END
}

# $fork_flags: flags of records of two tasks that are usual (0)
judge_perf() {
	local test dir allowed
	for test in plain drain fork; do
		dir=$results/perf/$test
		allowed=0
		[ "$test" != fork ] || allowed=${fork_flags:-0}
		fork_flags=$allowed steps_of "$dir" "$test"
		is "$(awk '($2 || $3) && $6 != 512' "$dir/flags" | head -n 3)" "" "$test: all records say that the trace is N-Trace"
		is "$(awk -v allowed="$allowed" '$3 && $3 != allowed' "$dir/flags" | head -n 3)" "" "$test: no record is truncated or partial"
		ok "$test: trace from both harts" test -s "$dir/0.nex" -a -s "$dir/1.nex"
	done
	for test in pause resume; do
		dir=$results/perf/$test
		executed "$dir"
		is "steps $count" "$(cat "$dir/steps")" "$test: by a page fault: the steps before or after it"
		is "$(head -n 3 "$tmp/wrong")$(awk '$3 != 0' "$dir/flags")" "" "$test: nothing is wrong or truncated"
	done
	ok "drain: more than the AUX area" test "$(cat "$results"/perf/drain/?.nex | wc -c)" -gt 1048576
	# A synchronization follows the last loss.
	dir=$results/perf/full
	loaded "$dir"
	tail -c +$(($(awk '$3 == 4 && $5 == 0 { end = $1 + $2 } END { print end }' "$dir/flags") + 1)) "$dir/0.nex" >"$tmp/rest"
	skip_message "$tmp/rest"
	"$ntrace" decode --level pc --params "srcbits=${src_bits:-0}" "${elfs[@]}" "$tmp/rest" >"$tmp/pcs" 2>"$tmp/wrong"
	count=$(grep -cx "$(address_of step)" "$tmp/pcs")
	ok "full: $count steps after the loss" test "$count" -gt 1000
	ok "full: decoded from the first sync to the end" test "$(wc -l <"$tmp/wrong")" -le 4 || diag "$(tail -n 3 "$tmp/wrong")"
	dir=$results/perf/snapshot
	is "$(stat -c %s "$dir/0.nex")" 65536 "snapshot: as much as the AUX area holds"
	skip_message "$dir/0.nex"
	executed "$dir"
	ok "snapshot: $count steps in it" test "$count" -gt 10000
	ok "snapshot: decoded from the first sync to the end" test "$(wc -l <"$tmp/wrong")" -le 4 || diag "$(tail -n 3 "$tmp/wrong")"
}

# Encoders of version 0, which cannot exclude the kernel. $drain_flags: flags that are usual where more trace is left at the end of a
# turn than can be separated in time (0)
judge_whole_perf() {
	ok "drain: more than the AUX area" test "$(cat "$results"/perf/drain/?.nex | wc -c)" -gt 1048576
	is "$(awk -v allowed="${drain_flags:-0}" '$3 && $3 != allowed' "$results/perf/drain/flags" | head -n 3)" "" \
		"drain: no record is truncated, or partial without reason"
	is "$(stat -c %s "$results/perf/snapshot/0.nex")" 65536 "snapshot: as much as the AUX area holds"
	[ -e "$results/perf/counted.data" ] || return
	make_sysroot
	"$ntrace" report --sysroot "$sysroot" --firmware "$(tools/vsoc/run --print-firmware-elf)@0x80000000" --json --limit 0 \
		"$results/perf/counted.data" >"$tmp/json" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "record --task: report is content"
	is "$(python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
# Each gap that a record reports is one error.
reported = report["gaps"] if sys.argv[2] != "0" else 0
print(max(len(report["errors"]) - reported, 0), sorted((f["function"], f["calls"], f["instructions"]) for f in report["functions"]
    if f["function"] in ("counted", "recursive", "tail")))' "$tmp/json" "${drain_flags:-0}")" \
		"0 [('counted', 1750, 15750), ('recursive', 101, 802), ('tail', 250, 250)]" "record --task: calls and instructions"
}

# The trace of users has no address of the kernel.
judge_addresses() {
	local name
	for name in btm htm; do
		is "$(highest "$results/security/$name.nex")" "True True" "$name: no address of the kernel in any field of any message"
	done
	is "$(highest "$results/security/kernel.nex")" "True False" "with the kernel, a kernel address is in the trace"
}

# Each of the two users has only its own steps in its trace.
judge_users() {
	local user
	for user in 65533 65534; do
		steps_of "$results/security/$user" "user $user"
	done
}

# Ownership messages name the task: everywhere in the trace the same one as perf's records.
judge_context() {
	local dir=$results/context/context
	steps_of "$dir" context
	# A PERF_RECORD_AUX has offset, size, flags, thread, hart and format; PROCESS is FORMAT[2], PRV[2], V[1], CONTEXT.
	is "$(for cpu in 0 1; do
		"$ntrace" dump --json "$dir/$cpu.nex" | python3 -c 'import json, sys
records = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
records = [record for record in records if record[4] == int(sys.argv[2]) and record[1]]
seen, wrong = {}, []
for message in (json.loads(line) for line in sys.stdin if "PROCESS" in line):
    process = int(str(message.get("fields", {}).get("PROCESS", 0)), 0)
    if process & 3 != 2:
        continue
    tids = [tid for offset, size, _, tid, *_ in records if offset <= message["offset"] < offset + size]
    if tids != [process >> 5]:
        wrong.append((message["offset"], process >> 5, tids))
    seen.setdefault(process >> 5, 0)
    seen[process >> 5] += 1
records_with = sum(1 for offset, size, _, tid, *_ in records)
print(wrong[:3], len(seen) > 1, sum(seen.values()) >= records_with)' "$dir/flags" "$cpu"
	done)" "[] True True
[] True True" "on each hart: several tasks; Ownership messages and records name the same task"
}

# Two tasks that share harts and the sink, once or three times: each trace has its own task's steps and none of the other. If a task is
# scheduled out while the other one keeps the sink busy, its last messages stay on the way: the record is partial, and tracing
# continues. $src_bits: width of SRC in messages (1); $short_max: partial records of nine that are usual (4)
judge_turns() {
	local round dir cpu
	# On the debug kernel, a short record ends before its last messages have left the funnels.
	[ "${NTRACE_KERNEL:-}" != debug ] || short_max=9
	ok "turns: there is trace of both tasks" test -d "$results/funnel/turns1/other"
	for dir in "$results"/funnel/turns?; do
		round=${dir##*turns}
		loaded "$dir"
		for cpu in 0 1; do
			own_steps "$dir" $cpu step other_step "turns $round, step(), hart $cpu"
			all_steps "turns $round, step(), hart $cpu"
			own_steps "$dir/other" $cpu other_step step "turns $round, other_step(), hart $cpu"
			all_steps "turns $round, other_step(), hart $cpu"
		done
	done
	# The trace of another task flushes the first task's messages from the funnel, except while that task is in the kernel.
	dir=$results/funnel/beside
	loaded "$dir"
	own_steps "$dir" 0 step other_step "beside, step(), hart 0"
	all_steps "beside, step(), hart 0"
	ok "beside: $short of nine records are partial, at most ${short_max:-4}" test "$short" -le "${short_max:-4}"
	own_steps "$dir/other" 1 other_step step "beside, other_step(), hart 1"
	ok "beside: $count steps of the other task" test "$count" -gt 100
}

# own_steps DIR HART MINE OTHER WHAT: decodes each perf record by itself. The part that a partial
# record (flag 4) lacks may be at the start of the next. Sets $count to the steps found, $short to
# the number of partial records.
own_steps() {
	local foreign=0 bad=0 before=0 offset size flags cpu mine other own strange
	mine=$(address_of "$3") other=$(address_of "$4")
	count=0
	short=0
	while read -r offset size flags _ cpu _; do
		[ "$cpu" = "$2" ] || continue
		# A partial record may be empty.
		if [ "$size" -eq 0 ]; then
			short=$((short + (flags >> 2 & 1)))
			before=$flags
			continue
		fi
		tail -c +$((offset + 1)) "$1/$cpu.nex" | head -c "$size" >"$tmp/piece"
		# There are hundreds of records: few processes for each.
		: >"$tmp/wrong"
		src_bits=${src_bits:-1} decode_pcs "$tmp/piece"
		read -r own strange < <(awk -v mine="$mine" -v other="$other" \
			'$0 == mine { a++ } $0 == other { b++ } END { print a + 0, b + 0 }' "$tmp/pcs")
		count=$((count + own)) foreign=$((foreign + strange))
		if [ $((flags & 4)) -ne 0 ]; then
			short=$((short + 1))
		elif [ $((before & 4)) -eq 0 ] && [ -s "$tmp/wrong" ]; then
			bad=$((bad + 1))
		fi
		before=$flags
	done <"$1/flags"
	is "$bad $foreign" "0 0" "$5: no errors in records that are not partial, no steps of the other task in any"
	# A truncated record would stop the event.
	is "$(awk '$3 % 2' "$1/flags")" "" "$5: no record is truncated"
}

# all_steps WHAT: own_steps has found half of all steps, or fewer if some records are partial.
all_steps() {
	local expected
	expected=$(($(sed 's/steps //' "$dir/steps") / 2))
	if [ "$short" -eq 0 ]; then
		is "$count" "$expected" "$1: each step is in its own trace"
	else
		ok "$1: $count steps in records of which $short are partial" test "$count" -le "$expected"
	fi
}
