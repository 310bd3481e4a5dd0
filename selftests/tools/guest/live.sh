#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `ntrace record --live`: counts of a CPU while its trace is made; one that is too slow; memory; --hold, in hold.sh. host/live.sh
# evaluates the counts.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
counted=$here/counted
load_module
# CPU 1 has nothing to do but what is traced; the decoder keeps away from it by itself.
taskset -pc 0 $$ >/dev/null
grep -q debugfs /proc/mounts || busybox mount -t debugfs none /sys/kernel/debug
# driver NAME: a number of the capture of CPU 1, as the driver has it
driver() { sed -n "s/^cpu1 .* $1=\([0-9]*\).*/\1/p" /sys/kernel/debug/ntrace/paths; }
beyond() { [ "$(driver "$1")" -gt "$2" ] 2>/dev/null; }
left() { ls -d /tmp/ntrace-live.* 2>/dev/null; }

attempt whole ntrace record --cpu 1 -o whole.data -- taskset -c 1 "$counted"
status whole 7
symbols_from whole.data
attempt exact ntrace record --live --cpu 1 -o exact.counts -- taskset -c 1 "$counted"
status exact 7
is "$(<exact.out)" "done" "exact: the command's output is its own"
is "$(wc -l <exact.err)" 2 "exact: two lines, no warning"
like "exact: traced, decoded, nothing lost" '[0-9,]+ bytes of trace from 1 CPUs in [0-9.]+ s: [0-9,]+ decoded, 0 lost' "$(<exact.err)"
is "$(left)" "" "exact: no temporary files"
ok "exact: no recording" test ! -e ntrace.data

# The program would take time of the guest while the recorder prepares.
taskset -c 1 "$here/steady" >/dev/null &
steady=$!
kill -STOP $steady
# A decoder that does not run while more trace is made than the data area holds. When it runs again and the program has stopped, nothing
# is lost any more. The area must hold what an idle CPU makes while the decoder waits for the sideband: the driver's timer is traced.
# Without a command, SIGINT ends it.
ntrace record --live --cpu 1 --data-size 512K -o slow.counts >slow.out 2>slow.err </dev/null &
slow=$!
until_true beyond head 0
kill -CONT $steady
until_true beyond head 200000
is "$(left | wc -l)" 1 "slow: one temporary directory"
is "$(find "$(left)" -name 'aux.*')" "" "slow: without trace"
kill -STOP $slow
until_true beyond lost 200000
kill -CONT $slow
until_true beyond head $(($(driver head) + 200000))
kill -STOP $steady
settled() {
	local before
	before=$(driver lost)
	sleep 0.2
	[ -n "$before" ] && [ "$before" = "$(driver lost)" ]
}
wait_seconds=5 until_true settled
driver lost >slow.lost
kill -INT $slow
finish slow $slow
status slow 0
# Said once, and nothing else.
is "$(wc -l <slow.err)" 4 "slow: four lines"
like "slow: the warning" "CPU 1: .* lost while recording, in [0-9]+ places?: .*--data-size" "$(<slow.err)"
like "slow: in the counts file, too" "slow.counts: code executed in lost trace is not counted: [0-9,]+ bytes, [1-9][0-9]* gaps" "$(<slow.err)"
is "$(left)" "" "slow: no temporary files"
kill -KILL $steady
wait $steady 2>/dev/null

# Refused.
attempt no_place ntrace record --live --cpu 1 -o /proc/none -- true
says no_place 1 "/proc/none"
attempt missing ntrace record --live --cpu 0,7 -o none.counts -- true
says missing 1 'CPU 7 has no trace device'
is "$(left)$(ls none.counts 2>/dev/null)" "" "refused: nothing is left"

# shellcheck source=selftests/tools/guest/hold.sh
. "$here/hold.sh"
done_testing
