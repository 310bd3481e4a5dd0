#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep, down to the devices, while a hart is traced.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

tools/vsoc/run --quiet --modules --console "$tmp/console" --append iomem=relaxed \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/suspend.sh:/root/kernel/suspend.sh \
	-- bash /root/kernel/suspend.sh >"$tmp/out" 2>"$tmp/err"
ok "the guest has come back and to the end" grep -q '^1\.\.' "$tmp/out"
while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok * - }" ;;
	'not ok '*) not_ok "${line#not ok * - }" ;;
	'# '*) echo "$line" ;;
	esac
done <"$tmp/out"
ok "it was asleep" grep -q 'PM: suspend exit' "$tmp/console"
if grep -aE 'BUG|WARNING|Oops' "$tmp/console" >"$tmp/bad"; then
	not_ok "the kernel log is clean"
	diag "$(cat "$tmp/bad")"
else
	pass "the kernel log is clean"
fi
[ "$tap_failures" -eq 0 ] || diag "$(tail -n 20 "$tmp/err")"
done_testing
