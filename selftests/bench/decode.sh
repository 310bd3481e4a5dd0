#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The speed of reading, decoding and reporting a recording on this machine: a load of two busy harts in user and kernel,
# HTM and BTM.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-7}

truth_load=$top/build/riscv64/selftests/tools/truth_load
cp "$top/build/riscv64/ntrace" "$truth_load" "$tmp/"
# shellcheck disable=SC2016 # for the guest
guest_run 'for mode in htm btm; do
	ntrace record --quiet --mode $mode --sink-size 2M -o /tmp/$mode -- truth_load 12 >/dev/null
done' --modules --put "$tmp/ntrace:/usr/local/bin/ntrace" --put "$tmp/truth_load:/usr/local/bin/truth_load" \
	--get "/tmp/htm:$tmp" --get "/tmp/btm:$tmp"
mkdir "$tmp/root"
cp -as "$("$top/tools/vsoc/run" --print-sysroot)/." "$tmp/root/"
mkdir -p "$tmp/root/usr/local/bin"
cp "$tmp/ntrace" "$tmp/truth_load" "$tmp/root/usr/local/bin/"
build decode_speed

for mode in htm btm; do
	: >"$tmp/out"
	for ((i = 0; i < rounds; i++)); do
		"$tmp/decode_speed" "$tmp/$mode" "$tmp/root" >>"$tmp/out"
		start=$EPOCHREALTIME
		"$top/build/ntrace" report --sysroot "$tmp/root" "$tmp/$mode" >/dev/null 2>&1
		awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "report %.3f s\n", b - a }' >>"$tmp/out"
	done
	figure "recording, $mode" "$(cat "$tmp/$mode"/aux.* | wc -c)" bytes 1
	while read -r name unit; do
		# shellcheck disable=SC2046 # numbers
		figure "$name, $mode, $unit" "$(median $(awk -v n="$name" -v u="$unit" \
			'{ v = $2; k = $1; $1 = $2 = ""; sub(/^ +/, "") } k == n && $0 == u { print v }' "$tmp/out"))" "$unit" "$rounds"
	done < <(awk '{ k = $1; $1 = $2 = ""; sub(/^ +/, ""); print k, $0 }' "$tmp/out" | awk '!seen[$0]++')
done
write_figures
