# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep while somebody traces. Runs in the guest. The file system that
# takes the runner's results does not survive it: powers off by itself.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
mount -t debugfs none /sys/kernel/debug 2>/dev/null
running() { grep -c ' active enabled' /sys/kernel/debug/ntrace/components; }
# Behind the back of the driver.
encoders_enabled() { enabled "$(encoder 0)" && enabled "$(encoder 1)"; }
encoders_disabled() { ! enabled "$(encoder 0)" && ! enabled "$(encoder 1)"; }
blocks=$(wc -l </sys/kernel/debug/ntrace/components)

hold /dev/ntrace1
exec {other_in}<&"${HOLD[0]}" {other_out}>&"${HOLD[1]}"
hold /dev/ntrace0 2>/dev/null
is "$(running)" "$blocks" "all blocks are enabled"
echo devices >/sys/power/pm_test && echo freeze >/sys/power/state
is "$(running)" 0 "system sleep: all are disabled"
ok "the encoders' registers say so, too" encoders_disabled
ask state
is "$answer" 2 "the capture is stopped"
ask start
is "$answer" 0 "START continues"
echo start >&"$other_out"
read -r -t 120 answer <&"$other_in"
is "$answer" 0 "and that of the other hart"
is "$(running)" "$blocks" "all blocks are enabled again"
ok "the encoders' registers say so, too" encoders_enabled
let_go
echo "1..$tap_count"
poweroff -f
