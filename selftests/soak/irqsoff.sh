#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=60
# How long the driver keeps interrupts off, with slow memory: see judge_irqsoff().
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/kernel/judge/irqsoff.sh
. selftests/kernel/judge/irqsoff.sh
guest_job irqsoff kernel/irqsoff.sh
guest_boot direct --icount --modules --tools --append iomem=relaxed
guest_ran irqsoff && judge_irqsoff 450
done_testing
