#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=130
# Two harts, each with an encoder with all features and its own sink: the driver's interface, trace,
# losses, faults; the PMU, its permissions, contexts, triggers, filters, timestamps; loading,
# binding and hotplug, a system sleep, and a jump to another kernel. iomem=relaxed: tests read
# registers and inject faults through /dev/mem.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
for part in jobs irqsoff perf filters timestamps kexec; do
	# shellcheck source=/dev/null
	. "selftests/kernel/judge/$part.sh"
done
calls=321 irqsoff_options=()

guest_job context kernel/context.sh 32
guest_job triggers kernel/triggers.sh
guest_job filters kernel/filters.sh 4 $calls /root/selftests/tools/counted
guest_job timestamps kernel/timestamps.sh 0xc 48 system core task turns
# Other kernels have the long form: `make soak TEST=forky_driver`, `make check-debug-kernel`.
length=short
[ -z "${NTRACE_KERNEL:-}" ] || length=long
irqsoff_job
common_jobs 400 $length random
guest_job kexec kernel/kexec.sh /root/vmlinux
# The debug kernel, which does not run the job, takes a minute to copy a file of this size.
image=()
guest_queued kexec && image=(--put "$(tools/vsoc/run --print-kernel):/root/vmlinux")
guest_boot direct --icount --global ntrace-ram-sink.in-flight=1 --modules --tools --console "$tmp/console" \
	"${image[@]}" "${irqsoff_options[@]}" \
	--append "iomem=relaxed sysctl.kernel.hung_task_timeout_secs=20 sysctl.kernel.hung_task_check_interval_secs=5"

guest_ran irqsoff && judge_irqsoff direct
complete perf && judge_perf
guest_ran security && judge_addresses
complete security && judge_users
complete context && judge_context
guest_ran filters && judge_filters $calls
guest_ran timestamps && judge_own_times
guest_ran kexec && judge_kexec "$tmp/console" 4
done_testing
