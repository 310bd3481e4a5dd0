#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Where trace goes: memory that was set aside, and what a sink's addresses reach.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
# boot NAME OPTION...
boot() {
	local name=$1
	shift
	relay "$name" tools/vsoc/run --quiet --modules --check-dmesg --append iomem=relaxed "$@" \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/memory.sh:/root/kernel/memory.sh -- bash /root/kernel/memory.sh "$name"
}
boot region --machine ntrace-memory=48M
boot low --mem 5G --global ntrace-ram-sink.address-bits=32
boot high --mem 5G
done_testing
