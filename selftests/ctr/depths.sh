#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=40
# Harts that are not alike: the driver uses what all have in common, and a hart that comes online with less is not used.
# They have Smstateen, and firmware that opens CTR.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/ctr/host/firmware.sh
. selftests/ctr/host/firmware.sh

guest_job depths ctr/depths.sh 32 0x2e00001800
guest_boot depths --smp 3 --icount --cpu "$locked" --bios "$(firmware forky)" --global ntrace-encoder.ctr-depths=16+32+64:32+256:16+64 \
	--global ntrace-encoder.ctr-control=0x12e00000000:0x3e00000000:0x3e00000000 \
	--put build/kernel/ctr/riscv_ctr.ko:/run/ntrace-modules/riscv_ctr.ko
done_testing
