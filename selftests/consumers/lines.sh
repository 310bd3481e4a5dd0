#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Source lines: exact coverage for genhtml, compared with the witness's log.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ok "trace a program in the guest" record_calculator || done_testing
program=$recorded/calculator

# lcov FILE OPTION...
lcov() {
	build/ntrace export --format lcov --user --sysroot "$root" -o "$1" "${@:2}" "$recorded/recording" 2>"$tmp/said" ||
		{ cat "$tmp/said"; return 1; }
}
ok "lcov" lcov "$tmp/info" --binary calculator
like "prints a summary" '^ntrace: [0-9]+ lines, [0-9]+ of them executed$' "$(<"$tmp/said")"
covered() { python3 selftests/consumers/host/covered.py "$program" "$1" "$tmp/info" program/calculator.c 2>"$tmp/differ"; }
same=$(covered "$recorded/executed")
like "each line, branch and function as often as the witness saw it: $same" \
	'^[1-9][0-9] lines \([1-9][0-9] executed\), [1-9][0-9] branches, 11 functions, 0 differ$' "$same" || diag "$(<"$tmp/differ")"
awk '!more && $2 ~ "^c" && $4 > 100 { $4++; more = 1 } { print }' "$recorded/executed" >"$tmp/falsified"
like "a run that was counted once more would show" ' [1-9][0-9]* differ$' "$(covered "$tmp/falsified")"


# The same for each instruction, and for calls.
report() { build/ntrace report --user --sysroot "$root" "$@" "$recorded/recording"; }
annotated() { report --annotate "$2" | python3 selftests/consumers/host/annotated.py "$program" "$1" "$2" 2>"$tmp/differ"; }
for function in run factor main; do
	exact=$(annotated "$recorded/executed" $function)
	like "report --annotate $function: $exact" '^[1-9][0-9]+ instructions, [1-9][0-9]* lines, 0 differ$' "$exact" || diag "$(<"$tmp/differ")"
done
like "a run that was counted once more would show" ' [1-9][0-9]* differ$' "$(annotated "$tmp/falsified" "$(
	for f in run factor main emit sum product; do
		annotated "$tmp/falsified" $f | grep -q ' 0 differ' || { echo $f; break; }
	done)")"
like "without an objdump it shows bytes" 'note: no objdump .* bytes are shown' "$(PATH=/nonexistent report --annotate run)"
fails "a part of a name is answered with the whole" "no function 'fact' was executed" report --annotate fact
like "the whole name" '  factor of calculator' "$(report --annotate fact 2>&1)"
calls=$(python3 selftests/consumers/host/annotated.py "$program" "$recorded/executed" product factor)
like "report --callers factor: product, $calls times" "^ *100.00 % +[0-9,]+ +$calls  product " \
	"$(report --callers factor | sed 's/\([0-9]\),\([0-9]\)/\1\2/g' | sed -n 3p)"
like "report --callees product: factor" "^ *[0-9.]+ % +[0-9,]+ +$calls  factor " \
	"$(report --callees product | sed 's/\([0-9]\),\([0-9]\)/\1\2/g' | grep factor)"
fails "report --callers of nobody" "no function 'nobody' was entered" report --callers nobody

# The totals and line counts of genhtml must equal the sums of the witness's counts.
read -r all _ executed _ branches _ functions _ <<<"${same//[(,)]/}"
sed -n 's/^DA:\([0-9]*\),/\1 /p' "$tmp/info" | sort >"$tmp/counts"
# pages NAME GENHTML
pages() {
	local pages="$tmp/$1.pages" shown
	ok "$1" "$2" --branch-coverage --function-coverage --output-directory "$pages" "$tmp/info" || return
	shown=$(grep -oE '\([0-9]+ of [0-9]+ (lines|functions|branches)\)' "$tmp/.ok" | tr '\n' ' ')
	like "$1: what the witness saw: $shown" \
		"^\($executed of $all lines\) \($functions of $functions functions\) \([1-9][0-9]* of $((2 * branches)) branches\) $" "$shown"
	sed 's/<[^>]*>//g' "$(find "$pages" -name calculator.c.gcov.html)" |
		sed -nE 's/^ *([0-9]+) [^:]*: *([0-9]+) : .*/\1 \2/p' | sort >"$tmp/shown"
	ok "$1: the count of each line" cmp "$tmp/shown" "$tmp/counts"
}
# genhtml_of SUITE: runs genhtml of another Debian with its perl.
genhtml_of() {
	local path
	path=$(tools/setup/private "$1" usr/bin/perl perl lcov 2>"$tmp/foreign") || { diag "$(tail -n 3 "$tmp/foreign")"; return 1; }
	cat >"$tmp/bin/genhtml-$1" <<-'END'
		#!/bin/sh
		PERL5LIB=$(echo "$root"/usr/lib/*/perl-base "$root"/usr/lib/*/perl/5.* "$root"/usr/share/perl/5.* \
			"$root"/usr/share/perl5 "$root"/usr/lib/*/perl5/5.* | tr ' ' :)
		export PERL5LIB
		exec "$root/command/perl" "$root/usr/bin/genhtml" "$@"
	END
	sed -i "1aroot='${path%/command/perl}'" "$tmp/bin/genhtml-$1"
	chmod +x "$tmp/bin/genhtml-$1"
}
version=$(genhtml --version | sed 's/.* //')
pages "genhtml-$version" genhtml
case $version in 1.*) other=trixie ;; *) other=bookworm ;; esac
if genhtml_of $other; then
	pages "genhtml-$other" "genhtml-$other"
else
	skip "genhtml of $other" "no lcov of Debian $other in reach"
fi

# Line numbers of a debug file are the same; without it, a message says what is missing.
mkdir -p "$root/usr/lib/debug/.build-id"
id=$(riscv64-linux-gnu-readelf -n "$program" | sed -n 's/.*Build ID: //p')
names() { report --limit 0 | grep ' calculator '; }
names >"$tmp/named"
rm "$root/root/calculator"
riscv64-linux-gnu-strip -o "$root/root/calculator" "$program"
mv "$tmp/info" "$tmp/whole"
fails "lcov of a stripped program" "the export is empty" lcov "$tmp/info" --binary calculator
like "names the missing file and its effect" \
	"root/calculator: no line numbers .*: [0-9,]{6,} executed instructions have no source" "$(<"$tmp/said")"
like "and that nothing is left" "nothing that was executed has line numbers: the export is empty: compile with -g" "$(<"$tmp/said")"
named=$(names)
like "functions of a stripped program have no names" ' sub_[0-9a-f]+' "$named"
is "$(grep -cE ' (product|factor|emit|by_count)$' <<<"$named")" 0 "none of them"
mkdir "$root/usr/lib/debug/.build-id/${id:0:2}"
riscv64-linux-gnu-objcopy --only-keep-debug "$recordings/ntrace" "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
like "a debug file of another build: a message" 'calculator: the debug file belongs to another build' "$(report)"
riscv64-linux-gnu-objcopy --only-keep-debug "$program" "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
is "$(names)" "$(<"$tmp/named")" "with the debug file they have the names that they had"
ok "lcov of one with a debug file" lcov "$tmp/info" --binary calculator
ok "is the same as that of the whole program" cmp "$tmp/info" "$tmp/whole"
done_testing
