# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The tests of ntrace.ko on the debug kernel: its log must stay empty.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
cd "$top" || exit 1
export NTRACE_KERNEL=debug NTRACE_PATIENCE=${NTRACE_PATIENCE:-10}
# This kernel takes a minute for 2 MB that are copied to it, and half of one for 1 GB of memory.
export NO_TOOLS=${NO_TOOLS-1} NTRACE_MEMORY=${NTRACE_MEMORY:-1G}
# The jobs of these files, without those that evaluate decoded trace.
export JOBS_ONLY=${JOBS_ONLY:-driver perf security context triggers faults lifecycle random suspend active funnel v0 p550 k3 variants}

# on_debug_kernel NAME...: the files of selftests/kernel
on_debug_kernel() {
	local name
	for name in "$@"; do
		relay "$name" "selftests/kernel/$name.sh"
	done
	done_testing
}
