#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=300
# Which task runs after a loss, in many recordings with losses: four harts of a K3's topology and programs at fixed addresses, and
# copies with more parts taken out.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/../tools/truth_common.sh"

jobs=$(seq -f 'loss%g' 1 "${RECORDINGS:-16}")
for job in $jobs; do truth_job "$job" 1 4 LOSSES --data-size 64K; done
truth_boot k3 --icount --smp 4 --topology k3
for job in $jobs; do
	recorded "$job" || continue
	truth_lossy "$job" 20000
	truth_lose 8
done
done_testing
