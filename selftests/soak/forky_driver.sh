#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# All tests of the driver on the 7.x kernel of Debian forky.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
needs_guest forky
export NTRACE_KERNEL=forky
for test in selftests/kernel/*.sh; do
	name=$(basename "$test" .sh)
	[[ -n ${FORKY:-} && " ${FORKY:-} " != *" $name "* ]] || relay "$name" "$test"
done
done_testing
