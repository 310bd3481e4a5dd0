#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The speed of reports and exports of a recording of Linux, on one core: the script of `make demo` (bash, two harts, kernel and
# processes, HTM), repeated until about 1,000 million instructions are executed. In instructions of the recording per second
# of processor time. The counts are compared with those of a walk.
#
# BENCH_LINUX_RECORDING, with BENCH_LINUX_SYSROOT, is used instead of a new recording.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-3} repeats=${BENCH_LINUX_REPEATS:-4}

if [ -n "${BENCH_LINUX_RECORDING:-}" ]; then
	recording=$BENCH_LINUX_RECORDING sysroot=$BENCH_LINUX_SYSROOT
else
	sed -n "/^cat .*words.sh/,/^END/p" "$top/tools/demo" | sed '1d;$d' >"$tmp/words.sh"
	for ((i = 0; i < repeats; i++)); do echo '. ./words.sh'; done >"$tmp/all.sh"
	"$top/tools/vsoc/run" --quiet --smp 2 --timeout 1200 --modules --tools --mem 3G --put "$tmp/words.sh:/root/words.sh" \
		--put "$tmp/all.sh:/root/all.sh" --get "/root/ntrace.data:$tmp" -- \
		sh -c 'cd /root && ntrace record --quiet --all -- bash all.sh' >/dev/null
	recording=$tmp/ntrace.data sysroot=$tmp/sysroot
	guest=$("$top/tools/vsoc/run" --print-sysroot)
	mkdir -p "$sysroot/usr/local/bin"
	ln -s "$guest"/* "$sysroot/" 2>/dev/null || true
	ln -s "$guest"/usr/* "$sysroot/usr/" 2>/dev/null || true
	ln -s "$top/build/riscv64/ntrace" "$sysroot/usr/local/bin/ntrace"
fi
options=(--sysroot "$sysroot")
firmware=$("$top/tools/vsoc/run" --print-firmware-elf 2>/dev/null || true)
[ -z "$firmware" ] || options+=(--firmware "$firmware@0x80000000")

# run NAME COMMAND...: adds the user and system seconds of the command to $tmp/NAME
run() {
	local name=$1 status=0
	shift
	TIMEFORMAT='%U %S'
	{ time "$top/build/ntrace" "$@" >/dev/null 2>"$tmp/errors" || status=$?; } 2>"$tmp/time"
	if [ $status != 0 ] && [ $status != 3 ]; then
		sed 's/^/  linux: /' "$tmp/errors"
		exit 1
	fi
	awk '{ print $1 + $2 }' "$tmp/time" >>"$tmp/$name"
}
instructions=$("$top/build/ntrace" report "${options[@]}" --by-process --json "$recording" 2>/dev/null | python3 -c 'import json, sys
print(json.load(sys.stdin)["instructions"]["all"])')
measure_ruler
for ((i = 0; i < rounds; i++)); do
	run report report "${options[@]}" "$recording"
	run html report "${options[@]}" --html "$tmp/page.html" "$recording"
	run perfetto export "${options[@]}" -f perfetto -o "$tmp/trace.pftrace" "$recording"
	run profgen export "${options[@]}" -j 1 -f profgen -b bash -o "$tmp/bash.profile" "$recording"
	run count count "${options[@]}" -j 1 -o "$tmp/counts" "$recording"
done
# rate_of COMMAND LEAST
rate_of() {
	local each
	mapfile -t each < <(awk -v n="$instructions" '{ print n / $1 / 1e6 }' "$tmp/$1")
	rate "$1.linux" "$(median "${each[@]}")" "million a second" "$rounds" "$2"
}
rate_of report 300
rate_of html 200
rate_of perfetto 150
rate_of profgen 1000
rate_of count 1250
figure "linux: instructions of the recording" "$instructions" instructions 1

# A part of the trace is walked, even if the part is everything.
"$top/build/ntrace" export "${options[@]}" -j 1 -f csv -o "$tmp/counted" "$recording" 2>/dev/null
"$top/build/ntrace" export "${options[@]}" -f csv --no-index --offset 0,9000000000000000000 -o "$tmp/walked" "$recording" 2>/dev/null
if ! cmp "$tmp/counted" "$tmp/walked"; then
	echo "  linux: counts differ from those of a walk"
	exit 1
fi
figure "count.linux: entries, equal to those of a walk" "$(wc -l <"$tmp/counted")" entries 1
write_figures
