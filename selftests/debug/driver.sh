#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tests of ntrace.ko on the debug kernel: its log must stay empty.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
export NTRACE_KERNEL=debug NTRACE_PATIENCE=${NTRACE_PATIENCE:-10}
for name in ${DEBUG_TESTS:-driver lifecycle active faults perf funnel triggers v0 suspend}; do
	relay "$name" "selftests/kernel/$name.sh"
done
done_testing
