#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth, two harts in threads of their own: what is decoded from a recording is,
# instruction by instruction, what the harts executed. HTM and BTM over user and
# kernel, and HTM with the firmware's M-mode.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"
truth_needs

# In BTM a hart that spins for a lock whose owner the host has stopped fills the
# buffer fast, and it cannot drain while interrupts are off.
htm_sink=$((512 << 10)) btm_sink=$((1024 << 10)) rounds=${TRUTH_ROUNDS:-15}
record() { echo "ntrace record -o /tmp/$1 --mode $2 --privilege $3 --sink-size $4 -- truth_load $5"; }
ok "the guest records" truth_run "htm btm all" \
	"set -e; $(record htm htm us $htm_sink "$rounds"); $(record btm btm us $btm_sink $((rounds * 5 / 2))); $(record all htm usm 1048576 3)"
for name in htm btm; do
	section=0 sink=$htm_sink
	[ $name = htm ] || section=1 sink=$btm_sink
	ok "$name: 16 times as much trace as the sink's buffer, from each hart" drained_while_running $name $sink
	ok "$name: what is decoded is what was executed, all of it" truth_compare $name $section 20000000
	ok "$name: timer interrupts, system calls and page faults on both harts" truth_causes $name 2
	truth_figures $name
	truth_mutations $name $section 1234567
done
firmware=$("$top/tools/vsoc/run" --print-firmware-elf)
bias=$(riscv64-linux-gnu-readelf -lW "$firmware" | awk '$1 == "LOAD" { print $3; exit }')
m=(--priv usm --firmware "$firmware" --firmware-bias $((0x80000000 - bias)))
ok "with M-mode: what is decoded is what was executed" truth_compare all 2 2000000 "${m[@]}"
truth_figures all
truth_mutations all 2 123456 "${m[@]}"
fails "without the firmware's file M-mode is a gap, and the comparison says so" 'NOT OK|DIFFERENCE' \
	"$compare" --log "$tmp/log" --section 2 --sysroot "$tmp/root" --priv usm "$tmp/all"
done_testing
