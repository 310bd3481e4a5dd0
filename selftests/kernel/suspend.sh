#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep, down to the devices, while harts are traced. Once with a sink for
# each hart, once with two funnels and a sink that they share.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

# doze TOPOLOGY
doze() {
	local out=$tmp/out.$1 console=$tmp/console.$1 failed=$tap_failures line

	tools/vsoc/run --quiet --modules --console "$console" --append iomem=relaxed --topology "$1" \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/suspend.sh:/root/kernel/suspend.sh \
		-- bash /root/kernel/suspend.sh >"$out" 2>"$out.err"
	ok "$1: the guest has come back and to the end" grep -q '^1\.\.' "$out"
	while IFS= read -r line; do
		case $line in
		'ok '*) pass "$1: ${line#ok * - }" ;;
		'not ok '*) not_ok "$1: ${line#not ok * - }" ;;
		'# '*) echo "$line" ;;
		esac
	done <"$out"
	ok "$1: it was asleep" grep -q 'PM: suspend exit' "$console"
	# What comes before is the kernel's own: the debug kernel says something at 0.8 s.
	if sed '1,/Run .init as init process/d' "$console" | grep -aE 'BUG|WARNING|Oops' >"$tmp/bad"; then
		not_ok "$1: the kernel log is clean"
		diag "$(cat "$tmp/bad")"
	else
		pass "$1: the kernel log is clean"
	fi
	[ "$tap_failures" -eq "$failed" ] || diag "$(tail -n 20 "$out.err")"
}
doze direct
doze chain
done_testing
