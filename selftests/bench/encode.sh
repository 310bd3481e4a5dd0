#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The output of the encoder for two programs of the reference code, compared with the output of the
# reference encoder (streams below NTRACE_SHARED). The bytes must be equal where the specification
# leaves no choice; with repeated history, there must be no more bytes than the reference encoder's.
# In addition, the speed of encoding PCs.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-5}
data=${NTRACE_SHARED:-$top/../shared}/data/refcode
if [ ! -r "$data/xrle.elf" ]; then
	echo "  encode: no ../shared/data/refcode, nor NTRACE_SHARED: nothing to compare with"
	write_figures
	exit 0
fi

# encode PROGRAM OPTION...: prints the summary of `ntrace encode`.
encode() {
	local program=$1
	shift
	"$top/build/ntrace" encode --pcs "$tmp/$program.pcs" --elf "$data/$program.elf" "$@" -o "$tmp/trace"
}
field() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/summary"; }

gzip -dc "$data/xrle.pcseq.txt.gz" | cut -d, -f1 >"$tmp/xrle.pcs"
gzip -dc "$(bash "$top/selftests/bench/coremark_pcs.sh")" >"$tmp/coremark.pcs"
failed=0
printf '  %-10s %-6s %12s %12s %10s %10s\n' program config bytes published messages published
while read -r program config bytes messages options; do
	# shellcheck disable=SC2086 # options
	encode "$program" $options >"$tmp/summary"
	got=$(field bytes)
	printf '  %-10s %-6s %12d %12d %10d %10d\n' "$program" "$config" "$got" "$bytes" "$(field messages)" "$messages"
	case $config in
	rpt | best) [ "$got" -le "$bytes" ] || failed=1 ;;
	*) [ "$got" = "$bytes" ] && [ "$(field messages)" = "$messages" ] || failed=1 ;;
	esac
	values+=("encode.$program.$config $got")
done <<END
xrle btm 12978 6233 --mode btm
xrle htm 3393 485 --mode htm
xrle rpt 2628 371 --mode htm --repeated-history
xrle ret8 3374 482 --mode htm --implicit-return 8
xrle best 2604 367 --mode htm --implicit-return 8 --repeated-history
coremark btm 6308812 3098601 --mode btm
coremark htm 1586381 228644 --mode htm
coremark rpt 1529254 219625 --mode htm --repeated-history
coremark ret8 1286129 183739 --mode htm --implicit-return 8 --encoder icntbits=26
coremark best 1227088 173797 --mode htm --implicit-return 8 --repeated-history --encoder icntbits=26
END
for value in "${values[@]}"; do
	# shellcheck disable=SC2086 # name and number
	set -- "$1" $value
	figure "$2" "$3" bytes 1
done
for mode in btm htm; do
	times=()
	for ((i = 0; i < rounds; i++)); do
		start=$EPOCHREALTIME
		encode coremark --mode $mode >"$tmp/summary"
		times+=("$(awk -v a="$start" -v b="$EPOCHREALTIME" -v n="$(field instructions)" 'BEGIN { print n / (b - a) / 1e6 }')")
	done
	figure "PCs encoded, coremark, $mode" "$(median "${times[@]}")" "million a second" "$rounds"
done
write_figures
[ $failed = 0 ] || {
	echo "  encode: not what was published"
	exit 1
}
