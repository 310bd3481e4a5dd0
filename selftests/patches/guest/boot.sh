#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records programs with known edges with events of the kernel's own PMU; the host evaluates the recordings.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/../ctr/common.sh"

like "found at boot" 'riscv_ctr: [0-9]+ entries' "$(dmesg | grep riscv_ctr)"
echo 0 >/sys/module/riscv_ctr/parameters/depth
edges_stacks any -e cycles:u -j any,u,save_type -c 20011 -- "$here/edges" 70000
echo 32 >/sys/module/riscv_ctr/parameters/depth
edges_stacks b -b -e cycles:u -c 20011 -- "$here/edges" 30000
edges_stacks two -b -e cycles:u,instructions:u -c 20011 -- "$here/edges" 40000 2
perf script -i "$tmp/p.data" -F event 2>/dev/null | sort -u >two.events
edges_stacks calls -e cycles:u -j call,u,save_type -c 20011 -- "$here/edges" 30000
# Rings per task: another task takes the hart whenever the program yields it.
while :; do :; done &
edges_stacks stack -e cycles:u -j stack,u -c 20011 -- "$here/edges" 40000
kill $!
edges_stacks stacks -e cycles:u -j stack,u -c 20011 -- "$here/edges" 40000 2
edges_stacks lbr --call-graph lbr -e cycles:u -c 20011 -- "$here/edges" 30000
perf report -i "$tmp/p.data" --stdio --no-children -g caller,0,callee --percent-limit 1 2>/dev/null >lbr.report
perf record -q -o "$tmp/p.data" -e cycles:k -j any,k,save_type -c 30011 -- bash -c 'for i in {1..20}; do (:); done' 2>"$tmp/log"
perf script -i "$tmp/p.data" -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >k.stacks

# shellcheck disable=SC2016 # for that shell
fails "transactions are refused" 'support branch stack' \
	sh -c 'perf record -q -o "$1" -e cycles:u -j in_tx -- true || exit 1' sh "$tmp/p.data"
ok "samples without a branch stack" perf record -q -o "$tmp/p.data" -e cycles:u -- true
ok "counting" perf stat -e cycles,instructions true
# snapshot looks for the helper's address.
echo 0 >/proc/sys/kernel/kptr_restrict
relay bpf "$(dirname "$0")/snapshot"
echo 2 >/proc/sys/kernel/kptr_restrict
relay stacks "$(dirname "$0")/stacks"
relay branches "$here/branches" series

# One sample per tick: perf stops the event at each sample, and starts it at the next tick.
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 100 >/proc/sys/kernel/perf_event_max_sample_rate
throttled() {
	"${perf_record[@]}" -o "$tmp/p.data" "$@" -c 2003 -- "$here/edges" 100000 >"$tmp/log" 2>&1
	perf script -D -i "$tmp/p.data" 2>/dev/null | awk '/PERF_RECORD_SAMPLE/ { samples++ } /PERF_RECORD_THROTTLE/ { stops++ }
		/PERF_RECORD_UNTHROTTLE/ { starts++ } END { print samples + 0, stops + 0, starts + 0 }'
}
# Events of a group that overflow in the same interrupt stop the group once each; it starts once, at the next tick.
while read -r members options; do
	# shellcheck disable=SC2086 # options
	read -r samples stops starts < <(throttled $options </dev/null)
	ok "throttled $options: $samples samples, $stops stops, $starts starts" \
		test "$stops" -ge 5 -a "$samples" -le $((2 * stops + 2)) -a "$starts" -ge 4 -a "$stops" -le $((members * (starts + 2)))
done <<-'END'
	1 -e cycles:u
	1 -b -e cycles:u
	2 -e {cycles:u,instructions:u}
END
done_testing
