#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=140
# Truth test of hardware with any properties that the specifications allow: the decoded instructions are the executed ones, or
# the driver refuses a component in a sentence that names a field.
#
# A boot takes most of a machine's time, so one boot has many machines: the harts have encoders and sinks that different seeds
# draw, of their own or for two harts each (tools/vsoc/model/topology.h: direct and forks). Of two harts, one has a sink of its own
# as well, which the seed chooses in half of the machines. 20 machines in two boots, which are always the same; VARIANTS=N SEED=S:
# N machines, with seeds from S on.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

# Memory of a sink has the last 1 MiB: less would leave little to compare.
sizes=+ram-sink.sram-size=0x100000

# accounted HART EACH HARTS: the trace of a hart is exact, or the kernel's log has a refusal of its encoder, or of a funnel or a
# sink that it may send to
accounted() {
	local hart=$1 each=$2 number=$(($1 / $2)) parts
	parts=60$(printf %02x "$hart")
	for number in $number $((each == 2 ? $3 / 2 + number : number)); do
		parts+="|60[84]$(printf %x "$number")"
	done
	grep -qE "^hart $hart: [0-9]+ instructions agree" "$tmp/compared" || grep -qE "ntrace ($parts)000\..*\btr[A-Z]" "$tmp/dmesg"
}

# lost NAME: the harts that have lost trace although their sink writes to system memory
lost() {
	local hart sink
	sed -nE 's/.*CPU ([0-9]+): at least .* bytes of trace lost.*/\1/p' "$results/$1/record.err" | while read -r hart; do
		sink=$(sed -nE "s/^hart $hart: sink 60(.*)000\..*/\1/p" "$results/$1/ways")
		grep -qaF "ram-sink.smem@$((0x$sink - 0x40))=0x0" "$tmp/$1/err" || echo "$hart"
	done
}

# machines NAME TOPOLOGY SEED HARTS EACH: a boot of machines with EACH harts
machines() {
	local name=$1 topology=$2 seed=$3 harts=$4 each=$5 hart
	rm -f "$tmp"/log.*
	next_section=0
	truth_job "$name" 1 "$harts" WAYS "$seed" --privilege usm
	truth_boot "$name" --icount --smp "$harts" --topology "$topology" --variant "$seed..$sizes" --dmesg "$tmp/dmesg"
	if recorded "$name"; then
		ok "$name: the decoded instructions are all executed ones" truth_compare 300000 --losses "${with_firmware[@]}"
		is "$(lost "$name")" "" "$name: only memory of a sink has lost trace"
		for ((hart = 0; hart < harts; hart++)); do
			ok "$name: hart $hart is exact, or refused by the name of a field" accounted $hart "$each" "$harts"
		done
		diag "$(cat "$results/$name/ways")"
		diag "$(grep -cE '^hart [0-9]+: [0-9]+ instructions agree' "$tmp/compared") harts are exact"
	fi
	diag "$(grep -a '^ntrace-variant=' "$tmp/$name/err")"
	diag "$(grep -E 'ntrace .*\btr[A-Z]' "$tmp/dmesg" | sed 's/^\[[^]]*\] //' | sort -u)"
}

truth_firmware
first=${SEED:-1}
[ -n "${VARIANTS:-}" ] || first=100
for ((seed = first; seed < first + ${VARIANTS:-20}; seed += 20)); do
	machines "direct$seed" direct $seed 12 1
	machines "forks$seed" forks $((seed + 12)) 16 2
done
done_testing
