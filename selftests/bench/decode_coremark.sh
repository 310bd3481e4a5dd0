#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The speed of decoding coremark's trace on one core: messages, blocks, PCs as text.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-5}
elf=${NTRACE_SHARED:-$top/../shared}/data/refcode/coremark.elf
if [ ! -r "$elf" ]; then
	echo "  decode: no ../shared/data/refcode, nor NTRACE_SHARED: nothing to decode"
	write_figures "$1"
	exit 0
fi

gzip -dc "$(bash "$top/selftests/bench/coremark_pcs.sh" "$elf")" >"$tmp/pcs"
for mode in btm htm; do
	"$top/build/ntrace" encode --pcs "$tmp/pcs" --elf "$elf" --mode $mode -o "$tmp/$mode" >/dev/null
done
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -I"$top/lib/include" -o "$tmp/decode_coremark" \
	"$top/selftests/bench/decode_coremark.c" "$top/build/libntrace.a" -lelf -lzstd -lz -lm -pthread
"$tmp/decode_coremark" "$elf" "$tmp/btm" "$tmp/htm" >"$tmp/out"
lines=$(wc -l <"$tmp/pcs")
if ! grep -qx "instructions $lines" "$tmp/out" ||
	! cmp -s "$tmp/pcs" <("$top/build/ntrace" decode --level pc --elf "$elf" "$tmp/htm"); then
	echo "  decode: not what was executed"
	exit 1
fi
of() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/out"; }
times=()
for ((i = 0; i < rounds; i++)); do
	start=$EPOCHREALTIME
	"$top/build/ntrace" decode --level pc --elf "$elf" "$tmp/htm" >/dev/null
	times+=("$(awk -v a="$start" -v b="$EPOCHREALTIME" -v n="$lines" 'BEGIN { print n / (b - a) / 1e6 }')")
done
# shellcheck disable=SC2046 # numbers
figure parse.btm "$(median $(of parse.btm))" MB/s 5
# shellcheck disable=SC2046
figure block.htm "$(median $(of block.htm))" "million a second" 5
figure pctext.htm "$(median "${times[@]}")" "million a second" "$rounds"
echo "  peers, another day on such a machine: 30 MB/s BTM and 152 million instructions a second HTM"
echo "  (libnexus-rv, no text), 225 (libipt, blocks of one loop), 25 million lines (NexRv, libnexus-rv)"
write_figures "$1"
