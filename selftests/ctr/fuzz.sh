#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Random perf_event_attr contents for FUZZ_SECONDS, EVENTS times open and close;
# `make check-debug-kernel` has the long form. SEED chooses another sequence.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec tools/vsoc/run --quiet --timeout $((${FUZZ_SECONDS:-15} * 2 + 600)) --check-dmesg \
	--module build/kernel/ctr/riscv_ctr.ko \
	--put build/riscv64/selftests/ctr:/root/ctr --put selftests/tap.sh:/root/tap.sh \
	--put selftests/ctr/guest/common.sh:/root/ctr/common.sh \
	--put selftests/ctr/guest/fuzz.sh:/root/ctr/fuzz.sh \
	-- bash /root/ctr/fuzz.sh "${FUZZ_SECONDS:-15}" "${EVENTS:-500}" "${SEED:-1}"
