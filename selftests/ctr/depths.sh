#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=30
# Harts with different features: the driver uses the features that all harts have, and does not use
# a hart that comes online with fewer. The harts have Smstateen, and firmware that enables CTR.
# And a ring that is shorter than the call stacks.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/ctr/host/firmware.sh
. selftests/ctr/host/firmware.sh

guest_job depths ctr/depths.sh 32 0x2e00001800
guest_boot depths --smp 3 --icount --cpu "$locked" --bios "$(firmware forky)" --global ntrace-encoder.ctr-depths=16+32+64:32+256:16+64 \
	--global ntrace-encoder.ctr-control=0x12e00000000:0x3e00000000:0x3e00000000 \
	--put build/kernel/ctr/riscv_ctr.ko:/run/ntrace-modules/riscv_ctr.ko
guest_job stitch ctr/stitch.sh
guest_boot shallow --smp 1 --icount --global ntrace-encoder.ctr-depths=32 \
	--put build/kernel/ctr/riscv_ctr.ko:/run/ntrace-modules/riscv_ctr.ko
done_testing
