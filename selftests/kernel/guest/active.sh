#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Loads the driver while components are running: active.sh
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
is "$(log_lines | grep -c ': found running, stopped')" 4 "the driver reports all four"
for cpu in 0 1; do
	ok "CPU $cpu: disabled now" both_disabled $cpu
	hold /dev/ntrace$cpu
	ok "CPU $cpu: tracing" both_enabled $cpu
	ask stop
	is "$answer" 0 "CPU $cpu: STOP"
	ask head
	ok "CPU $cpu: trace has come" test "$answer" -gt 0
	let_go
done
done_testing
