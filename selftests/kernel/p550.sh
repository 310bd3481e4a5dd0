#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=60
# The topology of a P550: pre-ratification SiFive encoders, and a funnel that writes to memory and gives the time.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
for part in jobs perf; do
	# shellcheck source=/dev/null
	. "selftests/kernel/judge/$part.sh"
done
guest_job p550 kernel/p550.sh
guest_job funnel kernel/funnel.sh p550
common_jobs 200 short
guest_boot p550 --icount --modules --tools --topology p550 --append iomem=relaxed
# The harts share a sink, and the drain makes more trace than can be separated when the task is switched.
# shellcheck disable=SC2034 # used by judge_whole_perf
drain_flags=4
complete perf && judge_whole_perf
# The trace of every event has the addresses of the kernel: neither judge_addresses nor judge_users.
done_testing
