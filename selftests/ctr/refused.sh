#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Harts without CTR, and harts with CTR that the firmware keeps for itself: the
# driver says so and goes; it must not touch a register that traps.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

# machine TEXT PATTERN OPTION...: what the driver says, or "works"
machine() {
	local text=$1 pattern=$2
	shift 2
	ok "$text" tools/vsoc/run --quiet --check-dmesg "$@" \
		--put build/kernel/ctr/riscv_ctr.ko:/root/riscv_ctr.ko \
		--put selftests/tap.sh:/root/tap.sh --put selftests/ctr/guest/common.sh:/root/ctr/common.sh \
		--put selftests/ctr/guest/refused.sh:/root/ctr/refused.sh -- bash /root/ctr/refused.sh "$pattern"
}
machine "harts without Ssctr" 'no Ssctr' --cpu rv64,sscofpmf=true

# OpenSBI sets mstateen0.CTR since 1.7; that of trixie is 1.6, that of forky 1.9.
# Without Smstateen there is no such lock.
# CTR is read through Sscsrind, which has a bit of its own there.
locked=rv64,smctr=true,ssctr=true,sscofpmf=true,smcsrind=true,sscsrind=true,smstateen=true
machine "Smstateen, and firmware that does not know CTR" 'CPU [0-9]+: no sctrctl.*OpenSBI 1.7 or later' \
	--cpu "$locked" --bios "$(NTRACE_KERNEL='' tools/vsoc/run --print-firmware)"
if [ -e build/guest-forky.skip ]; then
	skip "Smstateen, and firmware that opens CTR" "$(<build/guest-forky.skip)"
else
	machine "Smstateen, and firmware that opens CTR" works \
		--cpu "$locked" --bios "$(tools/vsoc/run --kernel forky --print-firmware)"
fi
done_testing
