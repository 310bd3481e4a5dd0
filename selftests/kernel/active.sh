#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Trace blocks that run already when the driver comes are stopped, encoders
# first, and work then.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

run() {
	tools/vsoc/run --quiet --modules --check-dmesg --append iomem=relaxed \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/active.sh:/root/kernel/active.sh \
		--global ntrace-encoder.active-at-reset=on --global ntrace-ram-sink.active-at-reset=on \
		--global "ntrace-encoder.log=$tmp/log" --global "ntrace-ram-sink.log=$tmp/log" \
		-- bash /root/kernel/active.sh >"$tmp/out"
}
ok "a guest whose trace blocks run from the start" run
while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok * - }" ;;
	'not ok '*) not_ok "${line#not ok * - }" ;;
	'# '*) echo "$line" ;;
	esac
done <"$tmp/out"
for hart in 0 1; do
	order=$(awk -v hart=$hart '$2 == "control" && !off[$1] && $3 !~ /[2367abef]$/ { off[$1] = NR }
		END { e = off["encoder" hart]; s = off["ram-sink" hart]; print (e && s && e < s ? "yes" : "no") }' "$tmp/log")
	is "$order" yes "hart $hart: the encoder was stopped before its sink"
done
[ "$tap_failures" -eq 0 ] || diag "$(head -n 30 "$tmp/log")"
done_testing
