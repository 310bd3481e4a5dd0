#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# `ntrace trigger` in the guest, one boot: each thing that it can wait for, and what the dump then
# ends with, by addresses that readelf tells; wrong uses. The guest's half is guest/trigger.sh.
set -uo pipefail
# shellcheck source=selftests/tools/recording_common.sh
. "$(dirname "$0")/recording_common.sh"
steady=$top/build/riscv64/selftests/tools/steady

rc=0
"$top/tools/vsoc/run" --quiet --tools --check-dmesg --put "$top/build/kernel/ntrace/ntrace.ko:/root/ntrace.ko" \
	--put "$steady:/root/steady" --put "$(dirname "$0")/guest/trigger.sh:/root/trigger.sh" --put "$(dirname "$0")/guest/common.sh:/root/common.sh" \
	--get "/root/results:$tmp" -- bash /root/trigger.sh >"$tmp/run" 2>&1 || rc=$?
is "$rc" 0 "the guest's half runs, without warnings of the kernel" || diag "$(tail -n 40 "$tmp/run")"
[ -s "$results/never.rc" ] || done_testing

refused no_module 'no PMU "ntrace": is the module loaded'
refused no_function "/root/steady: no function 'nonsense'"
refused no_file '/root/nothing: No such file'
refused no_permission 'no permission to watch functions: needs root or CAP_PERFMON'
refused no_buffer 'AUX area of 536870912 bytes: not allowed that much memory'
is "$(cat "$results/leftovers")" "" "what was refused leaves nothing"

make_sysroot "$steady"
# Where seldom() is called, as decode shows places.
place=$(riscv64-linux-gnu-objdump -d "$steady" | python3 -c 'import re, sys
text = sys.stdin.read()
start = int(re.search(r"^([0-9a-f]+) <main>:", text, re.M)[1], 16)
calls = re.findall(r"^ *([0-9a-f]+):.*\tjalr?\t.*<seldom>", text, re.M)
print(f"main+0x{int(calls[0], 16) - start:x} [steady]" if len(calls) == 1 else "")')
like "objdump shows one call of seldom()" "^main" "$place"

# calls NAME: how often it is in the dump, and how many instructions its stream has behind the last
calls() {
	"$ntrace" decode --sysroot "$sysroot" --level instruction "$results/$1.data" 2>"$tmp/err" | awk -v place=" $place" '
		/ -- / { next }
		substr($0, length($0) - length(place) + 1) == place { calls++; behind = 0; cpu = $1; next }
		$1 == cpu { behind++ }
		END { print calls + 0, behind + 0 }'
}
# fired NAME STATUS PATTERN: exit status, and what is said
fired() {
	is "$(cat "$results/$1.rc")" "$2" "$1: exit status" || diag "$(cat "$results/$1.err")"
	like "$1: says what came, and what opens it" "$3.*ntrace report $1.data.*ntrace export --format perfetto" \
		"$(tr '\n' ' ' <"$results/$1.err")"
	"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/$1.data" >"$tmp/$1.json" 2>"$tmp/err"
	is "$?" 0 "$1: report opens it" || diag "$(cat "$tmp/err")"
	ok "$1: export makes a timeline" "$ntrace" export --sysroot "$sysroot" --format perfetto --output "$tmp/$1.pftrace" "$results/$1.data"
}
# ends_with NAME CALLS: the dump ends with the call: what is behind it ran until the trace stood,
# and no machine that QEMU makes executes more than 200,000 instructions in a millisecond.
ends_with() {
	local found behind delay
	read -r found behind < <(calls "$1")
	delay=$(sed -nE 's/.* the trace stopped ([0-9.]+) ms later.*/\1/p' "$results/$1.err" | tail -n 1)
	is "$found" "$2" "$1: calls of seldom() in the dump" || diag "$(cat "$tmp/err")"
	ok "$1: $behind instructions behind it, the trace stopped $delay ms later" \
		python3 -c 'import sys; sys.exit(int(sys.argv[1]) > 200000 * (float(sys.argv[2]) + 1))' "$behind" "${delay:-0}"
}
called='seldom\(\) was called in thread [0-9]+: the trace stopped [0-9.]+ ms later'
fired call 0 "$called"
is "$(cat "$results/call.waits")" waits "call: another process that calls it is not waited for"
ends_with call 1
fired command 5 "$called"
ends_with command 1
ok "command: the kernel is in it" test "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["instructions"]["kernel"])' "$tmp/command.json")" -gt 1000
fired twice 0 "$called.*$called.* 2 dumps"
ends_with twice 2
fired slow 0 'seldom\(\) took [1-9][0-9]{2,}\.[0-9]+ ms in thread'
is "$(calls slow | cut -d ' ' -f 1)" 1 "slow: the call is in the dump"
fired signal 139 'signal SEGV in thread'
read -r found behind < <(calls signal)
is "$found" 1 "signal: the call before the crash is in the dump"
ok "signal: and nothing but the crash behind it ($behind instructions)" test "$behind" -lt 50
for name in asked interrupted; do
	fired "$name" 0 ' 1 dump, '
	ok "$name: what ran then is in the dump" test "$(python3 -c 'import json, sys
print(sum(f["instructions"] for f in json.load(open(sys.argv[1]))["functions"] if f["function"] in ("light", "medium", "heavy")))' "$tmp/$name.json")" -gt 10000
done

is "$(cat "$results/fast.rc")" 1 "fast: exit status where no call took so long"
like "fast: says how long they took" 'no call of seldom\(\) took longer: 1 were seen, the longest took [1-9][0-9]{2,}\.' "$(cat "$results/fast.err")"
is "$(cat "$results/never.rc")" 1 "never: exit status"
like "never: says so" 'seldom\(\) was not called' "$(cat "$results/never.err")"
like "never: the end is there" 'never.data has what came before the end' "$(cat "$results/never.err")"
done_testing
