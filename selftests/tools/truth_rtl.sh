#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=45
# Truth test of trace components in Verilog (selftests/vsoc/rtl), behind the co-simulation port: the unmodified driver
# records from them, in both modes, and the decoded instructions are the executed ones.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

serve rtl build/vsoc/rtl_server "$tmp/socket"
truth_job htm 1 2 --mode htm
truth_job btm 1 2 --mode btm --context
guest_job driver kernel/driver.sh
truth_boot rtl --icount --smp 2 --machine "ntrace-remote=unix:$tmp/socket" --append iomem=relaxed
for job in htm btm; do
	if recorded "$job"; then
		ok "$job: the decoded instructions are all executed ones" truth_compare 300000
		truth_figures
	fi
done
wait
is "$(cat "$tmp/rtl.err")" "" "the server got no message that it does not know"
done_testing
