#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth with -icount: time counted in instructions, the sink's buffer drained at
# exact moments. HTM and BTM. One hart: QEMU runs several in turn there, for a
# tenth of a second each, and one that spins with interrupts off for a lock of
# another's (17 million instructions were seen) cannot drain its sink.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"
truth_needs

sink=$((256 << 10)) rounds=${TRUTH_ROUNDS:-14}
record() { echo "ntrace record -o /tmp/$1 --mode $1 --sink-size $sink -- truth_load $rounds 2"; }
ok "the guest records" truth_run "htm btm" "set -e; $(record htm); $(record btm)" --icount --smp 1
for name in htm btm; do
	section=0
	[ $name = htm ] || section=1
	ok "$name: 16 times as much trace as the sink's buffer" drained_while_running $name $sink
	ok "$name: what is decoded is what was executed, all of it" truth_compare $name $section 20000000
	ok "$name: timer interrupts, system calls and page faults" truth_causes $name 1
	truth_figures $name
done
done_testing
