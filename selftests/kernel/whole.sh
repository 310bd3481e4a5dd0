#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=30
# Sinks that are read while stopped: with their own memory, or with stop-on-wrap. In addition, scontext that is too narrow,
# or
# that the firmware keeps closed (mstateen0), where the attempt to write it must not cause an oops; and reserved memory.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job sram kernel/whole.sh sram
guest_job narrow kernel/context.sh 16
guest_boot sram --icount --modules --global ntrace-ram-sink.kind=sram --global ntrace-encoder.scontext-bits=16
guest_job smem kernel/whole.sh smem
guest_job closed kernel/context.sh 1
guest_job region kernel/memory.sh region
guest_boot smem --icount --modules --append iomem=relaxed --machine ntrace-memory=48M \
	--global ntrace-ram-sink.kind=smem --global ntrace-encoder.scontext-closed=true
done_testing
