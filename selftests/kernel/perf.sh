#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The PMU "ntrace" in the guest: tasks between harts, their children, full and
# overwritten AUX areas, who may trace what; an empty kernel log. What the guest
# has traced is decoded here: how often a function was called is known.
# shellcheck source=selftests/kernel/perf_common.sh
. "$(dirname "$0")/perf_common.sh"
guest_part perf

for test in plain drain fork; do
	dir=$tmp/traced/$test
	executed "$dir"
	is "steps $count" "$(cat "$dir/steps")" "$test: each step is in the trace"
	is "$(head -n 3 "$tmp/wrong")" "" "$test: and nothing that is not this program's"
	is "$(awk '$3 != 0' "$dir/flags" | head -n 3)" "" "$test: no record is truncated"
	ok "$test: trace from both harts" test -s "$dir/0.nex" -a -s "$dir/1.nex"
done
for test in pause resume; do
	dir=$tmp/traced/$test
	executed "$dir"
	is "steps $count" "$(cat "$dir/steps")" "$test: by a page fault: the steps on one side of it"
	is "$(head -n 3 "$tmp/wrong")$(awk '$3 != 0' "$dir/flags")" "" "$test: nothing is wrong or truncated"
done
ok "drain: more than the AUX area" test "$(cat "$tmp"/traced/drain/?.nex | wc -c)" -gt 9000000
dir=$tmp/traced/snapshot
is "$(stat -c %s "$dir/0.nex")" 65536 "snapshot: as much as the AUX area holds"
executed "$dir"
ok "snapshot: $count steps in it" test "$count" -gt 10000
ok "snapshot: decoded from the first sync to the end" test "$(wc -l <"$tmp/wrong")" -le 4 || diag "$(tail -n 3 "$tmp/wrong")"
done_testing
