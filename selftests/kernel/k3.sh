#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=110
# The topology of a SpacemiT K3: ATB bridges, and CoreSight components of Arm that write frames to memory.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
for part in jobs perf; do
	# shellcheck source=/dev/null
	. "selftests/kernel/judge/$part.sh"
done
guest_job k3 kernel/k3.sh
guest_job funnel kernel/funnel.sh k3
guest_job timestamps kernel/timestamps.sh 0x1c 48 shared
guest_job context kernel/context.sh 32
common_jobs 200 short
guest_boot k3 --icount --modules --tools --topology k3 --append iomem=relaxed
# The ATID tells the encoders apart, which perf's trace does not have. An ETR holds back a burst and a
# frame, which a short record does not exceed.
# shellcheck disable=SC2034 # used by judge_turns and judge_perf
src_bits=0 short_max=7 fork_flags=4
guest_ran funnel && judge_turns
complete perf && judge_perf
guest_ran context && judge_context
# In a sink that harts share, the end of a task's turn may be missing: not judge_users.
guest_ran security && judge_addresses
done_testing
