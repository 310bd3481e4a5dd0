#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=90
# Debian's busybox sorts a file, computes its SHA-256 and runs a script of awk with floating point, in user mode on a monitor that
# serves its system calls, page faults and timer interrupts (monitor.c). More than a million instructions are traced and verified
# with the linked model, the first ones also through a GDB stub.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/common.sh
. "$top/selftests/tandem/common.sh"

ok "the monitor is built" make_monitor "${LINES_OF_INPUT:-7}"
ok "QEMU writes the trace" trace_monitor || diag "$(cat "$tmp/log")"
is "$(<"$tmp/console")" "$(<"$tmp/expected")" "the program printed what this host's programs print"
has_kinds busybox
ok "it took page faults" test "$(number exceptions "$tmp/stat")" -gt "$(number ecalls "$tmp/stat")"
ok "and timer interrupts" test "$(number interrupts "$tmp/stat")" -gt 1
timeout 600 "${monitor[@]}" -serial "file:$tmp/console" \
	-plugin "$plugins/tandem_model.so,trace=$tmp/trace,device=${monitor_devices//,/,,},json=on,limit=${monitor_groups:-0}" \
	>"$tmp/out" 2>"$tmp/err"
verified busybox 1000000 $?
is "$(number groups)" "${monitor_groups:-}" "all groups"
is "$(<"$tmp/console")" "$(<"$tmp/expected")" "the model printed the same"
through_gdb "busybox, GDB stub" "${STUB:-15000}" --device "$monitor_devices" -- \
	"${monitor[@]}" -serial "file:$tmp/console" -S -gdb "unix:$tmp/gdb,server=on,wait=off"
done_testing
