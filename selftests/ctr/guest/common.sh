# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For test scripts of riscv_ctr that run in the guest.
# shellcheck source=selftests/tap.sh
. /root/tap.sh
# shellcheck disable=SC2034
here=/root/ctr
out=/tmp/out
mkdir -p $out

# state FIELD [CPU]: what debugfs shows of a hart.
state() { sed -n "s/^cpu${2:-0} .*\b$1=\([^ ]*\).*/\1/p" /sys/kernel/debug/riscv_ctr; }

# left_clean WHEN: no CPU has anything of CTR in it.
left_clean() {
	local cpu
	for cpu in 0 1; do
		is "owned=$(state owned $cpu) sctrctl=$(state sctrctl $cpu) valid=$(state valid $cpu)" \
			"owned=0 sctrctl=0x0 valid=0" "$1: nothing is left on CPU $cpu"
	done
}

# enough COUNT FILE COMMAND...: has COMMAND make FILE until it has so many samples. With harts in
# threads QEMU loses overflow interrupts, now and then all of a recording.
enough() {
	local count=$1 file=$2 attempt got
	shift 2
	for attempt in {1..10}; do
		"$@"
		got=$(perf script -i "$file" -F ip 2>/dev/null | grep -c .)
		[ "$got" -lt "$count" ] || return 0
		diag "$file: attempt $attempt: $got samples"
	done
}

# perf measures how long its interrupts take. On a busy host it would lower the
# sampling rate until next to no samples are left.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
