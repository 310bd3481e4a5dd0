#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random sequences of opens, starts, hotplug and binding: random.sh STEPS DEBUG_STEPS [SEED]; the
# second number is for the debug kernel.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
steps=$1
[ ! -e /proc/lockdep ] || steps=$2
program random "$steps" "${3:-$RANDOM$RANDOM}"
nothing_said
done_testing
