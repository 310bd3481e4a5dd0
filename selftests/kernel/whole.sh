#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# RAM sinks with memory of their own, and sinks that stop when they are full.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
for kind in sram smem; do
	relay "$kind" tools/vsoc/run --quiet --modules --check-dmesg --global "ntrace-ram-sink.kind=$kind" \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/whole.sh:/root/kernel/whole.sh -- bash /root/kernel/whole.sh "$kind"
done
done_testing
