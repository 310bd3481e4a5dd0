#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests of the driver with one user at a time.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
# The program expects filters and BTM, which version 0 does not have.
if [ -z "$version0" ]; then
	program abi /dev/ntrace0
	ok "the log names the field of a refusal" grep -q 'trTeInstMode does not take 0x5' <(refusals)
fi
program trace /dev/ntrace0 0 "$(sink 0)"
# The other hart has the same code and other registers: losses and waiting readers once are enough.
program trace /dev/ntrace1 1 "$(sink 1)" short
nothing_said
done_testing
