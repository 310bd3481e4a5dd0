#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=200
# `ntrace record`, `trigger`, `top` and `collect` in the guest, one boot. guest/*.sh check how they are used; host/*.sh evaluate the
# recordings of programs with known calls and instructions on this host.
set -uo pipefail
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
# shellcheck source=selftests/tools/recording_common.sh
. selftests/tools/recording_common.sh

guest_job uses tools/uses.sh
guest_job record tools/record.sh
guest_job live tools/live.sh
guest_job tasks tools/tasks.sh
guest_job values tools/values.sh
guest_job trigger tools/trigger.sh
guest_job top tools/top.sh
guest_job collect tools/collect.sh
guest_job places tools/places.sh
selftests/tools/host/placed.py build/riscv64/selftests/tools/placed "$tmp/placed" here mounted jailed pivot overlay dev memfd removed \
	replaced moved moving bare baremount bareover wrong bare-wrong
# The work of guest/values.sh.
sed -n "/^cat .*words.sh/,/^END/p" tools/demo | sed '1d;$d' >"$tmp/words.sh"
guest_boot direct --icount --tools --put build/kernel/ntrace/ntrace.ko:/root/modules/ntrace.ko \
	--put build/kernel/ctr/riscv_ctr.ko:/root/modules/riscv_ctr.ko --put "$tmp/placed:/root/placed" \
	--put "$tmp/words.sh:/root/words.sh"
# shellcheck disable=SC2119 # no programs besides those of the tests
make_sysroot
for job in record live tasks values trigger top collect places; do
	results=$guest_results/$job
	# shellcheck disable=SC1090 # one of host/
	! guest_ran $job || . selftests/tools/host/$job.sh
done
done_testing
