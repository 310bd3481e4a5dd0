#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every fuzzer over its committed corpus and then for some seconds (FUZZ_SECONDS)
# on what it makes of it, under ASAN and UBSAN, with a bound on memory and on the
# time of one input. `make fuzz` does it for as long as one likes.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
seconds=${FUZZ_SECONDS:-5}

for source in "$top"/selftests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	mkdir -p "$tmp/$name"
	corpus=("$tmp/$name")
	[ -d "$top/selftests/fuzz/corpus/$name" ] && corpus+=("$top/selftests/fuzz/corpus/$name")
	ok "$name finds nothing in $seconds s" "$top/build/fuzz/$name" -max_total_time="$seconds" \
		-timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$tmp/" "${corpus[@]}"
	runs=$(awk '/stat::number_of_executed_units/ { print $2 }' "$tmp/.ok")
	diag "$name: ${runs:-0} inputs"
	ok "$name ran more inputs than its corpus has" test "${runs:-0}" -gt "$(find "${corpus[@]}" -type f | wc -l)"
done
done_testing
