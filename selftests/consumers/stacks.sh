#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Call stacks, and the programs that read their exports. The stacks must follow from the calls and returns in the
# witness's log, and each program must read the same stacks from its export, exact to the instruction.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ok "trace a program in the guest" record_calculator || done_testing
program=$recorded/calculator

# export_as FORMAT OPTION...: writes $tmp/FORMAT
export_as() {
	build/ntrace export --format "$1" --user --sysroot "$root" -o "$tmp/$1" "${@:2}" "${program%/*}/recording" 2>"$tmp/said" ||
		{ cat "$tmp/said"; return 1; }
}
for format in folded callgrind pprof speedscope chrome perfetto json; do
	ok "$format" export_as "$format"
	like "$format: prints a summary" '^ntrace: [0-9,]+ (instructions, [0-9,]+ calls|traces)' "$(<"$tmp/said")"
done
total=$(python3 -c 'import json, sys; print(sum(t["instructions"] * t["count"] for t in json.load(open(sys.argv[1]))))' "$tmp/json")
is "$(awk '{ sum += $NF } END { print sum }' "$tmp/folded")" "$total" "the stacks have all $total instructions"
is "$(cd "$tmp" && "$top/build/ntrace" export -f folded -u --sysroot "$root" -o - "$recorded/recording" 2>/dev/null | cksum)" \
	"$(cksum <"$tmp/folded")" "-o -: standard output"

# says NAME FORMAT FILE [FOLDED]: the stacks that NAME read equal the folded stacks.
says() {
	local same
	same=$(python3 selftests/consumers/host/stacks.py "${4:-$tmp/folded}" "$2" "$3" 2>"$tmp/differ")
	like "$1: $same" " $total instructions, 0 differ$" "$same" || diag "$(<"$tmp/differ")"
}

python3 selftests/consumers/host/functions.py "$recorded/executed" "$program" >"$tmp/witness"
ok "the witness saw $(wc -l <"$tmp/witness") functions of the program" test "$(wc -l <"$tmp/witness")" -ge 10
says "instructions of the program's functions" witness "$tmp/witness"

# The stacks that follow from calls and returns in the witness's log.
stacked() {
	python3 selftests/consumers/host/call_stacks.py "${program%/*}/maps" "$program" "$tmp/folded" "$@" <"${program%/*}/log" 2>"$tmp/differ"
}
same=$(stacked)
like "stacks of the program's functions, as they were executed: $same" '^[1-9][0-9] stacks, [1-9][0-9]{5,} instructions, 0 differ$' \
	"$same" || diag "$(<"$tmp/differ")"
like "one return that is forgotten would show" ' [1-9][0-9]* differ$' "$(stacked 1000)"

annotate() { callgrind_annotate --threshold=100 --auto=no "$@" "$tmp/callgrind" 2>&1; }
annotate >"$tmp/annotated"
like "callgrind_annotate: totals" "$(sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta' <<<"$total") .*PROGRAM TOTALS" \
	"$(<"$tmp/annotated")"
says "callgrind_annotate" callgrind "$tmp/annotated"
annotate --inclusive=yes >"$tmp/annotated"
says "callgrind_annotate --inclusive=yes, with recursion" callgrind-inclusive "$tmp/annotated"

go tool pprof -raw "$tmp/pprof" >"$tmp/raw" 2>"$tmp/pprof.said"
says "go tool pprof -raw" pprof "$tmp/raw"
like "go tool pprof -top" "of $total total" "$(go tool pprof -top "$tmp/pprof" 2>&1)"
like "go tool pprof -top: the thread is a label" ' calculator' "$(go tool pprof -tags "$tmp/pprof" 2>&1)"
says "speedscope" speedscope "$tmp/speedscope"
# Timelines have functions only.
ok "folded, without inlined functions" export_as folded --no-inline
says "chrome: its functions, entered and left" chrome "$tmp/chrome"
protoc --decode=Trace --proto_path=selftests/consumers/host perfetto.proto <"$tmp/perfetto" >"$tmp/raw"
says "perfetto, through protoc" perfetto "$tmp/raw"

# The comparison detects a missing instruction and a call that is not left.
sed '9s/[0-9]*$/1&/' "$tmp/folded" >"$tmp/falsified"
for format in speedscope chrome; do
	like "a false count would show: $format" ' [1-9][0-9]* differ$' \
		"$(python3 selftests/consumers/host/stacks.py "$tmp/falsified" $format "$tmp/$format" 2>/dev/null)"
done
awk '/"ph":"E"/ && !gone++ { next } { print }' "$tmp/chrome" >"$tmp/falsified"
fails "a call that is never left would show" 'AssertionError|JSONDecodeError|IndexError' \
	python3 selftests/consumers/host/stacks.py "$tmp/folded" chrome "$tmp/falsified"

# The same for a program with nested inlined functions, with addr2line's output for each call and each instruction of the
# witness's log.
program=$recorded/gcc/inlined
ok "GCC's: folded, without inlined functions" export_as folded --no-inline
without=$(stacked)
like "GCC's: stacks without inlined functions: $without" '^[1-9][0-9] stacks, [1-9][0-9]{5,} instructions, 0 differ$' "$without"
is "$(grep -cF '_[i]' "$tmp/folded")" 0 "nothing is marked as inlined"
for format in folded callgrind pprof speedscope; do
	ok "GCC's: $format" export_as "$format"
done
total=$(awk '{ sum += $NF } END { print sum }' "$tmp/folded")
same=$(stacked --inlined)
like "GCC's: stacks with inlined functions: $same" '^[1-9][0-9] stacks, [1-9][0-9]{5,} instructions, 0 differ$' \
	"$same" || diag "$(<"$tmp/differ")"
ok "they are more" test "${same%% *}" -gt "${without%% *}"
like "functions are inlined into each other" $'main;([a-z_]+;)*[a-z_]+_\\[i\\];[a-z_]+_\\[i\\] [0-9]+(\n|$)' "$(<"$tmp/folded")"
annotate >"$tmp/annotated"
says "GCC's: callgrind_annotate" callgrind "$tmp/annotated"
go tool pprof -raw "$tmp/pprof" >"$tmp/raw" 2>"$tmp/pprof.said"
says "GCC's: go tool pprof -raw" pprof "$tmp/raw"
says "GCC's: speedscope" speedscope "$tmp/speedscope"
program=$recorded/calculator
fails "no --no-inline" '--no-inline applies to call stacks only' build/ntrace export -f json --no-inline "$recorded/recording"

ok "threads apart" export_as folded --threads
like "have their ids" $'(^|\n)calculator-[0-9]+/[0-9]+;' "$(<"$tmp/folded")"
fails "no --binary" 'folded always contains all objects: --binary is not allowed' build/ntrace export -f folded -b calculator "$recorded/recording"
done_testing
