#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=7200
# Tandem verification of the first 5 million instructions of a Linux boot, and of a program of Debian in user mode on a monitor
# (tandem/monitor.c), through the linked model and the model of ntrace; of 100,000 instructions of each through a GDB stub. Before, of more than a million
# instructions of the program of linked.sh, with interrupts, exceptions and three privileges, for RV32 and RV64, and with 2000
# faults in each.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/common.sh
. "$top/selftests/tandem/common.sh"
cd "$top" || exit 1
relay rounds env ROUNDS="${ROUNDS:-1200}" FAULTS="${FAULTS:-2000}" BOOT=1000 selftests/tandem/linked.sh
count=${BOOT:-5000000}
stub=${STUB:-100000}

# Firmware and kernel find everything below the memory by the same device tree: -seed makes its random numbers the same.
boot=("$qemu" -M virt -cpu rv64 -m 256M -nodefaults -display none -no-user-config -seed 1 -bios "$(tools/vsoc/run --print-firmware)"
	-kernel "$(tools/vsoc/run --print-kernel)" -append "console=ttyS0 earlycon=sbi")
devices=0-0x7fffffff
ok "boot: traced" timeout 3600 "${boot[@]}" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/trace,max=$count"
timeout 3600 "${boot[@]}" -plugin "$plugins/tandem_model.so,trace=$tmp/trace,device=$devices,json=on" >"$tmp/out" 2>"$tmp/err"
verified boot "$((count - 100))" $?
timeout 3600 "$ntrace" tandem verify --model builtin --json --device $devices "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
verified "boot, the model of ntrace" "$((count - 100))" $?
through_gdb "boot, GDB stub" "$stub" --device $devices -- "${boot[@]}" -S -gdb "unix:$tmp/gdb,server=on,wait=off"

ok "busybox: the monitor is built" make_monitor "${LINES_OF_INPUT:-40}"
ok "busybox: traced" trace_monitor || diag "$(cat "$tmp/log")"
is "$(<"$tmp/console")" "$(<"$tmp/expected")" "busybox: it printed what this host's programs print"
has_kinds busybox
timeout 3600 "${monitor[@]}" -serial "file:$tmp/console" \
	-plugin "$plugins/tandem_model.so,trace=$tmp/trace,device=${monitor_devices//,/,,},json=on,limit=${monitor_groups:-0}" \
	>"$tmp/out" 2>"$tmp/err"
verified busybox 2000000 $?
timeout 3600 "$ntrace" tandem verify --model builtin --json --device "$monitor_devices" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
verified "busybox, the model of ntrace" 2000000 $?
through_gdb "busybox, GDB stub" "$stub" --device "$monitor_devices" -- \
	"${monitor[@]}" -serial "file:$tmp/console" -S -gdb "unix:$tmp/gdb,server=on,wait=off"
done_testing
