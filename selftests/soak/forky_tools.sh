#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tests of the command that need a guest on the 7.x kernel of Debian forky.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
needs_guest forky
export NTRACE_KERNEL=forky
for name in commands truth_one truth_two truth_four truth_races; do
	[[ -n ${FORKY:-} && " ${FORKY:-} " != *" $name "* ]] || relay "$name" "selftests/tools/$name.sh"
done
done_testing
