#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Components, harts and the module come and go while somebody traces: nothing is
# left running, nothing leaks, the kernel log stays empty. iomem=relaxed: the
# test looks at registers through /dev/mem.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/vsoc/run --quiet --modules --check-dmesg --append iomem=relaxed \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/lifecycle.sh:/root/kernel/lifecycle.sh -- bash /root/kernel/lifecycle.sh
