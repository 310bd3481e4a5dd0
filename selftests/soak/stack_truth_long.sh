#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# stack_truth.sh of the consumers with more than 50 million instructions with the kernel, and a third of that without, which
# is the program's own share.
top=$(cd "$(dirname "$0")/../.." && pwd)
export STACK_ROUNDS=${STACK_ROUNDS:-400} STACK_MIN=${STACK_MIN:-50000000} RECORDINGS=consumers-long
exec "$top/selftests/consumers/stack_truth.sh"
