#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The speed of the library's layers on coremark's trace, on one core: messages, blocks, counts, PCs as text. The same run
# compares all counts with those of a walk.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-5}
elf=${NTRACE_SHARED:-$top/../shared}/data/refcode/coremark.elf
if [ ! -r "$elf" ]; then
	echo "  decode: no ../shared/data/refcode, nor NTRACE_SHARED: nothing to decode"
	write_figures
	exit 0
fi

gzip -dc "$(bash "$top/selftests/bench/coremark_pcs.sh" "$elf")" >"$tmp/pcs"
encode() { "$top/build/ntrace" encode --pcs "$tmp/pcs" --elf "$elf" --mode "$2" -o "$tmp/$1" "${@:3}" >/dev/null; }
encode btm btm
encode htm htm
encode best htm --implicit-return 8 --repeated-history --encoder icntbits=26
build decode_coremark
if ! "$tmp/decode_coremark" "$elf" "$tmp/btm" "$tmp/htm" "$tmp/best" >"$tmp/out"; then
	echo "  decode: counted blocks are not those of a walk"
	exit 1
fi
lines=$(wc -l <"$tmp/pcs")
if ! grep -qx "instructions $lines" "$tmp/out" ||
	! cmp -s "$tmp/pcs" <("$top/build/ntrace" decode --level pc --elf "$elf" "$tmp/htm"); then
	echo "  decode: not what was executed"
	exit 1
fi
of() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/out"; }
# layer NAME UNIT [LEAST]
layer() {
	local value
	# shellcheck disable=SC2046 # numbers
	value=$(median $(of "$1"))
	if [ -n "${3:-}" ]; then rate "$1" "$value" "$2" 5 "$3"; else figure "$1" "$value" "$2" 5; fi
}
measure_ruler
layer split.btm MB/s 1000
layer parse.btm MB/s 300
layer block.htm "million a second" 1200
layer walk.htm "million a second"
layer walk.btm "million a second"
layer block.btm "million a second" 500
layer count.best "million a second" 8000
layer count.htm "million a second" 4000
layer count.btm "million a second" 800
for mode in btm htm best; do
	figure "count.$mode: entries, equal to those of a walk" "$(of "entries.$mode")" entries 1
done
times=()
for ((i = 0; i < rounds; i++)); do
	start=$EPOCHREALTIME
	"$top/build/ntrace" decode --level pc --elf "$elf" "$tmp/htm" >/dev/null
	times+=("$(awk -v a="$start" -v b="$EPOCHREALTIME" -v n="$lines" 'BEGIN { print n / (b - a) / 1e6 }')")
done
figure pctext.htm "$(median "${times[@]}")" "million a second" "$rounds"

echo "  peers that Debian does not have, another day on such a machine: 30 MB/s BTM and 152 million instructions a second HTM"
echo "  (libnexus-rv, no text), 25 million lines a second (NexRv, libnexus-rv)"
write_figures
