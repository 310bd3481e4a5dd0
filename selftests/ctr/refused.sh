#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Harts without CTR, and harts with CTR that the firmware keeps for itself: the
# driver says so and goes; it must not touch a register that traps.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

# machine TEXT PATTERN OPTION...
machine() {
	local text=$1 pattern=$2
	shift 2
	ok "$text" tools/vsoc/run --quiet --timeout 100 --check-dmesg "$@" \
		--put build/kernel/ctr/riscv_ctr.ko:/root/riscv_ctr.ko \
		--put selftests/tap.sh:/root/tap.sh --put selftests/ctr/guest/common.sh:/root/ctr/common.sh \
		--put selftests/ctr/guest/refused.sh:/root/ctr/refused.sh -- bash /root/ctr/refused.sh "$pattern"
}
machine "harts without Ssctr" 'no Ssctr' --cpu rv64,sscofpmf=true

# OpenSBI sets mstateen0.CTR since 1.7; without Smstateen there is no such lock.
# Either the driver is refused, or it must be able to record.
machine "Smstateen, and firmware that may know CTR or not" 'CPU [0-9]+: no sctrctl.*OpenSBI 1.7 or later' \
	--cpu rv64,smctr=true,ssctr=true,sscofpmf=true,smstateen=true
done_testing
