#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver on the 7.x kernel of Debian forky; all its tests in `make soak`.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
needs_guest forky
export NTRACE_KERNEL=forky
for name in ${FORKY:-driver}; do
	relay "$name" "selftests/kernel/$name.sh"
done
done_testing
