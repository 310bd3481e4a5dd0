#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks of several kinds on all harts at the same time. If a model checks the rings, as in
# the virtual SoC, it sees each of their states.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module
harts=$(nproc)
samples() {
	local sum=0 cpu
	for ((cpu = 0; cpu < harts; cpu++)); do sum=$((sum + $(state samples $cpu))); done
	echo $sum
}
# The host evaluates the recordings; this checks only that the driver was used.
record() {
	local name=$1 before
	shift
	before=$(samples)
	ok "recorded: $name" "${perf_record[@]}" -o "$tmp/p.data" -c 20011 "$@"
	ok "$name: $(($(samples) - before)) samples" test "$(samples)" -ge $((before + 10))
}
program=(sh -c "for cpu in $(seq -s ' ' 0 $((harts - 1))); do taskset -c \$cpu $here/edges 700 & done; wait")
record any,u -e ctr/by-cycles/u -j any,u -- "${program[@]}"
record any_call,u -e ctr/by-cycles/u -j any_call,u -- "${program[@]}"
record cond,u -e ctr/by-cycles/u -j cond,u -- "${program[@]}"
record stack,u -e ctr/by-cycles/u -j stack,u -- "${program[@]}"
record any -e ctr/by-cycles,depth=32/ -j any,u,k -- bash -c '(:)'
left_clean "recorded"
done_testing
