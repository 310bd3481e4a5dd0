#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=60
# The topology of a P550: pre-ratification SiFive encoders, and a funnel that writes to memory and gives the time.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/kernel/judge/perf.sh
. selftests/kernel/judge/perf.sh
guest_job p550 kernel/p550.sh
guest_job funnel kernel/funnel.sh p550
guest_job driver kernel/driver.sh
guest_job faults kernel/faults.sh
guest_job lifecycle kernel/lifecycle.sh short
guest_job perf kernel/perf.sh /root/selftests/tools/counted
guest_job security kernel/security.sh
guest_job suspend kernel/suspend.sh
# What happens there does not depend on the topology; for the debug kernel, locks do.
[ "${NTRACE_KERNEL:-}" != debug ] || guest_job random kernel/random.sh 30 200 ${SEED:+"$SEED"}
guest_boot p550 --icount --modules --tools --topology p550 --append iomem=relaxed
guest_ran perf && judge_whole_perf
# The trace of every event has the addresses of the kernel: nothing for judge_security.
done_testing
