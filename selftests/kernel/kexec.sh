#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kexec while two harts are traced: the second kernel finds the trace blocks
# disabled before any driver of its own has touched them.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

tools/vsoc/run --quiet --modules --console "$tmp/console" \
	--append "iomem=relaxed sysctl.kernel.hung_task_timeout_secs=20 sysctl.kernel.hung_task_check_interval_secs=5" \
	--put "$(tools/vsoc/run --print-kernel):/root/vmlinux" \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/kexec.sh:/root/kernel/kexec.sh \
	-- bash /root/kernel/kexec.sh >"$tmp/out" 2>&1
ok "jumps while tracing" grep -q '^tracing$' "$tmp/out"
for address in 6000000 6001000 6040000 6041000; do
	value=$(sed -n "s/.*second kernel: $address \(0x[0-9A-F]*\).*/\1/p" "$tmp/console")
	is "$value" 0x00000008 "component at 0x$address is inactive in the second kernel"
done
if grep -aE 'BUG|WARNING|Oops' "$tmp/console" >"$tmp/bad"; then
	not_ok "the kernel logs are clean"
	diag "$(cat "$tmp/bad")"
else
	pass "the kernel logs are clean"
fi
if [ "$tap_failures" -gt 0 ]; then
	diag "$(tail -n 20 "$tmp/out")"
	diag "$(tail -n 60 "$tmp/console" | tr -d '\r')"
fi
done_testing
