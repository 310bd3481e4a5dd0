#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# stack_truth.sh of the consumers with more than 50 million instructions in each of its recordings.
top=$(cd "$(dirname "$0")/../.." && pwd)
STACK_ROUNDS=${STACK_ROUNDS:-1100} STACK_MIN=${STACK_MIN:-50000000} STACK_TIMEOUT=${STACK_TIMEOUT:-3600} \
	exec "$top/selftests/consumers/stack_truth.sh"
