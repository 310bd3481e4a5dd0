#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Speed of reading a tandem trace.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-5}
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -I"$top/lib/include" -o "$tmp/tandem_speed" \
	"$top/selftests/bench/tandem_speed.c" "$top/build/libntrace.a"
"$tmp/tandem_speed" "$rounds" >"$tmp/out"
of() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/out"; }
# shellcheck disable=SC2046 # numbers
figure tandem.read "$(median $(of read))" MB/s "$rounds"
# shellcheck disable=SC2046 # numbers
figure tandem.state "$(median $(of state))" MB/s "$rounds"
write_figures "$1"
