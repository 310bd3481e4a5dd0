#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# truth_threads.sh, ten times as long: more than a thousand million instructions.
top=$(cd "$(dirname "$0")/../.." && pwd)
TRUTH_ROUNDS=${TRUTH_ROUNDS:-120} TRUTH_TIMEOUT=${TRUTH_TIMEOUT:-3600} \
	exec "$top/selftests/tools/truth_threads.sh"
