#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A machine on which the driver must not load, with one line that gives the reason.
# Argument: that line, as a regular expression.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
[ $# -eq 1 ] || { echo "usage: refused.sh PATTERN" >&2; exit 2; }
fails "it does not load" 'No such device' load
# busybox's insmod tries both system calls for loading a module.
dmesg | sed -n 's/.*riscv_ctr: CPU/CPU/p' | sort -u >said
is "$(wc -l <said)" 1 "one line in the kernel log" || diag "$(<said)"
like "it says why" "$1" "$(<said)"
ok "no PMU" test ! -e $pmu
fails "nor a second time" 'No such device' load
done_testing
