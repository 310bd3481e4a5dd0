#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three harts with different features. The third has no depth in common with the first two.
# Arguments: the depth and the fields of sctrctl that the first two have in common.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
[ $# -eq 2 ] || { echo "usage: depths.sh DEPTH FIELDS" >&2; exit 2; }
depth=$1 fields=$2
cpu2=/sys/devices/system/cpu/cpu2/online

# edges_on CPU FILTER: takes samples of edges on that CPU
edges_on() {
	"${perf_record[@]}" -o "$tmp/p.data" -c 20011 -e ctr/by-cycles/u -j "$2" -- taskset -c "$1" "$here/edges" 4000 >/dev/null 2>&1
	perf script -i "$tmp/p.data" --comm edges -F ip,brstack 2>/dev/null | grep -v '^$'
}

fails "no depth in common: it does not load" 'No such device' load
like "no depth in common: reported" 'no depth in common' "$(dmesg | grep riscv_ctr)"
ok "no depth in common: no PMU" test ! -e $pmu

echo 0 >$cpu2
ok "it loads without the third hart" load
is "$(<$pmu/caps/branches)" "$depth" "caps: the deepest ring that both have"
is "$(<$pmu/caps/sctrctl)" "$fields" "caps: the fields that both have"
for cpu in 0 1; do
	is "$(edges_on $cpu any,u | awk '{ n = NF - 1; if (n > most) most = n } END { print most + 0 }')" "$depth" \
		"CPU $cpu: stacks of that depth"
	# The driver applies the filters that the harts lack.
	is "$(edges_on $cpu call,u,save_type | tr ' ' '\n' |
		sed -n 's,^0x.*/\(CALL\|COND\|UNCOND\|IND\|IND_CALL\|RET\)/.*,\1,p' | sort -u | tr '\n' ' ')" "CALL " \
		"CPU $cpu: calls and nothing else"
done
like "call stacks need RASEMU" "doesn't support branch stack" \
	"$("${perf_record[@]}" -o "$tmp/p.data" -e ctr/by-cycles/u -j stack,u true 2>&1)"

echo 1 >$cpu2
like "the third hart comes online with less: the log reports it" 'CPU 2 lacks CTR features of the other CPUs' "$(dmesg | grep riscv_ctr)"
is "$(state usable 0) $(state usable 1) $(state usable 2)" "1 1 0" "it is left alone"
# A task that migrates to that CPU and back
before=$(state samples 1)
"${perf_record[@]}" -o "$tmp/p.data" --sample-cpu -c 20011 -e ctr/by-cycles/u -j any,u -- \
	sh -c "taskset -c 2 $here/edges 10000; taskset -c 1 $here/edges 4000" >/dev/null 2>&1
is "$(perf script -i "$tmp/p.data" --comm edges -F cpu 2>/dev/null | tr -d '[] ' | sort -u | tr '\n' ' ')" "001 " \
	"a task is sampled where it can be"
ok "samples there: $(($(state samples 1) - before))" test "$(state samples 1)" -gt "$before"
is "$(state samples 2)" 0 "none on the third hart"
done_testing
