#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=90
# How long the driver keeps interrupts off where harts share a sink and it separates their trace: see judge_irqsoff(). There, the end of
# a turn is not limited. direct.sh has the job for sinks of one hart. TOPOLOGIES="NAME..." selects other topologies.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/kernel/judge/irqsoff.sh
. selftests/kernel/judge/irqsoff.sh
for topology in ${TOPOLOGIES:-k3}; do
	guest_job irqsoff kernel/irqsoff.sh
	guest_boot "$topology" --icount --modules --tools --topology "$topology" --append iomem=relaxed
	guest_ran irqsoff && judge_irqsoff "$topology" 2000
done
done_testing
