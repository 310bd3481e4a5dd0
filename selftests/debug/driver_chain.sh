#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace.ko on the debug kernel: two funnels in a row and one sink.
# shellcheck source=selftests/debug/driver_common.sh
. "$(dirname "$0")/driver_common.sh"
on_debug_kernel chain
