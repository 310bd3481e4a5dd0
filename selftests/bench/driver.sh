#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# driver.drain is the share of a hart that the copy from the ring of the sink to the data area of
# /dev/ntraceN takes at 100 MB of trace a second: the instructions of a capture that nobody reads
# beyond those of one without a data area, for a hart of 10^9 instructions a second.
#
# The cost of the trace driver: guest instructions per megabyte of delivered trace, and per switch
# of a traced task, counted with -icount. Three ways: only counted (perf stat: the driver drains and
# discards), through an AUX area (perf: the driver copies), and through /dev/ntraceN. In the last
# two ways, the recorder that writes the files runs on the same hart.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
repeats=${BENCH_ROUNDS:-3} work=100 switches=${BENCH_SWITCHES:-2000}

# shellcheck disable=SC2016 # for the guest
guest_run 'stat="perf stat -x, -o /tmp/stat -e ntrace//u --" record="chrt -f 1 ntrace record --quiet --all --privilege u -o /tmp/r"
counted() { cut -d, -f1 /tmp/stat | grep -E "^[0-9]+$"; }
saved() { cat /tmp/r/aux.* | wc -c; rm -rf /tmp/r; }
i=0
while [ $i -lt '"$repeats"' ]; do i=$((i + 1)); for load in "branchy '"$work"'" "switch '"$switches"'"; do
	name=${load% *}
	echo $name alone $(bench_load $load) 0
	echo $name counted $($stat bench_load $load) $(counted)
	echo $name copied $($record --task -- chrt -o 0 bench_load $load) $(saved)
	echo $name device $($record --cpu 0 -- chrt -o 0 bench_load $load) $(saved)
done
echo drain none $(bench_load branchy '"$work"' /dev/ntrace0 0)
echo drain copied $(bench_load branchy '"$work"' /dev/ntrace0 0x4000000)
done' --smp 1 --icount --modules --tools >"$tmp/out"
if ! awk 'NF != 4 || ($2 != "alone" && $2 != "none" && $4 < 1000) { bad = 1 } END { exit bad || NR != 10 * n }' n="$repeats" "$tmp/out"; then
	sed 's/^/  driver: not what was asked for: /' "$tmp/out"
	exit 1
fi
# beyond LOAD HOW DIVISOR: prints the instructions beyond those of the load, per unit of DIVISOR or
# per megabyte
beyond() {
	local each
	mapfile -t each < <(awk -v load="$1" -v how="$2" -v divisor="$3" '$1 == load && $2 == "alone" { alone = $3 }
		$1 == load && $2 == how { print ($3 - alone) / (divisor ? divisor : $4 / 1e6) }' "$tmp/out")
	median "${each[@]}"
}
for how in counted copied device; do
	figure "driver: a megabyte of trace, $how" "$(beyond branchy $how 0)" instructions "$repeats"
done
for how in counted copied device; do
	# A round trip is two switches.
	figure "driver: a switch of traced tasks, $how" "$(beyond switch $how $((2 * switches)))" instructions "$repeats"
done
mapfile -t each < <(awk '$1 == "drain" && $2 == "none" { none = $3 }
	$1 == "drain" && $2 == "copied" { print 100 * 100e6 * ($3 - none) / $4 / 1e9 }' "$tmp/out")
figure "driver.drain" "$(median "${each[@]}")" "% of a hart" "$repeats"
write_figures
