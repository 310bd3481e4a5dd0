# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The common tests of the driver, which run on each topology: direct, chain, p550 and k3.
# Documentation/trace/testing.md lists what a topology leaves out.

# common_jobs SEQUENCES LENGTH [random]: queues them. SEQUENCES: random ones for the debug kernel, or
# else the variable of that name. LENGTH: short has fewer rounds of what does not depend on the
# topology. In random.sh, locks do: the debug kernel runs it on each, others do with "random".
common_jobs() {
	guest_job driver kernel/driver.sh
	guest_job perf kernel/perf.sh /root/selftests/tools/counted
	guest_job security kernel/security.sh
	guest_job faults kernel/faults.sh
	guest_job lifecycle kernel/lifecycle.sh "$2"
	if [ -n "${3:-}" ] || [ "${NTRACE_KERNEL:-}" = debug ]; then
		guest_job random kernel/random.sh 30 "${SEQUENCES:-$1}" ${SEED:+"$SEED"}
	fi
	guest_job suspend kernel/suspend.sh
}
