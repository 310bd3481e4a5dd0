#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reboots while both harts are traced.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
hold /dev/ntrace0
# shellcheck disable=SC2034 # the first process must not see the end of its
# input
exec {first_in}<&"${HOLD[0]}" {first_out}>&"${HOLD[1]}"
hold /dev/ntrace1 2>/dev/null
ok "CPU 0 is traced" both_enabled 0
ok "CPU 1 is traced" both_enabled 1
last_words
# Reboot without init, so that no process is asked to end.
reboot -f
