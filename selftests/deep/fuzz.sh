#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=30
# Runs every fuzzer over its committed corpus and then over FUZZ_RUNS inputs derived from it with SEED, under ASAN and UBSAN,
# with limits of memory and of the time of one input. fuzz_detect decodes each input in dozens of ways and gets a tenth. `make fuzz` runs for a given time instead.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
runs=${FUZZ_RUNS:-2000}

for source in "$top"/selftests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	mkdir -p "$tmp/$name"
	inputs=$runs
	[ "$name" != fuzz_detect ] || inputs=$((runs / 10))
	corpus=("$tmp/$name")
	[ -d "$top/selftests/fuzz/corpus/$name" ] && corpus+=("$top/selftests/fuzz/corpus/$name")
	ok "$name finds nothing in $inputs inputs" "$top/build/fuzz/$name" -runs="$inputs" -seed="${SEED:-1}" -timeout=60 \
		-rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$tmp/" "${corpus[@]}"
	is "$(awk '/stat::number_of_executed_units/ { print $2 }' "$tmp/.ok.err")" "$inputs" "$name ran all inputs"
done
done_testing
