#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver in the guest: its interface, trace, losses; coming and going of
# everything around it; an empty kernel log. iomem=relaxed: the tests look at
# registers through /dev/mem.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/vsoc/run --quiet --modules --check-dmesg --append iomem=relaxed \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/driver.sh:/root/kernel/driver.sh -- bash /root/kernel/driver.sh
