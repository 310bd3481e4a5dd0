#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth with four harts, shorter.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"
truth_needs

ok "the guest records" truth_run htm "ntrace record -o /tmp/htm --sink-size 1M -- truth_load 3" --smp 4
is "$(find "$tmp/htm" -name 'aux.*' | wc -l)" 4 "a stream for each hart"
ok "what is decoded is what was executed, all of it" truth_compare htm 0 1000000
truth_figures htm
done_testing
