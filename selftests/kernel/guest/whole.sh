#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sinks that are read while stopped: whole.sh sram|smem
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
program whole "$1"
nothing_said
done_testing
