# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace export and the programs that its formats are for add up the branch stacks of the same perf.data file. The results
# must be equal.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# both_ways DATA PROGRAM ROOT SCRIPT: PROGRAM is the program of DATA, at its own path below ROOT. SCRIPT is the output of
# perf script -F ip,brstack --show-mmap-events for DATA; "": no perf can read it.
both_ways() {
	local data=$1 program=$2 root=$3 script=$4 both=$tmp/both format same
	mkdir -p "$both"
	for format in profgen perfscript autofdo bolt bolt-bf csv json gcov; do
		ok "ntrace export of perf.data: $format" from_samples "$format" "$both/$format" || return
	done
	ok "gcov, version 1" from_samples gcov "$both/ours.gcov" --gcov-version 1
	like "says that these are samples" ' [1-9][0-9,]* samples with [1-9][0-9,]* transfers' "$(<"$tmp/said")"
	if [ -n "${perf_reads:-}" ]; then
		for format in profgen perfscript; do
			ok "llvm-profgen of $format" "$llvm/llvm-profgen" --format=text --output="$both/ours.$format" --binary="$program" \
				"$([ $format = profgen ] && echo --unsymbolized-profile || echo --perfscript)=$both/$format"
		done
		ok "llvm-profgen of perf.data" "$llvm/llvm-profgen" --format=text --output="$both/theirs.profgen" --binary="$program" \
			--perfdata="$data"
		like "which is a profile" 'product:[1-9]' "$(<"$both/theirs.profgen")"
		ok "llvm-profgen makes the same of perf.data and of perfscript" cmp "$both/ours.perfscript" "$both/theirs.profgen"
		# Its format for addresses has no calls from other objects, from which it derives the calls of functions.
		for format in ours theirs; do sed -E 's/^(\w+:[0-9]+):[0-9]+$/\1/' "$both/$format.profgen" >"$both/$format.bodies"; done
		ok "and of profgen, but for calls from elsewhere" cmp "$both/ours.bodies" "$both/theirs.bodies"
		ok "perf2bolt of bolt-bf" "$llvm/perf2bolt" -pa -p "$both/bolt-bf" -o "$both/ours.fdata" "$program"
		ok "perf2bolt of perf.data" "$llvm/perf2bolt" -p "$data" -o "$both/theirs.fdata" "$program"
		# In added-up data, it cannot recognize returns, and counts them as continuing after the call.
		sort -o "$both/ours.fdata" "$both/ours.fdata"
		sort -o "$both/theirs.fdata" "$both/theirs.fdata"
		is "$(comm -23 "$both/ours.fdata" "$both/theirs.fdata")" "" "what perf2bolt makes of ours, it makes of perf.data"
		is "$(comm -13 "$both/ours.fdata" "$both/theirs.fdata" | python3 -c '
import sys
for line in sys.stdin:
    word = line.split()
    if word[1] != word[4] or int(word[5], 16) - int(word[2], 16) not in (2, 4):
        print(line, end="")')" "" "and no more, but for what goes on behind a call"
		ok "most counts are equal" test "$(comm -12 "$both/ours.fdata" "$both/theirs.fdata" | wc -l)" -ge 50
	else
		skip "llvm-profgen and perf2bolt" "no perf that reads this perf.data"
	fi
	if foreign create_llvm_prof bookworm usr/bin/create_llvm_prof autofdo && foreign create_gcov bookworm usr/bin/create_gcov autofdo &&
		foreign dump_gcov bookworm usr/bin/dump_gcov autofdo; then
		ok "create_llvm_prof of autofdo" create_llvm_prof --format=text --profiler=text --profile="$both/autofdo" \
			--binary="$program" --out="$both/ours.autofdo"
		ok "create_llvm_prof of perf.data" create_llvm_prof --format=text --profile="$data" --binary="$program" \
			--out="$both/theirs.autofdo"
		like "which is a profile" 'product:[1-9]' "$(<"$both/theirs.autofdo")"
		ok "create_llvm_prof makes the same of perf.data and of autofdo" cmp "$both/ours.autofdo" "$both/theirs.autofdo"
		ok "create_gcov of perf.data" create_gcov --profile="$data" --binary="$program" --gcov="$both/theirs.gcov" --gcov_version=1
		for format in ours theirs; do
			ok "dump_gcov of $format" sh -c "dump_gcov --gcov_version=1 '$both/$format.gcov' >'$both/$format.dump'"
		done
		if [ -n "$script" ]; then
			alike() { python3 selftests/consumers/host/gcov_counts.py alike "$program" "$script" "$both/$1.dump" "$both/theirs.dump"; }
			same=$(alike ours 2>"$tmp/differ")
			like "create_gcov makes the same of perf.data: $same" \
				'^[1-9][0-9]* functions, [1-9][0-9]+ counts, [0-9]+ targets, 0 differ$' "$same" || diag "$(<"$tmp/differ")"
			sed '0,/ head:/s// head:1/' "$both/ours.dump" >"$both/false.dump"
			like "a false number of calls would show" ' 1 differ$' "$(alike false 2>/dev/null)"
		else
			skip "create_gcov of perf.data" "no perf that reads this perf.data"
		fi
	else
		skip "create_llvm_prof" "no autofdo of Debian 12 in reach"
	fi
	fails "lcov of samples" 'lcov needs a trace' from_samples lcov "$both/none"
	fails "call stacks of samples" 'folded needs a trace' from_samples folded "$both/none"
	fails "perf-data of perf.data" 'is a perf.data file already' from_samples perf-data "$both/none"
}
# from_samples FORMAT FILE OPTION...: exports $data of both_ways.
from_samples() {
	local binary=(--binary "${program##*/}")
	case $1 in perf-data | folded) binary=() ;; esac
	build/ntrace export --format "$1" --user --sysroot "$root" -o "$2" "${@:3}" "${binary[@]}" "$data" 2>"$tmp/said" ||
		{ cat "$tmp/said"; return 1; }
}
