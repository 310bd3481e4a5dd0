#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=110
# Truth test of hardware with any properties that the specifications allow: the decoded instructions are the executed ones, or
# the driver refuses a component in a sentence that names a field.
#
# A boot takes most of a machine's time, so one boot has many machines: the harts have encoders and sinks that different seeds
# draw, of their own or for two harts each (tools/vsoc/model/topology.h: direct and pairs). 20 machines in two boots, which are
# always the same; VARIANTS=N SEED=S: N machines, with seeds from S on.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

# Implicit returns are not hard-wired here: an encoder that counts levels (mode 1) misleads every decoder at a switch of tasks, of
# which the comparison would warn.

# accounted HART NUMBER: the trace of a hart is exact, or the kernel's log has a refusal of its encoder, or of the funnel or the
# sink with this number
accounted() {
	grep -qE "^hart $1: [0-9]+ instructions agree" "$tmp/compared" ||
		grep -qE "ntrace (60$(printf %02x "$1")|608$(printf %x "$2")|604$(printf %x "$2"))000\..*\btr[A-Z]" "$tmp/dmesg"
}

# machines NAME TOPOLOGY SEED HARTS EACH: a boot of machines with EACH harts
machines() {
	local name=$1 topology=$2 seed=$3 harts=$4 each=$5 hart
	rm -f "$tmp"/log.*
	next_section=0
	truth_job "$name" 1 "$harts" --privilege usm
	truth_boot "$name" --icount --smp "$harts" --topology "$topology" --variant "$seed..+encoder.implicit-return=0" \
		--dmesg "$tmp/dmesg"
	if recorded "$name"; then
		ok "$name: the decoded instructions are all executed ones" truth_compare 300000 "${with_firmware[@]}"
		for ((hart = 0; hart < harts; hart++)); do
			ok "$name: hart $hart is exact, or refused by the name of a field" accounted $hart $((hart / each))
		done
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
	machines "pairs$seed" pairs $((seed + 12)) 16 2
done
done_testing
