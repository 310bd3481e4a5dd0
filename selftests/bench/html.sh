#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The time that the page of a long recording takes to load in Chromium: two harts in user and kernel, with 10 million control
# transfers (not counting untaken branches). Target: below 2 s. Also the time to make the page, and its size.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-5} wanted=10000000 work=${BENCH_WORK:-40}
"$top/tools/setup/host-packages" browser

truth_load=$top/build/riscv64/selftests/tools/truth_load
cp "$top/build/riscv64/ntrace" "$truth_load" "$tmp/"
guest_run "ntrace record --quiet --sink-size 4M --data-size 256M -o /tmp/ntrace.data -- truth_load $work >/dev/null" \
	--modules --mem 3G --put "$tmp/ntrace:/usr/local/bin/ntrace" --put "$tmp/truth_load:/usr/local/bin/truth_load" \
	--get "/tmp/ntrace.data:$tmp"
mkdir "$tmp/root"
cp -as "$("$top/tools/vsoc/run" --print-sysroot)/." "$tmp/root/"
mkdir -p "$tmp/root/usr/local/bin"
cp "$tmp/ntrace" "$tmp/truth_load" "$tmp/root/usr/local/bin/"

branches=$("$top/build/ntrace" export -f csv --sysroot "$tmp/root" "$tmp/ntrace.data" 2>"$tmp/notes" |
	awk -F, 'NR > 1 { sum += $NF } END { printf "%d", sum }')
if [ "$branches" -lt $wanted ]; then
	echo "  html: a recording with $branches transfers of control, not $wanted (BENCH_WORK=$work makes them)"
	tail -n 3 "$tmp/notes"
	exit 1
fi
start=$EPOCHREALTIME
"$top/build/ntrace" report --sysroot "$tmp/root" --html "$tmp/page.html" "$tmp/ntrace.data" 2>"$tmp/notes"
took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
python3 "$top/selftests/consumers/host/page_load.py" "$tmp/page.html" "$rounds" >"$tmp/out"
of() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/out"; }
# shellcheck disable=SC2046 # numbers
figure html.load "$(median $(of load))" s "$rounds"
# shellcheck disable=SC2046
figure "html.load: the slowest view, when first opened" "$(median $(of view))" s "$rounds"
figure "html.load: size of the page" "$(stat -c %s "$tmp/page.html")" bytes 1
figure "html.load: transfers of control in the recording" "$branches" transfers 1
figure "html.load: to make the page" "$took" s 1
write_figures
