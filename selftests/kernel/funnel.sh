#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Two harts that share a sink, and debugfs; through one funnel, then a chain.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
for topology in funnel 'chain short'; do
	relay "${topology% *}" tools/vsoc/run --quiet --modules --check-dmesg --append iomem=relaxed --topology "${topology% *}" \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/funnel.sh:/root/kernel/funnel.sh -- bash /root/kernel/funnel.sh "${topology#* }"
done
done_testing
