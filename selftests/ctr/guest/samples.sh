#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every overflow of a counter causes an interrupt. Argument: icount or threads, the way in which
# QEMU runs the harts.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module
period=20011

# counted CPU: prints the program's instructions in user mode. Counting needs no interrupt.
counted() {
	perf stat -x , -e instructions:u -o count taskset -c "$1" "$here/edges" 2000 >/dev/null
	sed -n 's/^\([0-9]*\),.*instructions.*/\1/p' count
}

# exact CPU NAME: both events, which count the same with -icount, get one sample per period.
exact() {
	local cpu=$1 event got want
	want=$(($(counted "$cpu") / period))
	ok "$2: $want periods" test $want -ge 20
	"${perf_record[@]}" -o p.data -c $period -e cycles:u,instructions:u -- taskset -c "$cpu" "$here/edges" 2000 >/dev/null
	perf script -i p.data -F event 2>/dev/null >events
	for event in cycles instructions; do
		got=$(grep -c "$event" events)
		ok "$2: $got samples of $event in $want periods" test $((got - want)) -ge -1 -a $((got - want)) -le 1
	done
}

# flows CPU NAME: waits for samples as long as the program runs. Cycles follow the host's clock: on a slow host, a short
# period ends before the sample has been taken, and the hart takes nothing but interrupts.
flows() {
	local before wanted recorder
	before=$(state samples "$1")
	wanted=$((before + 10))
	"${perf_record[@]}" -o p.data -c 10000019 -e ctr/by-cycles/u -j any,u -- taskset -c "$1" "$here/edges" 100000000000 >/dev/null &
	recorder=$!
	until [ "$(state samples "$1")" -ge $wanted ]; do sleep 0.2; done
	pkill -x edges
	wait $recorder
	pass "$2: samples come"
}

case $1 in
icount)
	for cpu in 0 1; do exact $cpu "hart $cpu alone"; done
	taskset -c 1 "$here/edges" 100000000000 >/dev/null &
	exact 0 "hart 0 beside a busy one"
	kill $!
	;;
threads)
	for cpu in 0 1 0; do flows $cpu "a recording on hart $cpu"; done
	;;
*)
	echo "samples.sh: '$1' is neither icount nor threads" >&2
	exit 2
	;;
esac
done_testing
