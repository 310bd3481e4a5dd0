#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The programs that ntrace export writes for read its output. The guest traces a program, and the witness logs it; the
# export, and the results of the other programs, are compared with sums over the witness's log.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ntrace=build/ntrace
out=$tmp/out
mkdir -p "$out"
ok "trace a program in the guest" record_calculator || done_testing
program=$recorded/calculator

# export_as FORMAT FILE OPTION...
export_as() {
	local format=$1 file=$2
	shift 2
	"$ntrace" export --format "$format" --user --sysroot "$root" -o "$file" "$@" "$recorded/recording" 2>"$tmp/said" ||
		{ cat "$tmp/said"; return 1; }
}
for format in csv json autofdo profgen bolt bolt-bf perfscript; do
	ok "$format" export_as $format "$out/$format" --binary calculator --period 2003
	like "$format: prints a summary" "^ntrace: [0-9,]+ (traces|samples)" "$(<"$tmp/said")"
done
ok "perf-data" export_as perf-data "$out/perf.data" --period 2003
ok "perf-data, every branch" export_as perf-data "$out/bts.data" --every-branch

same=$(python3 selftests/consumers/host/same_traces.py "$recorded/executed" "$out/csv" "$out/json")
like "csv, json: each trace as often as the witness saw it: $same" '^[1-9][0-9]+ traces, executed [1-9][0-9]{3,} times, 0 differ$' "$same"
sed '5s/ [0-9]*$/ 1000000/' "$recorded/executed" >"$tmp/falsified"
like "a false count would show" ' 1 differ$' \
	"$(python3 selftests/consumers/host/same_traces.py "$tmp/falsified" "$out/csv" "$out/json")"

# consumed NAME FORMAT OPTION COMMAND...: COMMAND makes $out/NAME of an export.
consumed() {
	local name=$1 format=$2 option=$3
	ok "$name" "${@:4}" || return
	judge "$format" "$program" "$recorded/executed" "$out/$name" "$option"
	is "${found[hot]:-}" by_count,emit,factor,product "$name names the hot functions" || diag "$(head "$out/$name")"
	ok "$name: ${found[equal]:-0} counts are those of the witness" test "${found[equal]:-0}" -ge 20
	is "${found[wrong]:-}" 0 "$name: all counts are equal" || diag "$(<"$tmp/wrong")"
	judge "$format" "$program" "$recorded/executed" "$out/$name" "$option" drop=100 2>/dev/null
	ok "$name: losing one trace of a hundred would show" test "${found[wrong]:-0}" -ge 5
}
consumed profgen-19 autofdo drop=0 "$llvm/llvm-profgen" --format=text --unsymbolized-profile="$out/profgen" --binary="$program" \
	--output="$out/profgen-19"
consumed bolt-19 fdata drop=0 "$llvm/perf2bolt" -pa -p "$out/bolt-bf" -o "$out/bolt-19" "$program"
if foreign perf2bolt-22 trixie usr/lib/llvm-22/bin/perf2bolt bolt-22; then
	consumed bolt-22 fdata returns=known perf2bolt-22 -pa -p "$out/bolt" -o "$out/bolt-22" "$program"
else
	skip "perf2bolt 22" "no bolt-22 in reach"
fi
if foreign create_llvm_prof bookworm usr/bin/create_llvm_prof autofdo; then
	consumed autofdo-text autofdo drop=0 create_llvm_prof --format=text --profiler=text --profile="$out/autofdo" --binary="$program" \
		--out="$out/autofdo-text"
else
	skip "create_llvm_prof" "no autofdo of Debian 12 in reach"
fi

# The samples themselves, as perf prints them.
if perf_for "$out/perf.data"; then
	# shown DATA FIELDS
	shown() { perf script -i "$out/$1" -F "$2" --show-mmap-events 2>/dev/null >"$out/$1.script"; }
	shown perf.data ip,brstack
	shown bts.data ip,addr
	sampled() { python3 selftests/consumers/host/sampled.py "$program" "$1" "$out/$2.script" 2>"$tmp/wrong"; }
	executed=$(grep -c ' U$' "$recorded/log")
	is "$(sampled "$recorded/executed" perf.data | sed 's/ [0-9]* transfers,//')" "$((executed / 2003)) samples, 0 wrong" \
		"a sample every 2003 of $executed instructions; every transfer, run and address in them was executed" ||
		diag "$(<"$tmp/wrong")"
	like "every branch with its number of executions" '^[1-9][0-9]{3,} samples, [0-9]+ transfers, 0 wrong$' \
		"$(sampled "$recorded/executed" bts.data)" || diag "$(<"$tmp/wrong")"
	# The run with the most executions, from any source.
	grep -vF "$(sort -k4,4nr "$recorded/executed" | awk 'NR == 1 { print " " $2 " " $3 " " }')" \
		"$recorded/executed" >"$tmp/falsified"
	for data in perf.data bts.data; do
		like "$data: code that was not executed would show" ' [1-9][0-9]* wrong$' "$(sampled "$tmp/falsified" $data)"
	done
	# perf 6.1 crashes in addr2line, which it starts for files that are missing on this machine.
	if foreign perf-13 trixie usr/bin/perf linux-perf; then
		like "perf report --branch-history" ' product calculator.c:[0-9]+ \(CALL' \
			"$(perf-13 report -i "$out/perf.data" --branch-history --stdio --symfs "$root" 2>&1)"
	else
		skip "perf report --branch-history" "no perf of Debian 13 in reach"
	fi
	"$llvm/llvm-profgen" --format=text --perfdata="$out/perf.data" --binary="$program" --output="$out/from.data" >/dev/null 2>&1
	ok "perfscript" "$llvm/llvm-profgen" --format=text --perfscript="$out/perfscript" --binary="$program" \
		--output="$out/from.script"
	ok "llvm-profgen makes the same of perfscript and perf-data" cmp "$out/from.data" "$out/from.script"
	like "which is a profile" 'product:[1-9]' "$(<"$out/from.script")"
else
	skip "perf" "no perf that reads our perf.data"
fi
done_testing
