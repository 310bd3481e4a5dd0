#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two pre-ratification SiFive encoders and a funnel that writes to memory.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
is "$(grep -c 'version=0\.0 ' $debug/components)" 3 "debugfs: three blocks of version 0"
is "$(<$pmu/caps/context)" 0x1 "caps: context"
program p550 "$(sink 0)"
is "$(said | grep -c 'cannot write to memory (control 0x')" 1 "the log tells of the error, once"
is "$(said | wc -l)" 1 "the driver has nothing more to say"
done_testing
