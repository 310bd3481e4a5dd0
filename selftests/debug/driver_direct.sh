#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace.ko on the debug kernel: each encoder has its own sink.

# The job triggers needs the command.
NO_TOOLS=${NO_TOOLS-}
# shellcheck source=selftests/debug/driver_common.sh
. "$(dirname "$0")/driver_common.sh"
on_debug_kernel direct
