#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth with four harts that share a sink: leaf funnels, a top funnel, one stream
# that is taken apart by SRC.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"
truth_needs

ok "the guest records" truth_run chain "ntrace record -o /tmp/chain -- truth_load 1" --smp 4 --topology chain
is "$(grep -c "^params.*srcbits=2" "$tmp/chain/params")" 4 "each hart has its number"
is "$(find "$tmp/chain" -name "aux.*" | wc -l)" 1 "one stream for all"
ok "what is decoded is what was executed, all of it" truth_compare chain 0 300000
truth_figures chain
done_testing
