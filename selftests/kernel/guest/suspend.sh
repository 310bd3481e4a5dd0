# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# System sleep while somebody traces. Runs in the guest. The file system that
# takes the runner's results does not survive it: powers off by itself.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
hold /dev/ntrace0
echo devices >/sys/power/pm_test && echo freeze >/sys/power/state
ok "system sleep: encoder and sink are disabled" both_disabled 0
ask state
is "$answer" 2 "the capture is stopped"
ask start
is "$answer" 0 "START continues"
ok "encoder and sink are enabled" both_enabled 0
let_go
echo "1..$tap_count"
poweroff -f
