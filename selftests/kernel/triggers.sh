#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Triggers of an encoder: external ones, and those of the hart; through both interfaces.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
relay triggers tools/vsoc/run --quiet --modules --tools --check-dmesg --append iomem=relaxed \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/triggers.sh:/root/kernel/triggers.sh -- bash /root/kernel/triggers.sh
done_testing
