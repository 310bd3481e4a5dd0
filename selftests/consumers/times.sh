#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Durations in ntrace report and in its page, compared with the guest's own clock.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ok "trace a program of two threads, with timestamps" record_timed || done_testing
report() { (cd "$timed" && "$top/build/ntrace" report --sysroot "$timed_root" "$@" recording); }
report_json() { report --json --limit 0 >"$tmp/report.json"; }
ok "report --json" report_json
# The times at which the kernel switched the threads.
perf script -i "$timed/recording/data" --ns --show-switch-events 2>/dev/null >"$tmp/switches"
times() { python3 selftests/consumers/host/times.py "$tmp/report.json" "$1" "$2"; }
relay "times" times "$timed/said" "$tmp/switches"
# A wrong clock must be detected.
awk '{ print $1, $2 * 1.02 }' "$timed/said" >"$tmp/said"
is "$(times "$tmp/said" "$tmp/switches" | grep -c '^not ok.*callees')" 2 "a clock that is 2 % off is noticed"
perl -pe 's/ (\d+\.\d+): PERF/sprintf(" %.9f: PERF", $1 * 0.98)/e' "$tmp/switches" >"$tmp/fast"
is "$(times "$timed/said" "$tmp/fast" | grep -c '^not ok.*thread ran')" 2 "so is a kernel with one that is 2 % too fast"

# System calls, page faults and interrupts of the timer change no sum.
same=$(python3 selftests/tools/host/sums.py build/ntrace "$tmp" plain --sysroot "$timed_root" "$timed/recording" 2>"$tmp/wrong")
like "all outputs have the same sums: $same" '^[1-9][0-9]* executed, [1-9][0-9]* trapped, [1-9][0-9]* lines, 0 differ$' "$same" || diag "$(cat "$tmp/wrong")"

report --user --sort total-time --limit 12 >"$tmp/text"
like "the report says what its times are" "time +[0-9.]+ m?s on 1 CPU, by [0-9,]+ time stamps; ~ is interpolated" "$(cat "$tmp/text")"
order=$(awk '/ function$/ { on = 1; next } on && ($NF == "long_work" || $NF == "short_work") { print $NF, ($0 ~ /~[0-9.]+ [mu]?s/) }' "$tmp/text")
is "$order" $'long_work 1\nshort_work 1' "sorted by time with callees, each marked as interpolated"
like "threads and CPUs" "~[0-9.]+ m?s +0 +[0-9]+ +[0-9]+  long_work" "$(report --by-thread)"
for key in self total calls time total-time name object; do
	report --user --json --limit 0 --sort $key >"$tmp/$key.json"
done
ok "every order has the same functions, in order" python3 selftests/consumers/host/orders.py "$tmp"/{self,total,calls,time,total-time,name,object}.json
fails "no such order" "--sort: 'size' is not one of self, total" report --sort size
fails "totals are not known by process" "total is not known per process" report --sort total --by-process

report --html "$tmp/page.html"
if ! tools/setup/host-packages browser >"$tmp/found" 2>&1; then
	skip "the page in Chromium" "no chromium to be had: $(tail -n 1 "$tmp/found")"
	done_testing
fi
relay "page" python3 selftests/consumers/host/page_times.py "$tmp/page.html" "$tmp/report.json"
done_testing
