#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# External triggers, and debug triggers of the hart.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
is "$(cat $pmu/caps/triggers_in $pmu/caps/triggers_out $pmu/caps/triggers_debug | tr '\n' ' ')" "0x3 0x3 0x1 " "caps: triggers"
program triggers "$(encoder 0)" "$(<$pmu/type)"

# ntrace record with triggers, for a program on hart 0 that raises input 0 or
# does not.
recorded() {
	taskset -c 0 ntrace record -q --task --privilege u --armed --trigger-in 0=on -o "$tmp/$1.data" -- \
		devmem "$(printf '0x%x' $(($(encoder 0) + $2)))" 32 1 >"$tmp/said" 2>&1
	echo "$? $(cat "$tmp/$1.data"/aux.* | wc -c)"
}
like "record --armed: input 0 begins it" '^0 [1-9]' "$(recorded raised 0xe04)"
is "$(recorded quiet 0xe08)" "0 0" "record --armed: nothing without it"
fails "record: a missing input" 'no such trigger: it has inputs 0x3, outputs 0x3' \
	ntrace record -q -a --trigger-in 7=on -o "$tmp/x.data" -- true
fails "record --task: a missing input" 'not all encoders support these triggers' \
	ntrace record -q --task --trigger-out 7=on -o "$tmp/x.data" -- true
nothing_said
done_testing
