# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # of recording_common.sh
# The last addresses of the recordings of guest/trigger.sh, compared with readelf's addresses.
steady=$top/build/riscv64/selftests/tools/steady
# The call of seldom(), in decode's notation.
place=$(riscv64-linux-gnu-objdump -d "$steady" | python3 -c 'import re, sys
text = sys.stdin.read()
start = int(re.search(r"^([0-9a-f]+) <main>:", text, re.M)[1], 16)
calls = re.findall(r"^ *([0-9a-f]+):.*\tjalr?\t.*<seldom>", text, re.M)
print(f"main+0x{int(calls[0], 16) - start:x} [steady]" if len(calls) == 1 else "")')
like "objdump shows one call of seldom()" "^main" "$place"

# calls NAME: the number of calls in the recording, and the number of instructions in its stream after the last one
calls() {
	"$ntrace" decode --sysroot "$sysroot" --level instruction "$results/$1.data" 2>"$tmp/err" | awk -v place=" $place" '
		/ -- / { next }
		substr($0, length($0) - length(place) + 1) == place { calls++; behind = 0; cpu = $1; next }
		$1 == cpu { behind++ }
		END { print calls + 0, behind + 0 }'
}
# opens NAME
opens() {
	"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/$1.data" >"$tmp/$1.json" 2>"$tmp/err"
	is "$?" 0 "$1: report opens it" || diag "$(cat "$tmp/err")"
	ok "$1: export makes a timeline" "$ntrace" export --sysroot "$sysroot" --format perfetto --output "$tmp/$1.pftrace" "$results/$1.data"
}
# ends_with NAME CALLS: the recording ends with the call; the instructions after it ran until the trace stopped.
# With -icount, both harts together execute a million instructions in a millisecond.
ends_with() {
	local found behind delay
	read -r found behind < <(calls "$1")
	delay=$(sed -nE 's/.* the trace stopped ([0-9.]+) ms later.*/\1/p' "$results/$1.err" | tail -n 1)
	is "$found" "$2" "$1: calls of seldom() in the dump" || diag "$(cat "$tmp/err")"
	ok "$1: $behind instructions after it, the trace stopped $delay ms later" \
		python3 -c 'import sys; sys.exit(int(sys.argv[1]) > 1000000 * (float(sys.argv[2]) + 0.1))' "$behind" "$delay"
}
for name in call command twice slow signal asked interrupted; do
	opens $name
done
ends_with call 1
ends_with command 1
ok "command: the kernel is in it" test "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["instructions"]["kernel"])' "$tmp/command.json")" -gt 1000
ends_with twice 2
is "$(calls slow | cut -d ' ' -f 1)" 1 "slow: the call is in the dump"
read -r found behind < <(calls signal)
is "$found" 1 "signal: the call before the crash is in the dump"
ok "signal: and nothing but the crash after it ($behind instructions)" test "$behind" -lt 50
for name in asked interrupted; do
	ok "$name: what ran then is in the dump" test "$(python3 -c 'import json, sys
print(sum(f["instructions"] for f in json.load(open(sys.argv[1]))["functions"] if f["function"] in ("light", "medium", "heavy")))' "$tmp/$name.json")" -gt 10000
done
