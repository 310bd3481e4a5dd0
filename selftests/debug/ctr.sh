#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tests of riscv_ctr on the debug kernel: its log must stay empty. Then random
# events for ten minutes, and 10,000 that are opened and closed.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
export NTRACE_KERNEL=debug NTRACE_PATIENCE=${NTRACE_PATIENCE:-10}
for name in ${DEBUG_TESTS:-refused edges kernel lifecycle}; do
	relay "$name" "selftests/ctr/$name.sh"
done
export FUZZ_SECONDS=${FUZZ_SECONDS:-600} EVENTS=${EVENTS:-10000}
relay "fuzz" selftests/ctr/fuzz.sh
done_testing
