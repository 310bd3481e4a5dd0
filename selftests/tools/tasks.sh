#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# `ntrace record` of tasks, through perf, in the guest, one boot: a command with
# its children, a process that runs already, one thread, an unprivileged user;
# and what report says of a program whose calls and instructions are known
# (guest/counted.c). The guest's half is guest/tasks.sh.
set -uo pipefail
# shellcheck source=selftests/tools/recording_common.sh
. "$(dirname "$0")/recording_common.sh"

rc=0
"$top/tools/vsoc/run" --quiet --tools --modules --check-dmesg --put "$counted:/root/counted" \
	--put "$(dirname "$0")/guest/tasks.sh:/root/tasks.sh" --put "$(dirname "$0")/guest/common.sh:/root/common.sh" --get "/root/results:$tmp" -- bash /root/tasks.sh >"$tmp/run" 2>&1 || rc=$?
is "$rc" 0 "the guest's half runs, without warnings of the kernel" || diag "$(tail -n 40 "$tmp/run")"
[ -s "$results/aux.count" ] || done_testing

# ended NAME STATUS PATTERN
ended() {
	is "$(cat "$results/$1.rc")" "$2" "$1: exit status" || diag "$(cat "$results/$1.err")"
	is "$(wc -l <"$results/$1.err")" 1 "$1: one line" || diag "$(cat "$results/$1.err")"
	like "$1: says what" "$3" "$(cat "$results/$1.err")"
}
ended root 7 'trace from 2 harts in .* nothing lost.*ntrace report root.data'
ended btm 7 'trace from 2 harts, user space only, in .* nothing lost'
ended thread 7 'trace from 1 threads in .* nothing lost'
ended pid 0 'trace from 2 harts in .* nothing lost'
ended gone 1 'no process'
ended forbidden 1 'no permission.*perf_event_paranoid is 3'
ended user 7 'trace from 2 harts, user space only, in .* nothing lost'
ended kernel 1 'no permission.*with the kernel.*paranoid is 2'
ended init 1 'no permission to trace process 1 '
is "$(cd "$results" && ls -d gone.data forbidden.data kernel.data init.data 2>/dev/null)" "" "a refused recording leaves no directory"
like "stock perf sees records of the AUX areas" '^[1-9]' "$(cat "$results/aux.count")"

make_sysroot "$counted"
query() { python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
functions = report["functions"]
def of(name):
    return sorted((f["calls"], f["instructions"]) for f in functions if f["function"] == name and f["object"].endswith("/counted"))
print(eval(sys.argv[2]))' "$1" "$2"; }

# reported NAME CHILD: everything that the program did, with its child or without.
reported() {
	local json=$tmp/$1.json
	"$ntrace" report --sysroot "$sysroot" --json --limit 0 --by-process "$results/$1.data" >"$json" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "$1: report is content"
	is "$(query "$json" "report['gaps'], len(report['errors']), report['lost']['bytes']")" "(0, 0, 0)" "$1: the trace is whole" ||
		diag "$(query "$json" "report['errors'], report['notes']")"
	is "$(query "$json" "of('counted'), of('tail'), of('recursive')")" "([(1750, 15750)], [(250, 250)], [(101, 802)])" \
		"$1: calls and instructions of one process"
	is "$(query "$json" "of('twice')")" "$2" "$1: calls of parent and child"
	is "$(query "$json" "sum(f['instructions'] for f in functions) == report['instructions']['all']")" True \
		"$1: the functions sum up to the total"
	is "$(query "$json" "[f for f in functions if f['pid'] < 0][:3]")" "[]" "$1: every instruction is somebody's"
	is "$(query "$json" "{f['process'] for f in functions} - {'counted', 'sh', 'ntrace'}")" "set()" "$1: and of these programs"
}
both="[(1, 11), (300, 2100)]"
reported root "$both"
reported btm "$both"
reported thread "[(300, 2100)]"
reported pid "$both"
reported user "$both"
ok "root: the kernel is in it" test "$(query "$tmp/root.json" "report['instructions']['kernel']")" -gt 100000
is "$(query "$tmp/user.json" "report['instructions']['kernel']")" 0 "user: the kernel is not"
# Addresses of user space have 47 bits at most here; fields of full addresses lack bit 0.
is "$("$ntrace" dump --json "$results/user.data" | python3 -c 'import json, sys
messages = [json.loads(line) for line in sys.stdin]
numbers = [int(str(value), 0) for message in messages for value in [*message.get("fields", {}).values(), message.get("address", 0)]]
print(len(messages) > 500, max(numbers) < 1 << 47)')" "True True" "user: no address of the kernel in any field of any message"

ok "small: more than the buffers of both harts hold" test "$(awk '$1 == "bytes" { sum += $2 } END { print sum }' "$results/small.data/params")" -gt $((2 * 16384))
ended strobe 0 'nothing lost'
"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/always.data" >"$tmp/always.json" 2>"$tmp/err"
"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/strobe.data" >"$tmp/strobe.json" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "strobe: report is content"
is "$(query "$tmp/strobe.json" "report['gaps'], len(report['errors'])")" "(0, 0)" "strobe: what was off is no loss"
all=$(query "$tmp/always.json" "report['instructions']['all']") part=$(query "$tmp/strobe.json" "report['instructions']['all']")
ok "strobe: $part of $all instructions" test "$part" -gt $((all / 50)) -a "$part" -lt $((all * 3 / 4))

is "$(cat "$results/snapshot.rc")" 7 "snapshot: exit status"
is "$(awk '$1 == "bytes" && $2 > 65536' "$results/snapshot.data/params")" "" "snapshot: none is larger than the buffer"
ok "snapshot: three, and the buffer had been overwritten" test "$(awk '$1 == "position" && $2 > 65536' "$results/snapshot.data/params" | wc -l)" -ge 2 -a \
	"$(grep -c ^stream "$results/snapshot.data/params")" -ge 3 || diag "$(grep -E '^(stream|bytes|position)' "$results/snapshot.data/params")"
like "loss: said" 'warning: trace lost in [0-9]+ places' "$(cat "$results/loss.err")"
ok "loss: in the recording, too" grep -qE '^gaps [1-9]' "$results/loss.data/params"
"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/loss.data" >"$tmp/loss.json" 2>"$tmp/err"
ok "loss: gaps where it was lost" test "$(query "$tmp/loss.json" "report['gaps']")" -gt 0
ok "loss: and trace between them" test "$(query "$tmp/loss.json" "report['instructions']['all']")" -gt 1000
done_testing
