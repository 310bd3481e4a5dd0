#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=35
# Encoders without comparators, timestamps and scontext: the driver does not offer missing features,
# and refuses them. Sinks that do not reach all memory. Encoders without filters.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job filters kernel/filters.sh 0 0 /root/selftests/tools/counted
guest_job timestamps kernel/timestamps.sh 0 0 none
guest_job context kernel/context.sh 0
guest_job memory kernel/memory.sh low
guest_boot poor --icount --modules --tools --mem 5G --append iomem=relaxed \
	--global ntrace-encoder.comparators=0 --global ntrace-encoder.timestamp-bits=0 \
	--global ntrace-encoder.scontext-bits=0 --global ntrace-ram-sink.address-bits=32
guest_job driver kernel/driver.sh
guest_job unfiltered kernel/unfiltered.sh
guest_boot unfiltered --icount --modules --tools --append iomem=relaxed --variant encoder.no-filters=1
done_testing
