#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest cpus=2 seconds=60
# Truth test of harts in threads of the host (TRUTH_HARTS of them): stores, interrupts and drains coincide at any
# time. A busy host can stop one hart while another spins for its lock with interrupts off, fills
# its sink and cannot drain it. Trace may therefore be lost; the loss must be reported, and the
# instructions decoded between the losses must be the executed ones.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

harts=${TRUTH_HARTS:-2}
truth_job htm "${TRUTH_ROUNDS:-1}" "$harts" LOSSES --sink-size 1M
truth_boot direct --smp "$harts"
if recorded htm; then
	is "$(find "$data" -name 'aux.*' | wc -l)" "$harts" "a stream for each hart"
	ok "the decoded instructions were executed, and losses were reported" truth_compare 300000 --losses
	truth_figures
fi
done_testing
