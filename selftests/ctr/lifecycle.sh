#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What the PMU takes and refuses; tasks are kept apart; events, harts and the
# module come and go; the kernel log stays empty.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/vsoc/run --quiet --check-dmesg --module build/kernel/ctr/riscv_ctr.ko \
	--put build/riscv64/selftests/ctr:/root/ctr --put selftests/tap.sh:/root/tap.sh \
	--put selftests/ctr/guest/common.sh:/root/ctr/common.sh \
	--put selftests/ctr/guest/lifecycle.sh:/root/ctr/lifecycle.sh -- bash /root/ctr/lifecycle.sh
