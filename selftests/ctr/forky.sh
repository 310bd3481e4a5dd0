#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The same on the 7.x kernel of Debian forky, with its perf tool; all of it in
# `make soak`.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
needs_guest forky
export NTRACE_KERNEL=forky
for name in ${FORKY:-edges kernel}; do
	relay "$name" "selftests/ctr/$name.sh"
done
done_testing
