#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=35
# Two encoders with two ways out each, to two sinks: the sink does not depend on the order of probes,
# and can be chosen. The encoders have clocks and resets, and the harts an
# idle state that loses registers.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job split kernel/split.sh
guest_job managed kernel/managed.sh
guest_job idle kernel/idle.sh
guest_boot split --icount --modules --topology split --append iomem=relaxed \
	--global ntrace-encoder.managed=on --variant encoder.sleep-loses=1

# Bridges and a funnel of four harts lose their registers as well. The encoders are as the guide of the K3 describes them.
guest_job idle_k3 kernel/idle.sh 5
guest_boot idle_k3 --icount --smp 8 --modules --topology k3 --append iomem=relaxed \
	--variant encoder.inst-modes=0x8+encoder.sync-modes=0x4+encoder.own-hart=1+encoder.sleep-loses=3
done_testing
