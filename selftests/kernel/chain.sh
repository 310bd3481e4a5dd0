#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=110
# Two harts that share a sink through two funnels with timestamps; a system sleep and a jump to another kernel.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
for part in jobs perf timestamps kexec; do
	# shellcheck source=/dev/null
	. "selftests/kernel/judge/$part.sh"
done
guest_job funnel kernel/funnel.sh short
guest_job timestamps kernel/timestamps.sh 0x1c 48 shared harts
common_jobs 200 short
guest_job kexec kernel/kexec.sh /root/vmlinux
# The debug kernel, which does not run the job, takes a minute to copy a file of this size.
image=()
guest_queued kexec && image=(--put "$(tools/vsoc/run --print-kernel):/root/vmlinux")
guest_boot chain --icount --modules --tools --topology chain --console "$tmp/console" \
	"${image[@]}" \
	--append "iomem=relaxed sysctl.kernel.hung_task_timeout_secs=20 sysctl.kernel.hung_task_check_interval_secs=5"
guest_ran funnel && judge_turns
# In a sink that harts share, the end of a task's turn may be missing: not judge_users.
# shellcheck disable=SC2034 # used by judge_addresses and judge_perf
src_bits=1 fork_flags=4
guest_ran security && judge_addresses
complete perf && judge_perf
guest_ran timestamps && judge_shared_times
guest_ran kexec && judge_kexec "$tmp/console" 5
done_testing
