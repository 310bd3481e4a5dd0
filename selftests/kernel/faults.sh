#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Blocks that break on demand. iomem=relaxed: the test breaks them through /dev/mem.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/vsoc/run --quiet --modules --check-dmesg --append iomem=relaxed \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/faults.sh:/root/kernel/faults.sh -- bash /root/kernel/faults.sh
