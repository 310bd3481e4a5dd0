#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=60
# Every file that the command writes is there as a whole or not at all: see host/outputs.py.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
small_recordings "$tmp" 1 >"$tmp/log" 2>&1 || not_ok "a recording"
cp -a "$top/Documentation/tour/words.data" "$tmp/tour" || not_ok "a recording with an archive"
# The tests of permissions are made without root's, which has all.
chmod 755 "$tmp"
for name in before_rename faulty_disk shrink_mapped signal_temporary; do
	gcc -shared -fPIC -o "$tmp/$name.so" "$small_host/$name.c" -ldl || not_ok "compiled"
done
while read -r result text; do
	case $result in
	ok) pass "$text" ;;
	failed) not_ok "$text" ;;
	end) is "$text" 0 "all of them were made" ;;
	*) diag "$result $text" ;;
	esac
done < <(python3 "$small_host/outputs.py" "$ntrace" "$tmp" 2>&1; echo "end $?") >"$tmp/results"
cat "$tmp/results"

# Modes of a recording's directory and of one of its files, and of what is written from them.
cp -a "$top/Documentation/tour/words.data" "$tmp/modes" || not_ok "a recording"
umask 022
while read -r directory file expected; do
	chmod "$directory" "$tmp/modes"
	for one in params data aux.0.zst; do
		chmod "$file" "$tmp/modes/$one"
		rm -f "$tmp/out.csv" "$tmp/out.html" "$tmp/out.count"
		"$ntrace" export -f csv -o "$tmp/out.csv" "$tmp/modes" 2>/dev/null
		"$ntrace" report --html "$tmp/out.html" "$tmp/modes" >/dev/null 2>&1
		"$ntrace" count -o "$tmp/out.count" "$tmp/modes" >/dev/null 2>&1
		is "$(stat -c %a "$tmp/out.csv" "$tmp/out.html" "$tmp/out.count" | tr '\n' ' ')" "$expected $expected $expected " \
			"a recording of mode $directory, $one of $file: outputs of $expected"
		chmod 644 "$tmp/modes/$one"
	done
done <<-'END'
	755 644 644
	700 644 600
	750 644 640
	711 644 600
	755 640 640
	755 600 600
END
done_testing
