#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Recordings whose recorder was killed, cut at many places: every command says "unfinished recording", and decodes the
# beginning of the trace, as much as there is. guest/record.sh kills a recorder.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
ok "small recordings" small_recordings "$tmp" 1 || done_testing

# unfinished NAME: makes NAME as the recorder leaves it: params of its start, a header of data that was never completed.
unfinished() {
	cp -r "$tmp/r1" "$1"
	sed -i -E 's/^(bytes|lost|gaps|stop_ns) .*/\1 0/; s/^(clock .*)/\1\nunfinished 1/' "$1/params"
	# perf_file_header: magic, size, attr_size, attrs, data, event_types, features.
	python3 -c 'import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(48)
    file.write(bytes(8))
    file.seek(72)
    file.write(bytes(32))' "$1/data"
}
whole=$("$ntrace" report --json --limit 0 "$tmp/r1" | python3 -c 'import json, sys
print(json.load(sys.stdin)["instructions"]["all"])')
unfinished "$tmp/killed"
"$ntrace" decode --level pc "$tmp/r1" >"$tmp/whole.pc" 2>"$tmp/err"
is "$?" 0 "the whole recording"
"$ntrace" decode --level pc "$tmp/killed" >"$tmp/pc" 2>"$tmp/err"
is "$?" 0 "all trace of an unfinished recording: decode"
like "it says so" "killed is an unfinished recording: its recorder was killed or is still running" "$(cat "$tmp/err")"
ok "and decodes the same" cmp "$tmp/whole.pc" "$tmp/pc"

# counted NAME: number of its instructions; the note must be there
counted() {
	"$ntrace" report --json --limit 0 "$1" >"$tmp/json" 2>"$tmp/err"
	python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
assert any("unfinished recording" in note for note in report["notes"]), report["notes"]
print(report["instructions"]["all"])' "$tmp/json"
}
is "$(counted "$tmp/killed")" "$whole" "report: the same instructions"
for command in report decode dump stat check index archive count "export -f json"; do
	cp -r "$tmp/killed" "$tmp/copy"
	words=()
	[ "$command" = count ] && words=(-o "$tmp/counts")
	# shellcheck disable=SC2086 # a command and its options
	"$ntrace" $command "${words[@]}" "$tmp/copy" >"$tmp/out" 2>"$tmp/err"
	like "$command: exit status" "^[0-3]$" "$?"
	case $command in
	dump | stat | check) ;; # of the trace alone
	*) like "$command says it" "unfinished recording" "$(cat "$tmp/out" "$tmp/err")" ;;
	esac
	rm -rf "$tmp/copy"
done

# Cut anywhere, inside messages and frames of zstd: never more than before, and something from the middle on.
for kind in plain zstd; do
	unfinished "$tmp/$kind"
	suffix=
	if [ $kind = zstd ]; then
		for file in "$tmp/$kind"/aux.?; do
			zstd -q --rm "$file"
		done
		sed -i 's/^file .*/&.zst/' "$tmp/$kind/params"
		suffix=.zst
	fi
	size=$(stat -c %s "$tmp/$kind/aux.0$suffix")
	last=$whole
	good=true
	for part in 9 8 7 6 5 4 3 2 1 0; do
		truncate -s $((size * part / 10)) "$tmp/$kind/aux.0$suffix"
		now=$(counted "$tmp/$kind") || good=false
		[ "$now" -le "$last" ] || good=false
		last=$now
	done
	ok "$kind: less trace, fewer instructions" $good
	ok "$kind: the other stream is still there" test "$last" -gt 0 -a "$last" -lt "$whole"
done
# The sideband, too, ends anywhere.
size=$(stat -c %s "$tmp/killed/data")
good=true
for part in 9 8 7 6 5 4 3 2 1; do
	truncate -s $((size * part / 10)) "$tmp/killed/data"
	counted "$tmp/killed" >/dev/null || good=false
done
ok "data is cut" $good
done_testing
