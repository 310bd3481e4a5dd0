#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=30
# Truth test of four harts that share a sink: leaf funnels, a top funnel, and one stream that the
# decoder separates by SRC.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

truth_job chain 1 4
truth_boot chain --icount --smp 4 --topology chain
if recorded chain; then
	is "$(grep -c "^params.*srcbits=2" "$data/params")" 4 "each hart has its number"
	is "$(find "$data" -name "aux.*" | wc -l)" 1 "one stream for all"
	ok "the decoded instructions are all executed ones" truth_compare 300000
	truth_figures
fi
done_testing
