#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the program with known edges as deep as perf accepts: pairs.sh ctr|cpu ROUNDS. cpu: with hook=1. The host evaluates
# each pair of neighbouring entries.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
event=ctr/by-cycles,depth=127/u
needs_module
if [ "$1" = cpu ]; then
	rmmod riscv_ctr
	ok "insmod hook=1" load hook=1 depth=0
	event=cycles:u
fi
edges_stacks pairs -c 4001 -e $event -j any,u,save_type -- "$here/edges" "$2"
left_clean "recorded"
done_testing
