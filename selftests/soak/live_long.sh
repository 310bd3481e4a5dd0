#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# test_live with forty times as many ways to cut a recording and to lose parts of it.
top=$(cd "$(dirname "$0")/../.." && pwd)
CUTS=${CUTS:-4000} exec "$top/build/selftests/lib/test_live"
