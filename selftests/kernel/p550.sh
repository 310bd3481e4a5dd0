#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=60
# The topology of a P550: pre-ratification SiFive encoders, and a funnel that writes to memory and gives the time.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job p550 kernel/p550.sh
guest_job funnel kernel/funnel.sh p550
guest_job driver kernel/driver.sh
guest_job faults kernel/faults.sh
guest_job lifecycle kernel/lifecycle.sh
guest_job suspend kernel/suspend.sh
guest_boot p550 --icount --modules --tools --topology p550 --append "iomem=relaxed slab_debug=U,kmalloc-*"
done_testing
