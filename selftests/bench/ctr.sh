#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The cost of branch stacks: guest instructions per sample and per entry, counted with -icount, compared with sampling cycles
# without a branch stack.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
cost=$top/build/riscv64/selftests/bench/ctr_cost
loops=${BENCH_LOOPS:-10000000} period=200000

# shellcheck disable=SC2016 # for the guest
"$top/tools/vsoc/run" --quiet --smp 1 --icount --module "$top/build/kernel/ctr/riscv_ctr.ko" \
	--sysctl kernel.perf_event_paranoid=-1 --sysctl kernel.perf_event_max_sample_rate=100000 \
	--sysctl kernel.perf_event_mlock_kb=65536 --sysctl kernel.perf_cpu_time_max_percent=0 \
	--put "$cost:/usr/local/bin/ctr_cost" -- sh -c '
	type=$(cat /sys/bus/event_source/devices/ctr/type)
	echo none $(ctr_cost '"$loops"')
	echo cycles $(ctr_cost '"$loops"' 0 '$period' 0)
	for depth in 1 16 32 64 127; do
		echo $depth $(ctr_cost '"$loops"' $type '$period' $depth)
	done
	echo three $(ctr_cost '"$loops"' $type '$period' 32 others)' >"$tmp/out"
if ! awk 'NF != 4 || ($1 != "none" && $3 < 100) || ($1 + 0 && $4 != $1 * $3) { bad = 1 } END { exit bad || NR != 8 }' "$tmp/out"; then
	sed 's/^/  ctr: not what was asked for: /' "$tmp/out"
	exit 1
fi
# per_sample NAME: instructions beyond those of the load, per sample
per_sample() {
	awk -v name="$1" '$1 == "none" { alone = $2 } $1 == name { print ($2 - alone) / $3 }' "$tmp/out"
}
samples() { awk -v name="$1" '$1 == name { print $3 }' "$tmp/out"; }
figure "ctr: a sample of cycles, no branch stack" "$(per_sample cycles)" instructions "$(samples cycles)"
for depth in 1 16 32 64 127; do
	figure "ctr: a sample with $depth entries" "$(per_sample $depth)" instructions "$(samples $depth)"
done
figure "ctr: a sample with 32 entries on a ring that three events share" "$(per_sample three)" instructions "$(samples three)"
ratio() { awk -v a="$(per_sample "$1")" -v b="$(per_sample "$2")" 'BEGIN { print a / b }'; }
figure "ctr: 32 entries, three owners of the ring to one" "$(ratio three 32)" x "$(samples three)" "<=1.25"
figure "ctr: 32 entries to a sample without branch stack" "$(ratio 32 cycles)" x "$(samples 32)"
figure "ctr: an entry" "$(awk -v a="$(per_sample 127)" -v b="$(per_sample 1)" 'BEGIN { print (a - b) / 126 }')" \
	instructions "$(samples 127)"
write_figures
