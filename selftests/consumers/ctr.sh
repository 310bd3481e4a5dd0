#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# llvm-profgen, create_llvm_prof and perf2bolt read perf.data files with branch stacks of CTR, recorded in the guest: perf.data
# with the PMU "ctr", hook.data with the kernel's own PMU and hook=1. plain.data has no branch stacks. Each count of their profiles is
# compared with sums over the output of the guest's perf script.
# shellcheck source=selftests/consumers/from_samples.sh
. "$(dirname "$0")/from_samples.sh"
ok "record it in the guest" find_recordings || done_testing
program=$recordings/calculator/calculator out=$tmp/out
mkdir "$out"
cp "$recordings"/samples/* "$out/"

# profile NAME FORMAT COMMAND...: COMMAND makes $out/NAME from $data.data.
profile() {
	local name=$1 format=$2 branches=$out/$data.branches
	ok "$name" "${@:3}" || return
	judge "$format" "$program" "$branches" "$out/$name"
	is "${found[hot]:-}" emit,factor,product,sum "$name names the hot functions" || diag "$(head "$out/$name")"
	ok "$name: ${found[equal]:-0} counts are those of perf script, of ${found[samples]:-0} samples" \
		test "${found[equal]:-0}" -ge 20
	is "${found[wrong]:-}" 0 "$name: all counts are equal" || diag "$(<"$tmp/wrong")"
	# The comparison must fail if some samples are missing.
	judge "$format" "$program" "$branches" "$out/$name" drop=1000 2>/dev/null
	ok "$name: losing one sample of a thousand would show" test "${found[wrong]:-0}" -ge 5
}
# empty NAME FORMAT COMMAND...: likewise; there must be no profile, or one without correct counts.
empty() {
	local name=$1 format=$2
	"${@:3}" >"$tmp/empty" 2>&1 || true
	[ -e "$out/$name" ] || : >"$out/$name"
	judge "$format" "$program" "$out/perf.branches" "$out/$name" >/dev/null
	is "${found[hot]:-}" "" "$name: a recording without branches gives no profile"
}
# Sets $make to what is expected of $data.
expected() { [ "$data" = plain ] && make=empty || make=profile; }

if ! perf_for "$out/perf.data"; then
	skip "llvm-profgen and perf2bolt" "no perf that reads files of the guest's"
else
	for data in perf hook plain; do
		expected
		$make "profgen-19.$data" profgen "$llvm/llvm-profgen" --format=text --perfdata="$out/$data.data" \
			--binary="$program" --output="$out/profgen-19.$data"
		$make "bolt-19.$data" fdata "$llvm/perf2bolt" -p "$out/$data.data" -o "$out/bolt-19.$data" "$program"
	done
	weights() { clang -S -emit-llvm "$@" selftests/consumers/program/calculator.c -o - | grep -c branch_weights; }
	is "$(weights)" 0 "without a profile clang knows no weights of branches"
	ok "with that of llvm-profgen it does" test "$(weights -fprofile-sample-use="$out/profgen-19.perf")" -ge 5
	if foreign perf2bolt-22 trixie usr/lib/llvm-22/bin/perf2bolt bolt-22; then
		for data in perf hook plain; do
			expected
			$make "bolt-22.$data" fdata perf2bolt-22 -p "$out/$data.data" -o "$out/bolt-22.$data" "$program"
		done
	else
		skip "perf2bolt 22" "no bolt-22 in reach"
	fi
fi

# Newer packages are built without LLVM.
if foreign create_llvm_prof bookworm usr/bin/create_llvm_prof autofdo; then
	for data in perf hook plain; do
		expected
		$make "autofdo.$data" autofdo create_llvm_prof --format=text --profile="$out/$data.data" \
			--binary="$program" --out="$out/autofdo.$data"
	done
else
	skip "create_llvm_prof" "no autofdo of Debian 12 in reach"
fi

# ntrace export of the same samples.
guest_files "$tmp/root"
cp "$program" "$tmp/root/root/"
perf_for "$out/perf.data" && perf_reads=yes
both_ways "$out/perf.data" "$program" "$tmp/root" "$out/perf.branches"
done_testing
