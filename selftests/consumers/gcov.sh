#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# GCC and the tools of AutoFDO read ntrace export --format gcov. Their results are compared with the witness's log.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
source=selftests/consumers/program/calculator.c
ok "trace a program in the guest" record_calculator || done_testing
program=$recorded/calculator executed=$recorded/executed

# gcov FILE OPTION...: exports the recording of $program
gcov() {
	build/ntrace export --format gcov --user --sysroot "$root" -o "$1" "${@:2}" "${program%/*}/recording" 2>"$tmp/said" ||
		{ cat "$tmp/said"; return 1; }
}
for version in 1 2 3; do
	ok "gcov, version $version" gcov "$tmp/$version.gcov" --gcov-version $version --binary calculator
done
like "prints a summary" '^ntrace: [1-9][0-9]* functions with [1-9][0-9]* counts of lines, of .*/calculator' "$(<"$tmp/said")"
like "and what has no line" '[0-9,]+ of [0-9,]+ executed instructions have no function or line number' "$(<"$tmp/said")"
ok "gcov" gcov "$tmp/gcov" --binary calculator
ok "is version 2" cmp "$tmp/gcov" "$tmp/2.gcov"

# counts MODE FILE...: see host/gcov_counts.py.
counts() { python3 selftests/consumers/host/gcov_counts.py "$1" "$program" "${witness:-$executed}" "${@:2}" 2>"$tmp/differ"; }

# create_gcov makes the same profile from the witness's log.
# same_counts PATTERN: for $program and its export, version 1, in $tmp/1.gcov.
same_counts() {
	local of same
	counts text >"$tmp/text"
	ok "create_gcov" create_gcov --profiler=text --profile="$tmp/text" --binary="$program" --gcov="$tmp/theirs.gcov" --gcov_version=1
	for of in theirs 1; do
		ok "dump_gcov of $of" sh -c "dump_gcov --gcov_version=1 '$tmp/$of.gcov' >'$tmp/$of.dump'"
	done
	same=$(counts same "$tmp/1.dump" "$tmp/theirs.dump")
	like "dump_gcov: as create_gcov of what the witness saw: $same" "$1" "$same" || diag "$(<"$tmp/differ")"
	sed '0,/: \([0-9]*\)$/s//: 1\1/' "$tmp/1.dump" >"$tmp/falsified"
	like "a false count would show" ' 1 differ$' "$(counts same "$tmp/falsified" "$tmp/theirs.dump")"
}
if foreign create_gcov bookworm usr/bin/create_gcov autofdo && foreign dump_gcov bookworm usr/bin/dump_gcov autofdo; then
	same_counts '^11 functions, [1-9][0-9] counts, 2 targets, 0 differ$'
	# A program compiled by GCC, with inlined functions.
	version=$(riscv64-linux-gnu-gcc -dumpversion)
	if [ "${version%%.*}" = 12 ]; then
		program=$recorded/gcc/inlined executed=$recorded/gcc/executed
		ok "gcov of a program of GCC's" gcov "$tmp/1.gcov" --gcov-version 1 --binary inlined
		same_counts '^[1-9] functions, [1-9][0-9] counts, [1-9] targets, 0 differ$'
		ok "functions within functions are among it" grep -qE '^    +[0-9.]+: [0-9]+' "$tmp/1.dump"
		program=$recorded/calculator executed=$recorded/executed
	else
		skip "a program of GCC's" "create_gcov was compared for code of GCC 12 only"
	fi
else
	skip "create_gcov" "no autofdo of Debian 12 in reach"
fi

# used NAME VERSION COMPILER...: the compiler reads this version, and its counts of function entries are right.
used() {
	local name=$1 version=$2 same
	shift 2
	ok "$name reads version $version" "$@" -O2 -g -w "-fauto-profile=$tmp/$version.gcov" \
		"-fdump-ipa-afdo-blocks-details=$tmp/$name.afdo" "$tmp/source.i" -o "$tmp/$name.s" || return
	same=$(counts entries "$tmp/$name.afdo")
	like "$name enters functions as often as they were executed: $same" '^11 functions, 0 differ$' "$same" || diag "$(<"$tmp/differ")"
	like "$name: a false count would show" ' 1 differ$' "$(witness=$tmp/false.executed counts entries "$tmp/$name.afdo")"
	like "$name knows where the pointer goes" 'hist->count [0-9]+ hist->all [0-9]+' "$(<"$tmp/$name.afdo")"
	ok "$name without it" "$@" -O2 -g -w "$tmp/source.i" -o "$tmp/$name.plain"
	fails "$name makes other code with it" '^[<>]' diff "$tmp/$name.plain" "$tmp/$name.s"
	fails "$name refuses version 1" 'profile version 1 does not match' "$@" -O2 -w "-fauto-profile=$tmp/1.gcov" "$tmp/source.i" \
		-o "$tmp/$name.none"
}
# Falsified: one more execution of the first instruction of a function.
entry=$(riscv64-linux-gnu-nm "$program" | sed -n 's/^0*\([0-9a-f]*\) t emit$/\1/p')
awk -v entry="$entry" '!more && $2 == entry { $4++; more = 1 } { print }' "$executed" >"$tmp/false.executed"
ok "preprocess the source" build/riscv64/cc -E "$source" -o "$tmp/source.i"
version=$(riscv64-linux-gnu-gcc -dumpversion)
used "gcc-${version%%.*}" 2 riscv64-linux-gnu-gcc -S
# compiler SUITE NUMBER VERSION: the compiler of another Debian, without its driver.
compiler() {
	[ "${version%%.*}" != "$2" ] || return 0
	if foreign "cc1-$2" "$1" "usr/libexec/gcc-cross/riscv64-linux-gnu/$2/cc1" "cpp-$2-riscv64-linux-gnu"; then
		used "cc1-$2" "$3" "cc1-$2" -quiet -march=rv64gc -mabi=lp64d
	else
		skip "cc1-$2" "no GCC $2 of Debian $1 in reach"
	fi
}
compiler trixie 14 2
compiler forky 16 3

# Debug files are used; without them, a message says what is missing.
mv "$root/root/calculator" "$tmp/whole"
riscv64-linux-gnu-strip -o "$root/root/calculator" "$tmp/whole"
fails "gcov of a stripped program" 'calculator: no line numbers .*compile it with -g' gcov "$tmp/none" --binary calculator
fails "a version that is none" 'gcov-version' gcov "$tmp/none" --gcov-version 4
fails "a version without the format" 'gcov-version applies to gcov only' build/ntrace export -f lcov --gcov-version 2 "$recorded/recording"
done_testing
