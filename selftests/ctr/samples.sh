#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest cpus=2 seconds=20
# The virtual SoC loses no counter-overflow interrupt. With harts in threads, counters follow the host's clock, and the test
# checks only that samples come; with -icount, in ctr.sh, each period has a sample.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job samples ctr/samples.sh threads
guest_boot threads --smp 2 --module build/kernel/ctr/riscv_ctr.ko
done_testing
