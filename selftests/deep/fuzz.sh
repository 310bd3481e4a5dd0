#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=30
# Runs every fuzzer over its committed corpus and then over inputs derived from it with SEED, FUZZ_RUNS in all, under ASAN and UBSAN,
# with limits of memory and of the time of one input. fuzz_detect decodes each input in dozens of ways and gets a tenth. `make fuzz` runs
# the same fuzzers with libFuzzer for a given time.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
runs=${FUZZ_RUNS:-2000}
export ASAN_OPTIONS=hard_rss_limit_mb=1024:max_allocation_size_mb=1024
# gcc's UBSAN does not know the function that keeps the input; the signal does.
export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1

for source in "$top"/selftests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	inputs=$runs corpus=()
	[ "$name" != fuzz_detect ] || inputs=$((runs / 10))
	[ -d "$top/selftests/fuzz/corpus/$name" ] && corpus=("$top/selftests/fuzz/corpus/$name")
	ok "$name finds nothing in $inputs inputs" \
		"$top/build/replay/$name" "$inputs" "${SEED:-1}" "$top/build/replay/$name.input" "${corpus[@]}"
	is "$(tail -n 1 "$tmp/.ok")" "$inputs" "$name ran all inputs"
done

# What runs the fuzzers must find faults, and keep the input.
mkdir "$tmp/faults"
printf '\0\0\0\0' >"$tmp/faults/zeros"
ok "a target with faults" "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DSECONDS=1 \
	"$top/selftests/fuzz/replay.c" "$top/selftests/deep/replay_faults.c" -o "$tmp/target" || done_testing
faulty() { FAULT=$1 "$tmp/target" 100 1 "$tmp/input" "$tmp/faults"; }
is "$(faulty none)" 100 "without a fault it runs"
while read -r fault pattern; do
	rm -f "$tmp/input"
	fails "fault $fault: found" "$pattern" faulty "$fault"
	ok "fault $fault: the input is kept" test "$(stat -c %s "$tmp/input")" -ge 5
done <<'END'
read heap-buffer-overflow
overflow signed integer overflow
abort aborted
memory max_allocation_size_mb|exceeds maximum|allocation-size-too-big
late takes too long
END
fails "fault leak: found" "detected memory leaks" faulty leak
done_testing
