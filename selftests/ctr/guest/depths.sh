# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Two harts that are not alike. The first argument says how, the others what is expected.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
module=/root/riscv_ctr.ko
caps=/sys/bus/event_source/devices/ctr/caps
cpu1=/sys/devices/system/cpu/cpu1/online

# edges_on CPU FILTER: samples of edges there, in /tmp/p.data. With harts in threads QEMU
# loses overflow interrupts, now and then all of a recording: then another one.
edges_on() {
	local try
	for ((try = 0; try < 10; try++)); do
		perf record -q -o /tmp/p.data -c 2000003 -e ctr/cycles/u -j "$2" -- taskset -c "$1" $here/edges 100000 >/dev/null 2>&1
		[ -z "$(perf script -i /tmp/p.data --comm edges -F ip 2>/dev/null)" ] || return
	done
	echo "# no sample on CPU $1 in $try recordings"
}
# deepest CPU: entries of the longest stack that is recorded there.
deepest() {
	edges_on "$1" any,u >&2
	perf script -i /tmp/p.data --comm edges -F ip,brstack 2>/dev/null |
		awk '{ n = NF - 1; if (n > most) most = n } END { print most + 0 }'
}

case $1 in
common)
	ok "insmod" insmod $module
	is "$(<$caps/branches)" "$2" "caps: the deepest ring that both have"
	for cpu in 0 1; do
		is "$(deepest $cpu)" "$2" "CPU $cpu: stacks of that depth"
	done
	;;
none)
	fails "insmod" 'No such device' insmod $module
	like "it says why" 'no depth in common' "$(dmesg | grep riscv_ctr)"
	ok "no PMU" test ! -e $caps
	;;
late)
	echo 0 >$cpu1
	ok "insmod with one hart" insmod $module
	is "$(<$caps/branches)" "$2" "caps: what this one has"
	echo 1 >$cpu1
	like "the other comes and has less: the log says so" 'CPU 1 lacks what CTR has on the others' "$(dmesg | grep riscv_ctr)"
	is "$(state usable 0) $(state usable 1)" "1 0" "it is left alone"
	# A task that goes there and comes back
	enough 1 /tmp/p.data perf record -q -o /tmp/p.data --sample-cpu -c 2000003 -e ctr/cycles/u -j any,u -- \
		sh -c "taskset -c 1 $here/edges 300000; taskset -c 0 $here/edges 100000" >/dev/null 2>&1
	is "$(perf script -i /tmp/p.data --comm edges -F cpu 2>/dev/null | tr -d '[] ' | sort -u | tr '\n' ' ')" "000 " \
		"a task is sampled where it can be"
	ok "samples here: $(state samples 0)" test "$(state samples 0)" -gt 0
	is "$(state samples 1)" 0 "none there"
	;;
fields)
	ok "insmod" insmod $module
	is "$(<$caps/sctrctl)" "$2" "caps: the fields that both have"
	# The driver leaves out what the harts do not.
	for cpu in 0 1; do
		edges_on $cpu call,u,save_type
		is "$(perf script -i /tmp/p.data --comm edges -F brstack 2>/dev/null | tr ' ' '\n' |
			sed -n 's,^0x.*/\(CALL\|COND\|UNCOND\|IND\|IND_CALL\|RET\)/.*,\1,p' | sort -u | tr '\n' ' ')" "CALL " \
			"CPU $cpu: calls and nothing else"
	done
	like "call stacks need RASEMU" "doesn't support branch stack" \
		"$(perf record -q -o /tmp/p.data -e ctr/cycles/u -j stack,u true 2>&1)"
	;;
esac
done_testing
