#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ctr_model.sh with other random settings, thirty times as long: 300 million entries.
top=$(cd "$(dirname "$0")/../.." && pwd)
CTR_ROUNDS=${CTR_ROUNDS:-30000} CTR_SEED=${CTR_SEED:-$((RANDOM + 2))} CTR_TIMEOUT=${CTR_TIMEOUT:-3600} \
	exec "$top/selftests/vsoc/ctr_model.sh"
