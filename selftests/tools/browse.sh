#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=20
# ntrace browse on raw traces, on a pseudo terminal: screens are compared with ntrace decode. consumers/browse.sh has recordings.
set -uo pipefail
# shellcheck source=selftests/tools/demo_common.sh
. "$(dirname "$0")/demo_common.sh"
make_demo || { done_testing; exit; }
make_timed
make_gap
host=$top/selftests/tools/host

decode() { "$ntrace" decode --level instruction --disassemble --lines --elf "$tmp/demo" "$tmp/$1" 2>/dev/null; }
decode demo.nex >"$tmp/expected"
decode gap.nex >"$tmp/expected.gap"
# Bytes within a function that are no message: what follows them is lost.
{ head -c 44 "$tmp/demo.nex"; printf '\3\3'; tail -c +45 "$tmp/demo.nex"; } >"$tmp/lost.nex"
decode lost.nex >"$tmp/expected.lost"
for src in 0 1; do
	"$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode btm --params srcbits=1 --src $src -o "$tmp/hart$src.nex" >/dev/null
done
cat "$tmp/hart0.nex" "$tmp/hart1.nex" >"$tmp/harts.nex"

# relayed TEXT COMMAND...: lines "ok TEXT" and "failed TEXT" become results.
relayed() {
	local least=$1 count=0 result text
	shift
	timeout 500 "$@" >"$tmp/out" 2>"$tmp/err"
	is $? 0 "${2##*/} ends well" || diag "$(tail -n 30 "$tmp/err" "$tmp/out")"
	while read -r result text; do
		case $result in
		ok) pass "$text"; count=$((count + 1)) ;;
		failed) not_ok "$text" ;;
		*) diag "$result $text" ;;
		esac
	done <"$tmp/out"
	ok "${2##*/}: all tests ran" test "$count" -ge "$least"
}
cp -r "$top/Documentation/tour/words.data" "$tmp/words.data"
relayed 45 /usr/bin/python3 "$host/browse_keys.py" "$ntrace" "$tmp" "${SEED:-1}" "$tmp/words.data"
relayed 1 /usr/bin/python3 "$host/browse_random.py" "${SEED:-1}" 400 "$ntrace" --elf "$tmp/demo" "$tmp/gap.nex"

# What cannot be shown.
"$ntrace" browse --elf "$tmp/demo" "$tmp/demo.nex" </dev/null >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 ntrace: error: ntrace browse needs a terminal: ntrace decode prints to files and pipes" "no terminal"
"$ntrace" browse "$tmp/demo.nex" >"$tmp/out" 2>"$tmp/err"
is "$?" 2 "a raw trace without a program: exit status"
like "a raw trace without a program" "a raw trace needs the program: --elf FILE" "$(cat "$tmp/err")"
"$ntrace" browse --thread 3 --elf "$tmp/demo" "$tmp/demo.nex" >"$tmp/out" 2>"$tmp/err"
like "--thread is for recordings" "apply to recordings only" "$(cat "$tmp/err")"
done_testing
