#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth test of two harts in threads of the host, with more than a thousand million instructions. A
# busy host may lose trace, as in selftests/tools/truth_races.sh; the loss must then be reported.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/../tools/truth_common.sh"

rounds=${TRUTH_ROUNDS:-120}
# In BTM, a hart that spins for a lock fills the buffer quickly, and cannot drain it while
# interrupts are off.
truth_job htm "$rounds" 2 LOSSES --mode htm --sink-size 512K
truth_job btm $((rounds * 5 / 2)) 2 LOSSES --mode btm --sink-size 1M
truth_job all 3 2 LOSSES --mode htm --privilege usm --sink-size 1M
truth_boot threads --timeout "${TRUTH_TIMEOUT:-3600}"
for name in htm btm; do
	recorded $name || continue
	ok "$name: the decoded instructions were executed, and losses were reported" truth_compare 20000000 --losses
	ok "$name: timer interrupts, system calls and page faults on both harts" truth_causes 2
	truth_figures
done
if recorded all; then
	firmware=$(tools/vsoc/run --print-firmware-elf)
	bias=$(riscv64-linux-gnu-readelf -lW "$firmware" | awk '$1 == "LOAD" { print $3; exit }')
	ok "with M-mode: the same" truth_compare 2000000 --losses --priv usm --firmware "$firmware" --firmware-bias $((0x80000000 - bias))
	truth_figures
fi
done_testing
