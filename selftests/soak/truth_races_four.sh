#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# truth_races.sh with four harts: more threads than the processors of a small host.
top=$(cd "$(dirname "$0")/../.." && pwd)
export TRUTH_HARTS=${TRUTH_HARTS:-4}
exec "$top/selftests/tools/truth_races.sh"
