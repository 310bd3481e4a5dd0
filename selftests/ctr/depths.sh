#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Harts that are not alike: what all have in common is used, and a hart that comes
# online with less stays out.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

# machine TEXT PROPERTY ARGUMENT...
machine() {
	local text=$1 property=$2
	shift 2
	ok "$text" tools/vsoc/run --quiet --smp 2 --check-dmesg --global "ntrace-encoder.$property" \
		--put build/kernel/ctr/riscv_ctr.ko:/root/riscv_ctr.ko --put build/riscv64/selftests/ctr:/root/ctr \
		--put selftests/tap.sh:/root/tap.sh --put selftests/ctr/guest/common.sh:/root/ctr/common.sh \
		--put selftests/ctr/guest/depths.sh:/root/ctr/depths.sh -- bash /root/ctr/depths.sh "$@"
}
machine "16, 32 and 64 here, 32 and 256 there" ctr-depths=16+32+64:32+256 common 32
machine "16 here, 256 there" ctr-depths=16:256 none
machine "64 here; later 16 and 32 there" ctr-depths=64:16+32 late 64
machine "fields of the control register" ctr-control=0x12e00000000:0x3e00000000 fields 0x2e00001800
done_testing
