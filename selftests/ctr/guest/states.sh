#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Disabled events cause no interrupt; throttling and PERF_EVENT_IOC_REFRESH stop events, which go on afterwards.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module
relay states "$here/states" "$(<$pmu/type)"
left_clean "at the end"
done_testing
