#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Values of a recording: the processor's time until registers before the last instruction of a thread with more than 100 million
# instructions are known, for each 100 million of them. Target: 3 s, with the decoding that every debugger of the recording needs.
# BENCH_VALUES_RECORDING, with BENCH_VALUES_SYSROOT, is used instead of a new recording.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-5}

if [ -n "${BENCH_VALUES_RECORDING:-}" ]; then
	recording=$BENCH_VALUES_RECORDING
	sysroot=$BENCH_VALUES_SYSROOT
else
	cp "$top/build/riscv64/ntrace" "$tmp/"
	guest_run 'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
		ntrace record --quiet --values -o /tmp/long -- awk "BEGIN { for (i = 0; i < 600000; i++) s += i % 7; print s }" >/dev/null' \
		--modules --put "$tmp/ntrace:/usr/local/bin/ntrace" --get "/tmp/long:$tmp"
	recording=$tmp/long
	sysroot=$("$top/tools/vsoc/run" --print-sysroot)
fi
build values_speed
decoded=() opened=()
for ((i = 0; i < rounds; i++)); do
	read -r instructions decode values known < <("$tmp/values_speed" "$recording" "$sysroot")
	decoded+=("$(awk -v n="$instructions" -v s="$decode" 'BEGIN { print 1e8 * s / n }')")
	opened+=("$(awk -v n="$instructions" -v a="$decode" -v b="$values" 'BEGIN { print 1e8 * (a + b) / n }')")
done
figure values.open "$(median "${opened[@]}")" s "$rounds" "<=3"
figure "values.open: of these, decoding" "$(median "${decoded[@]}")" s "$rounds"
figure "values.open: instructions of the thread" "$instructions" instructions 1 ">=100000000"
figure "values.open: known of three registers" "$known" registers 1
write_figures
