#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# test_isa_llvm with a million 32-bit words for each XLEN.
top=$(cd "$(dirname "$0")/../.." && pwd)
WORDS=${WORDS:-1000000} exec "$top/build/selftests/lib/test_isa_llvm"
