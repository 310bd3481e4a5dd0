#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Random perf_event_attr contents: FUZZ_EVENTS random events, and EVENTS times open and close, with harts that run at the
# same time. SEED selects another sequence.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job long_fuzz ctr/fuzz.sh "${FUZZ_EVENTS:-5000}" "${EVENTS:-2000}" "${SEED:-1}"
guest_boot threads --smp 2 --module build/kernel/ctr/riscv_ctr.ko
done_testing
