#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=40
# Ten machines in one: harts with encoders and sinks that the seeds from FIRST on draw.
# shellcheck source=selftests/guest.sh
. "$(dirname "$0")/../guest.sh"
guest_job variants kernel/variants.sh
guest_boot variants --icount --smp 10 --modules --append iomem=relaxed --variant "${FIRST:-200}.."
done_testing
