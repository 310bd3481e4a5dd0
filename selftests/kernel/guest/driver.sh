#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests of the driver with one user at a time.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
# The program expects filters and BTM, which version 0 does not have.
[ -n "$version0" ] || program abi /dev/ntrace0
for cpu in 0 1; do
	program trace /dev/ntrace$cpu $cpu "$(sink $cpu)"
done
nothing_said
done_testing
