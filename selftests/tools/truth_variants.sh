#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=60
# Truth test of machines whose trace blocks have any properties that the specifications allow, as far as
# the driver copes with them (selftests/kernel/variants): the decoded instructions are the executed ones.
# Two machines, which are always the same; VARIANTS=N SEED=S: N machines, with seeds from S on, one boot each.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

# The host's test alone has accesses of the own hart only, and chooses a sync mode that the encoder has.
names=$(grep -v -e '^#' -e ' host$' -e own-hart -e sync-modes selftests/kernel/variants | paste -sd+)
first=100
[ -z "${VARIANTS:-}" ] || first=${SEED:-1}
truth_firmware
for ((seed = first; seed < first + ${VARIANTS:-2}; seed++)); do
	topology=direct harts=2
	[ $((seed % 2)) = 0 ] || topology=chain harts=4
	rm -f "$tmp"/log.*
	next_section=0
	truth_job "v$seed" 1 $harts --privilege usm
	truth_boot "v$seed" --icount --smp $harts --topology $topology --variant "$seed+$names"
	if recorded "v$seed"; then
		ok "seed $seed, $topology: the decoded instructions are all executed ones" truth_compare 300000 "${with_firmware[@]}"
		truth_figures
	fi
	diag "$(grep -a '^ntrace-variant=' "$tmp/v$seed/err")"
done
done_testing
