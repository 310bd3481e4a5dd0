# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2034,SC2154 # of and for recording_common.sh
# report with the recordings of guest/tasks.sh: a program with known calls and instructions (guest/counted.c).
query_with='functions = values[0]["functions"]
def of(name):
    return sorted((f["calls"], f["instructions"]) for f in functions if f["function"] == name and f["object"].endswith("/counted"))'

# reported NAME CHILD: everything that the program did, with or without its child.
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
	is "$(query "$json" "[f for f in functions if f['pid'] < 0][:3]")" "[]" "$1: every instruction belongs to a thread"
	is "$(query "$json" "{f['process'] for f in functions} - {'counted', 'sh', 'ntrace'}")" "set()" "$1: and of these programs"
}
both="[(1, 11), (300, 2100)]"
reported root "$both"
reported btm "$both"
reported thread "[(300, 2100)]"
reported pid "$both"
reported user "$both"
"$ntrace" report --sysroot "$sysroot" --json --limit 0 --by-process "$results/killed.data" >"$tmp/killed.json" 2>"$tmp/err"
is "$(query "$tmp/killed.json" "of('counted'), of('tail'), any('unfinished recording' in note for note in report['notes'])")" \
	"([(1750, 15750)], [(250, 250)], True)" "killed: the trace up to then can be decoded, and it is said"
ok "root: the kernel is in it" test "$(query "$tmp/root.json" "report['instructions']['kernel']")" -gt 100000
is "$(query "$tmp/user.json" "report['instructions']['kernel']")" 0 "user: the kernel is not"
# User addresses have at most 47 bits here; fields of full addresses omit bit 0.
is "$("$ntrace" dump --json "$results/user.data" | python3 -c 'import json, sys
messages = [json.loads(line) for line in sys.stdin]
numbers = [int(str(value), 0) for message in messages for value in [*message.get("fields", {}).values(), message.get("address", 0)]]
print(len(messages) > 500, max(numbers) < 1 << 47)')" "True True" "user: no address of the kernel in any field of any message"

# Each buffer was full once, which is 32,766 bytes: a full buffer has one byte left.
ok "small: more than the buffers of both harts hold" test "$(awk '$1 == "bytes" { sum += $2 } END { print sum }' "$results/small.data/params")" -gt $((2 * 16384))
"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/always.data" >"$tmp/always.json" 2>"$tmp/err"
"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/strobe.data" >"$tmp/strobe.json" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "strobe: report is content"
is "$(query "$tmp/strobe.json" "report['gaps'], len(report['errors'])")" "(0, 0)" "strobe: pauses are no losses"
all=$(query "$tmp/always.json" "report['instructions']['all']") part=$(query "$tmp/strobe.json" "report['instructions']['all']")
ok "strobe: $part of $all instructions" test "$part" -gt $((all / 50)) -a "$part" -lt $((all * 3 / 4))

is "$(awk '$1 == "bytes" && $2 > 65536' "$results/snapshot.data/params")" "" "snapshot: none is larger than the buffer"
ok "snapshot: three, and the buffer had been overwritten" test "$(awk '$1 == "position" && $2 > 65536' "$results/snapshot.data/params" | wc -l)" -ge 2 -a \
	"$(grep -c ^stream "$results/snapshot.data/params")" -ge 3 || diag "$(grep -E '^(stream|bytes|position)' "$results/snapshot.data/params")"
for name in full full_packed; do
	"$ntrace" report --sysroot "$sysroot" --json --limit 1 "$results/$name.data" >"$tmp/$name.json" 2>"$tmp/err"
	ok "$name: what was saved can be decoded" test "$(query "$tmp/$name.json" "report['instructions']['all']")" -gt 100000
	ok "$name: what was lost is said" test "$(query "$tmp/$name.json" "report['lost']['bytes']")" -gt 100000
	is "$(query "$tmp/$name.json" "[note for note in report['notes'] if 'aux.' in note]")" "[]" "$name: the files have what params states"
done
ok "loss: in the recording, too" grep -qE '^gaps [1-9]' "$results/loss.data/params"
"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/loss.data" >"$tmp/loss.json" 2>"$tmp/err"
ok "loss: gaps where it was lost" test "$(query "$tmp/loss.json" "report['gaps']")" -gt 0
ok "loss: and trace between them" test "$(query "$tmp/loss.json" "report['instructions']['all']")" -gt 1000
