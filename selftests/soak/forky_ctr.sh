#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# All tests of branch stacks on the 7.x kernel, with its perf tool.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
needs_guest forky
export NTRACE_KERNEL=forky
for name in ctr model depths refused; do
	relay "$name" "selftests/ctr/$name.sh"
done
done_testing
