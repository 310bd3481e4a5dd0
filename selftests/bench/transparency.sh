#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The cost of the trace blocks while nothing is traced: the same programs on QEMU with the blocks, on the same QEMU without
# them, and on Debian's QEMU. Seven rounds with the three alternately, so that a change of the machine's speed affects all
# three; the figure is the median of the seven ratios. Target: within 3 %.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-7}
# Many short runs, of which the fastest counts: a disturbance only adds time.
# shellcheck disable=SC2016 # expanded in the guest
script='i=0; while [ $i -lt 20 ]; do i=$((i + 1)); echo branchy $(bench_load branchy 100); echo kernel $(bench_load kernel 20); done'

declare -A ns
one() {
	local kind=$1 out what
	shift
	out=$(guest_run "$script" "$@")
	for what in branchy kernel; do
		# shellcheck disable=SC2046 # numbers
		ns[$kind.$what]=$(smallest $(awk -v what=$what '$1 == what { print $2 }' <<<"$out"))
	done
}

declare -A ratios
for ((i = 1; i <= rounds; i++)); do
	# A different order each time.
	kinds=(with without stock)
	for ((k = 0; k < 3; k++)); do
		case ${kinds[(i + k) % 3]} in
		with) one with ;;
		without) one without --no-ntrace ;;
		stock) one stock --no-ntrace --qemu "$top/build/qemu-stock/qemu-system-riscv64" ;;
		esac
	done
	for what in branchy kernel; do
		for other in without stock; do
			ratio=$(awk -v a="${ns[with.$what]}" -v b="${ns[$other.$what]}" 'BEGIN { printf "%.4f", a / b }')
			ratios[$what.$other]+=" $ratio"
		done
	done
	echo "  round $i: branchy ${ns[with.branchy]} ns, without ${ns[without.branchy]}, stock ${ns[stock.branchy]};" \
		"kernel ${ns[with.kernel]}, without ${ns[without.kernel]}, stock ${ns[stock.kernel]}"
done
for what in branchy kernel; do
	for other in without stock; do
		# shellcheck disable=SC2086 # numbers
		figure "idle blocks, $what load, over ${other/without/none}" "$(median ${ratios[$what.$other]})" x "$rounds"
	done
done
write_figures
