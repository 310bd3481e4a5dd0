#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=90
# How long the driver keeps interrupts off where harts share a sink and it separates their trace: see judge_irqsoff(). direct.sh has the
# job for sinks of one hart. TOPOLOGIES="NAME..." selects other topologies.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/kernel/judge/irqsoff.sh
. selftests/kernel/judge/irqsoff.sh
for topology in ${TOPOLOGIES:-k3 chain}; do
	irqsoff_job
	guest_boot "$topology" --icount --modules --tools --topology "$topology" "${irqsoff_options[@]}" --append iomem=relaxed
	guest_ran irqsoff && judge_irqsoff "$topology"
done
done_testing
