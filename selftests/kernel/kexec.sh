#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kexec while two harts are traced: the second kernel finds the trace blocks
# disabled before any driver of its own has touched them. Once with a sink for
# each hart, once with two funnels and a sink that they share.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

# jump TOPOLOGY BLOCKS
jump() {
	local out=$tmp/out.$1 console=$tmp/console.$1 failed=$tap_failures line

	tools/vsoc/run --quiet --modules --console "$console" --topology "$1" \
		--append "iomem=relaxed sysctl.kernel.hung_task_timeout_secs=20 sysctl.kernel.hung_task_check_interval_secs=5" \
		--put "$(tools/vsoc/run --print-kernel):/root/vmlinux" \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/kexec.sh:/root/kernel/kexec.sh \
		-- bash /root/kernel/kexec.sh >"$out" 2>&1
	is "$(sed -n 's/^tracing with //p' "$out")" "$2 of $2 blocks" "$1: jumps while tracing"
	sed -nE 's/.*second kernel: ([0-9a-f]+ 0x[0-9A-F]+).*/\1/p' "$console" | sort -u >"$out.blocks"
	is "$(wc -l <"$out.blocks")" "$2" "$1: the second kernel looks at all of them"
	while read -r line; do
		is "${line#* }" 0x00000008 "$1: component at 0x${line% *} is inactive in the second kernel"
	done <"$out.blocks"
	if grep -aE 'BUG|WARNING|Oops' "$console" >"$tmp/bad"; then
		not_ok "$1: the kernel logs are clean"
		diag "$(cat "$tmp/bad")"
	else
		pass "$1: the kernel logs are clean"
	fi
	[ "$tap_failures" -eq "$failed" ] && return
	diag "$(tail -n 20 "$out")"
	diag "$(tail -n 60 "$console" | tr -d '\r')"
}
jump direct 4
jump chain 5
done_testing
