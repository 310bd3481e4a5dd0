#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The cost of tracing: a program full of branches, alone and under ntrace record in HTM and in BTM, alternately in one guest;
# the program itself takes the time. Target: at most 4 times.
# The cost of starting and stopping: 10,000 starts and stops while two processes hand the hart to each other, executed on
# that hart as for a traced task, and from another hart. Target: below 20 %.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-7} switches=${BENCH_SWITCHES:-100000} starts=10000

# shellcheck disable=SC2016 # for the guest
out=$(guest_run 'i=0; while [ $i -lt '"$rounds"' ]; do i=$((i + 1))
	echo off $(taskset 1 bench_load branchy 200)
	for mode in htm btm; do
		echo $mode $(taskset 1 ntrace record --quiet --cpu 0 --mode $mode --sink-size 4M --data-size 64M -o /tmp/r -- bench_load branchy 200)
		echo bytes.$mode $(stat -c %s /tmp/r/aux.0)
		rm -rf /tmp/r
	done
	echo alone $(bench_load switch '"$switches"')
	echo toggled $(bench_load switch '"$switches"' /dev/ntrace0 '"$starts"')
	echo far $(bench_load switch '"$switches"' /dev/ntrace0 '"$starts"' far)
done' --modules --tools --mem 3G)
echo "$out" >"$tmp/out"
take() { awk -v what="$1" '$1 == what { print $2 }' "$tmp/out"; }
ratios() { paste <(take "$1") <(take "$2") | awk '{ printf "%.4f\n", $1 / $2 }'; }
for mode in htm btm; do
	# shellcheck disable=SC2046 # numbers
	figure "tracing on over off, branchy program, $mode" "$(median $(ratios $mode off))" x "$rounds"
	# shellcheck disable=SC2046
	figure "trace of the branchy program, $mode" "$(median $(take bytes.$mode))" bytes "$rounds"
done
# shellcheck disable=SC2046
{
	figure "10000 starts and stops over none, task switching" "$(median $(ratios toggled alone))" x "$rounds"
	# shellcheck disable=SC2046
	figure "the same, from another hart" "$(median $(ratios far alone))" x "$rounds"
	figure "task switching load alone" "$(median $(take alone | awk '{ print $1 / 1e9 }'))" s "$rounds"
	figure "one start and stop" \
		"$(median $(paste <(take toggled) <(take alone) | awk -v n=$starts '{ print ($1 - $2) / n / 1000 }'))" us "$rounds"
}
write_figures
