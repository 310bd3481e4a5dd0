#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The virtual SoC loses no counter-overflow interrupt: what is sampled in the guest is what was counted.
# Without -icount counters follow the host's clock, and only that samples come can be said.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

samples() {
	local how=$1
	shift
	relay "$how" tools/vsoc/run --quiet --smp 2 --check-dmesg "$@" --module build/kernel/ctr/riscv_ctr.ko \
		--put build/riscv64/selftests/ctr:/root/ctr --put selftests/tap.sh:/root/tap.sh \
		--put selftests/ctr/guest/common.sh:/root/ctr/common.sh \
		--put selftests/ctr/guest/samples.sh:/root/ctr/samples.sh -- bash /root/ctr/samples.sh "$how"
}
samples icount --icount
samples threads
done_testing
