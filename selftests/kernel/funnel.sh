#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=30
# Two harts that share a sink through a funnel without timestamps.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/kernel/judge/perf.sh
. selftests/kernel/judge/perf.sh
guest_job funnel kernel/funnel.sh
guest_job timestamps kernel/timestamps.sh 0xc 48
guest_boot funnel --icount --modules --topology funnel --append iomem=relaxed --global ntrace-funnel.timestamp-bits=0
guest_ran funnel && judge_turns
done_testing
