#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The sums of a recording agree: instructions of report, of csv, and of each place of the program in csv, lcov and gcov.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
small_recordings "$tmp" 3 || not_ok "recordings"
cd "$tmp" || exit 1
ln -s "$top/Documentation" .

for recording in r1 r2 r3 Documentation/tour/words.data; do
	for format in csv lcov gcov; do
		ok "$recording: $format" "$ntrace" export -f $format -o $format $recording 2>$format.err || diag "$(cat $format.err)"
	done
	"$ntrace" report --json $recording >json 2>/dev/null
	same=$(python3 "$small_host/sums.py" json csv lcov gcov.err 2>err)
	like "$recording: $same" '^[1-9][0-9]* executed, [0-9]+ system calls, [1-9][0-9]* lines, 0 differ$' "$same" || diag "$(cat err)"
	awk -F, -v OFS=, 'NR == 2 { $8 += 1 } { print }' csv >falsified
	like "$recording: a false count would show" ' [1-9][0-9]* differ$' "$(python3 "$small_host/sums.py" json falsified lcov gcov.err 2>/dev/null)"
done
done_testing
