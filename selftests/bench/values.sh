#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Values of a recording of a shell at work (the script of `make demo`): the processor's time until registers before the last
# instruction of its main thread are known, for each 100 million instructions; and how much of what it reads is known in all of its
# run. Targets: 3 s, with the decoding that every debugger of the recording needs; 97 %, and nothing wrong.
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
	sed -n "/^cat .*words.sh/,/^END/p" "$top/tools/demo" | sed '1d;$d' >"$tmp/words.sh"
	guest_run 'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
		ntrace record --quiet --task --values -o /tmp/long -- bash /root/words.sh >/dev/null' \
		--modules --put "$tmp/ntrace:/usr/local/bin/ntrace" --put "$tmp/words.sh:/root/words.sh" --get "/tmp/long:$tmp"
	recording=$tmp/long
	sysroot=$("$top/tools/vsoc/run" --print-sysroot)
fi
build values_speed
decoded=() opened=()
for ((i = 0; i < rounds; i++)); do
	read -r instructions decode values < <("$tmp/values_speed" "$recording" "$sysroot")
	decoded+=("$(awk -v n="$instructions" -v s="$decode" 'BEGIN { print 1e8 * s / n }')")
	opened+=("$(awk -v n="$instructions" -v a="$decode" -v b="$values" 'BEGIN { print 1e8 * (a + b) / n }')")
done
figure values.open "$(median "${opened[@]}")" s "$rounds" "<=3"
figure "values.open: of these, decoding" "$(median "${decoded[@]}")" s "$rounds"
figure "values.open: instructions of the thread" "$instructions" instructions 1 ">=100000000"
read -r known wrong < <("$tmp/values_speed" "$recording" "$sysroot" count)
figure values.known "$known" "of registers read" 1 ">=0.97"
figure values.wrong "$wrong" values 1 "<=0"
write_figures
