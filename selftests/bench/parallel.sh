#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What a second core gains: ntrace stat follows every instruction of a trace of 1 GB with one thread and with two, in turn; so does
# ntrace export -f folded with a recording of two streams. Beside them a loop of table look-ups, which shares nothing between threads:
# what the machine itself gains.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-3} wanted=${BENCH_PARALLEL_BYTES:-1000000000}
data=${NTRACE_SHARED:-$top/../shared}/data/refcode
if [ ! -r "$data/xrle.elf" ]; then
	echo "  parallel: no ../shared/data/refcode, nor NTRACE_SHARED: nothing to decode"
	write_figures
	exit 0
fi

gzip -dc "$data/xrle.pcseq.txt.gz" | cut -d, -f1 >"$tmp/pcs"
"$top/build/ntrace" encode --pcs "$tmp/pcs" --elf "$data/xrle.elf" --mode btm --encoder sync=messages,syncmax=8 -o "$tmp/one" >/dev/null
for _ in $(seq 1000); do cat "$tmp/one"; done >"$tmp/thousand"
while [ "$(stat -c %s "$tmp/trace" 2>/dev/null || echo 0)" -lt "$wanted" ]; do cat "$tmp/thousand" >>"$tmp/trace"; done
"${CC:-gcc}" -std=c11 -O2 -Wall -Wextra -o "$tmp/lookups" "$top/selftests/bench/lookups.c" -pthread

# seconds COMMAND...: of the clock
seconds() {
	local start=$EPOCHREALTIME
	"$@" >"$tmp/out" 2>/dev/null
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}
count() { seconds "$top/build/ntrace" stat -j "$1" --json --elf "$data/xrle.elf" "$tmp/trace"; }
# The program as the firmware of two harts.
mkdir "$tmp/recording"
{
	printf '%s\n' 'ntrace-recording 1' 'tool bench' 'module bench' 'release bench' 'machine riscv64' 'clock monotonic' 'command bench' 'privilege 0'
	for stream in 0 1; do
		file=$tmp/recording/aux.$stream
		while [ "$(stat -c %s "$file" 2>/dev/null || echo 0)" -lt $((wanted / 5)) ]; do cat "$tmp/thousand" >>"$file"; done
		printf '%s\n' "stream $stream" "file aux.$stream" "cpu $stream" "hartid $stream" 'src 0' 'params srcbits=0,xlen=64,extaddr=0,mode=btm' \
			'start_ns 1000' 'stop_ns 0' "bytes $(stat -c %s "$file")" 'lost 0' 'lost_exact 1' 'gaps 0' 'event 0' 'position 0'
	done
} >"$tmp/recording/params"
fold() { seconds "$top/build/ntrace" export -j "$1" -f folded --firmware "$data/xrle.elf" "$tmp/recording"; }

gains=() loops=() ones=() stacks=()
count 1 >/dev/null
for ((i = 0; i < rounds; i++)); do
	one=$(count 1) && cp "$tmp/out" "$tmp/with1"
	two=$(count 2) && cp "$tmp/out" "$tmp/with2"
	if ! cmp "$tmp/with1" "$tmp/with2"; then
		echo "  parallel: two threads count something else than one"
		exit 1
	fi
	gains+=("$(awk -v a="$one" -v b="$two" 'BEGIN { print a / b }')")
	ones+=("$one")
	one=$(fold 1) && cp "$tmp/out" "$tmp/with1"
	two=$(fold 2) && cp "$tmp/out" "$tmp/with2"
	if ! grep -q xrle_compress "$tmp/with1" || ! cmp "$tmp/with1" "$tmp/with2"; then
		echo "  parallel: two threads have other call stacks than one"
		exit 1
	fi
	stacks+=("$(awk -v a="$one" -v b="$two" 'BEGIN { print a / b }')")
	one=$(seconds "$tmp/lookups" 1) two=$(seconds "$tmp/lookups" 2)
	loops+=("$(awk -v a="$one" -v b="$two" 'BEGIN { print a / b }')")
done
figure parallel.2 "$(median "${gains[@]}")" x "$rounds" ">=1.85"
figure "parallel.2: call stacks" "$(median "${stacks[@]}")" x "$rounds" ">=1.85"
figure "parallel.2: a loop of look-ups" "$(median "${loops[@]}")" x "$rounds"
figure "parallel.2: one thread" "$(awk -v s="$(median "${ones[@]}")" -v n="$(stat -c %s "$tmp/trace")" 'BEGIN { print n / s / 1e6 }')" MB/s "$rounds"
figure "parallel.2: bytes of the trace" "$(stat -c %s "$tmp/trace")" bytes 1
write_figures
