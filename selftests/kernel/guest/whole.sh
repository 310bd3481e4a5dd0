#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sinks that are read while stopped: whole.sh sram|smem
# Sinks that do not show their width, and a recording of perf on CPUs 0 and 1: whole.sh width PROPERTY WIDTH..., with that of
# each sink; PROPERTY states it in the device tree
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
if [ "$1" = width ]; then
	widths=("${@:3}")
	is "${#sinks[@]}" "${#widths[@]}" "each hart can be traced"
	for cpu in "${!sinks[@]}"; do
		number=$((($(sink "$cpu") >> 12) - 0x6040)) stated=()
		[ ! -e "/proc/device-tree/soc/trace-ram-sink@604${number}000/$2" ] || stated=(stated)
		relay "sink $number, width ${widths[number]}${stated:+ stated}" \
			"$here/whole" width "/dev/ntrace$cpu" "$cpu" "$(sink "$cpu")" "${widths[number]}" "${stated[@]}"
	done
	mkdir drain
	program perf trace "$(<$pmu/type)" drain drain
else
	program whole "$1"
fi
nothing_said
done_testing
