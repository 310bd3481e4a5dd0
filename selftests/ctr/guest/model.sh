# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks of several sorts, while the emulator's rings are held against the
# model. Arguments: the period; rounds of the program.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
period=$1
rounds=$2
# What is recorded is judged elsewhere; here the driver must have been at work.
record() {
	local name=$1 before
	shift
	before=$(state samples)
	ok "recorded: $name" perf record -q -o /tmp/p.data -c "$period" "$@"
	ok "$name: samples" test "$(state samples)" -gt "$before"
}
program=(taskset -c 0 "$here/edges" "$rounds")
record any,u -e ctr/cycles/u -j any,u -- "${program[@]}"
record stack,u -e ctr/cycles/u -j stack,u -- "${program[@]}"
record any -e ctr/cycles,depth=32/ -j any,u,k -- taskset -c 0 bash -c 'for i in {1..3}; do (:); done'
is "$(state sctrctl)" 0x0 "nothing is left"
done_testing
