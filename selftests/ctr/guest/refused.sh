# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# A machine on which the driver must not load: one line says why.
# Arguments: what the line says, as a regular expression; or "works", and it must.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
if [ "$1" = works ]; then
	ok "it loads" insmod /root/riscv_ctr.ko
	perf record -q -o /tmp/p.data -c 20011 -e ctr/cycles/u -j any,u -- ls -R /etc >/dev/null
	ok "firmware opens CTR, and it records" test "$(perf script -i /tmp/p.data -F ip,brstack | grep -c 0x)" -gt 20
	done_testing
fi
insmod /root/riscv_ctr.ko 2>"$tmp/error"
like "it does not load" 'No such device' "$(<"$tmp/error")"
# busybox's insmod tries twice, with both system calls that there are.
dmesg | sed -n 's/.*riscv_ctr: CPU/CPU/p' | sort -u >"$tmp/said"
is "$(wc -l <"$tmp/said")" 1 "one line in the kernel log" || diag "$(<"$tmp/said")"
like "it says why" "$1" "$(<"$tmp/said")"
ok "no PMU" test ! -e /sys/bus/event_source/devices/ctr
fails "nor a second time" 'No such device' insmod /root/riscv_ctr.ko
done_testing
