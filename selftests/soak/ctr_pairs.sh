#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A million pairs of neighbouring entries with each way of riscv_ctr: sequential code leads from the target of the older entry to
# the source of the younger one, and each entry is an edge of the program. ROUNDS changes the length of the recording.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/ctr/host/common.sh
. selftests/ctr/host/common.sh
rounds=${ROUNDS:-180000}
guest_job pairs ctr/pairs.sh ctr "$rounds"
guest_job pairs_cpu ctr/pairs.sh cpu "$rounds"
guest_boot pairs --smp 1 --icount --global ntrace-encoder.ctr-details=on --module build/kernel/ctr/riscv_ctr.ko
for way in pairs pairs_cpu; do
	guest_ran $way || continue
	out=$results/$way
	judge pairs
	zero $way illegal broken newest kernel mistyped mistimed mispredicted
	ok "$way: ${found[joined]:-no} pairs joined, of ${found[samples]:-no} samples" test "${found[joined]:-0}" -ge $((rounds * 50 / 9))
done
done_testing
