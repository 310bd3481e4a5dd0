#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A reboot while two harts are traced: when the machine is reset, nothing runs.
# The virtual SoC logs what its control registers held at the reset.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

status=0
tools/vsoc/run --quiet --modules --console "$tmp/console" \
	--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
	--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
	--put selftests/kernel/guest/reboot.sh:/root/kernel/reboot.sh \
	--global "ntrace-encoder.log=$tmp/log" --global "ntrace-ram-sink.log=$tmp/log" \
	-- bash /root/kernel/reboot.sh >"$tmp/out" 2>&1 || status=$?
is $status 126 "the guest goes down" || diag "$(tail -n 20 "$tmp/out")"
ok "while tracing" grep -q '^tracing$' "$tmp/out"

# The states that the components had one after the other, E: enabled.
states() { awk -v name="$1" '$1 == name { printf "%s", $3 ~ /[2367abef]$/ ? "E" : "." }' "$tmp/log"; }
for hart in 0 1; do
	for name in encoder$hart ram-sink$hart; do
		like "$name was enabled, and is disabled at the end" 'E.*\.$' "$(states "$name")"
	done
	# The last time that each went from enabled to disabled.
	order=$(awk -v hart=$hart '
		$2 == "control" || $2 == "reset" {
			now = $3 ~ /[2367abef]$/
			if (was[$1] && !now && $2 == "control") off[$1] = NR
			was[$1] = now
		}
		END { e = off["encoder" hart]; s = off["ram-sink" hart]; print (e && s && e < s ? "yes" : "no") }' "$tmp/log")
	is "$order" yes "hart $hart: the encoder was stopped before its sink"
done
[ "$tap_failures" -eq 0 ] || diag "$(tail -n 30 "$tmp/log")"
if grep -aE 'BUG|WARNING|Oops' "$tmp/console" >"$tmp/bad"; then
	not_ok "the kernel log is clean"
	diag "$(cat "$tmp/bad")"
else
	pass "the kernel log is clean"
fi
done_testing
