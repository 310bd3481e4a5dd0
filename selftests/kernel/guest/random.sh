#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random sequences of opens, starts, hotplug and binding: random.sh SEQUENCES DEBUG_SEQUENCES [SEED];
# the second number is for the debug kernel.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
sequences=$1
[ ! -e /proc/lockdep ] || sequences=$2
program random "$sequences" "${3:-$RANDOM$RANDOM}"
nothing_said
done_testing
