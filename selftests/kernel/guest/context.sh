#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# scontext and Ownership messages: context.sh [BITS]; BITS is 1 for a closed register
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
type=$(<$pmu/type)
bits=${1:-32}
if [ "$bits" -lt 32 ]; then
	is "$(<$pmu/caps/context)" "$([ "$bits" -gt 0 ] && echo 0x1 || echo 0x0)" "caps: whether the encoder tells contexts"
	program perf nameless "$type"
	is "$(dmesg | grep -c Oops)" 0 "and no oops"
	done_testing
fi
is "$(<$pmu/caps/context)" 0x1 "caps: context"
mkdir context
for cpu in 0 1; do
	taskset -c $cpu sh -c 'while :; do :; done' &
	others+=("$!")
done
program perf trace "$type" context context $sparse
kill "${others[@]}"
wait "${others[@]}" 2>/dev/null
nothing_said
done_testing
