#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tests of riscv_ctr on the debug kernel: its log must stay empty. Then 50,000 random
# events, and 10,000 that are opened and closed.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
export NTRACE_KERNEL=debug NTRACE_PATIENCE=${NTRACE_PATIENCE:-10}
export JOBS_ONLY=${JOBS_ONLY:-without locked lifecycle edges suspend kernel long_fuzz}
export FUZZ_EVENTS=${FUZZ_EVENTS:-50000} EVENTS=${EVENTS:-10000}
for name in ctr/refused ctr/ctr soak/ctr_fuzz; do
	relay "${name#*/}" "selftests/$name.sh"
done
done_testing
