# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Branch stacks of several sorts, while the emulator's rings are held against the
# model. Arguments: the period; rounds of the program.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
period=$1
rounds=$2
harts=$(nproc)
samples() {
	local sum=0 cpu
	for ((cpu = 0; cpu < harts; cpu++)); do sum=$((sum + $(state samples $cpu))); done
	echo $sum
}
# What is recorded is judged elsewhere; here the driver must have been at work. With
# harts in threads QEMU loses overflow interrupts, now and then all of a recording.
record() {
	local name=$1 before try status=0
	shift
	before=$(samples)
	for ((try = 0; try < 10; try++)); do
		perf record -q -o /tmp/p.data -c "$period" "$@" || status=$?
		[ "$(samples)" -eq "$before" ] || break
	done
	is $status 0 "recorded: $name"
	ok "$name: samples" test "$(samples)" -gt "$before"
}
program=(sh -c "for cpu in $(seq -s ' ' 0 $((harts - 1))); do taskset -c \$cpu $here/edges $rounds & done; wait")
record any,u -e ctr/cycles/u -j any,u -- "${program[@]}"
record any_call,u -e ctr/cycles/u -j any_call,u -- "${program[@]}"
record cond,u -e ctr/cycles/u -j cond,u -- "${program[@]}"
record stack,u -e ctr/cycles/u -j stack,u -- "${program[@]}"
record any -e ctr/cycles,depth=32/ -j any,u,k -- taskset -c 0 bash -c 'for i in {1..3}; do (:); done'
is "$(state sctrctl)" 0x0 "nothing is left"
done_testing
