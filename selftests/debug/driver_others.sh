#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace.ko on the debug kernel: blocks that are active at power-on, one funnel, encoders of version 0, ten variants.
# shellcheck source=selftests/debug/driver_common.sh
. "$(dirname "$0")/driver_common.sh"
on_debug_kernel reboot funnel v0 variants
