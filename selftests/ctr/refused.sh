#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=25
# Harts without CTR, harts whose firmware keeps CTR closed, and harts whose guests could reach the ring: the driver reports
# this and does not load; it must not access a register that traps.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/ctr/host/firmware.sh
. selftests/ctr/host/firmware.sh
module=build/kernel/ctr/riscv_ctr.ko:/run/ntrace-modules/riscv_ctr.ko

guest_job without ctr/refused.sh 'no Ssctr'
guest_boot without --icount --cpu rv64,sscofpmf=true --put $module

guest_job locked ctr/refused.sh 'CPU [0-9]+: no sctrctl.*OpenSBI 1.7 or later'
guest_boot locked --icount --cpu "$locked" --bios "$(firmware trixie)" --put $module
guest_job guests ctr/refused.sh 'CPU [0-9]+: hypervisor extension, no Smstateen: guests could read the ring'
guest_boot guests --icount --cpu rv64,smctr=true,ssctr=true,sscofpmf=true --put $module
done_testing
