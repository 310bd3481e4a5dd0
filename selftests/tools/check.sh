#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace check: its output and exit statuses. selftests/lib/test_check.c tests the rules.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode

hex() { printf '%b' "$(sed -E 's/([0-9A-Fa-f]{2}) */\\x\1/g' <<<"$*")"; }

# ProgTraceSync SYNC 5 F-ADDR 0x80; IndirectBranch.
hex 24 15 00 0B FF 10 71 D8 7B >"$tmp/good.nex"
"$ntrace" check "$tmp/good.nex" >"$tmp/out" 2>"$tmp/err"
is $? 0 "a good trace: status 0"
is "$(cat "$tmp/out" "$tmp/err")" "2 messages: 0 errors, 0 warnings, 0 infos" "a good trace: only the totals"
is "$("$ntrace" check - <"$tmp/good.nex")" "$(cat "$tmp/out")" "- is standard input"
is "$(dd if="$tmp/good.nex" conv=swab status=none | { cat; } >"$tmp/swapped.nex"
	truncate -s 8 "$tmp/swapped.nex"; "$ntrace" check --words16 "$tmp/swapped.nex" | tail -n 1)" \
	"1 messages: 0 errors, 1 warnings, 0 infos" "--words16"

# ResourceFull with HIST 0, at offset 4; then cut.
hex 24 15 00 0B 6C 04 03 10 71 >"$tmp/bad.nex"
"$ntrace" check "$tmp/bad.nex" >"$tmp/out"
is $? 1 "findings: status 1"
like "a finding: place, rule, message, field, section" \
	"^0x00000004 error +hist-stop-bit +ResourceFull HIST=0x0: HIST has a stop bit.*\(N-Trace 1\.0, history\)$" "$(sed -n 1p "$tmp/out")"
like "a finding that is no message" "^0x00000007 warning +message-cut " "$(sed -n 2p "$tmp/out")"
is "$(tail -n 1 "$tmp/out")" "2 messages: 1 errors, 1 warnings, 0 infos" "totals"
"$ntrace" check --json "$tmp/bad.nex" >"$tmp/json"
python3 -c '
import json, sys
got = [json.loads(line) for line in sys.stdin]
assert [g["type"] for g in got] == ["finding", "finding", "summary"], got
f = got[0]
assert (f["offset"], f["length"], f["rule"], f["severity"], f["section"], f["tcode"], f["name"], f["field"], f["value"]) == \
    (4, 3, "hist-stop-bit", "error", "N-Trace 1.0, history", 27, "ResourceFull", "HIST", "0x0"), f
assert got[1]["rule"] == "message-cut" and "tcode" not in got[1]
assert got[2] == {"type": "summary", "messages": 2, "errors": 1, "warnings": 1, "infos": 0}' <"$tmp/json"
is $? 0 "--json"

"$ntrace" check --list >"$tmp/list"
is $? 0 "--list: status"
is "$(awk '{ print $1 }' "$tmp/list" | sort | uniq -d)" "" "--list: ids are unique"
is "$("$ntrace" check --list --json | python3 -c '
import json, sys
print("\n".join(json.loads(line)["rule"] for line in sys.stdin))')" "$(awk '{ print $1 }' "$tmp/list")" "--list --json: the same rules"

# Mistakes that an encoder repeats: IndirectBranch without U-ADDR, U-ADDR of 12 bytes, of two SRC.
{
	hex 24 48 05 00 0B 24 44 05 00 0B
	for _ in 1 2 3; do hex 10 08 1F; done
	hex 10 04 1F
	for _ in 1 2; do hex 24 48 05 00 0B 10 08 0D 00 00 00 00 00 00 00 00 00 00 00 07; done
} >"$tmp/repeated.nex"
"$ntrace" check --params srcbits=4 "$tmp/repeated.nex" >"$tmp/out"
is "$(sed 's/:.*//' "$tmp/out" | tr -s ' ')" "0x0000000a error field-missing IndirectBranch SRC=2
0x00000013 error field-missing IndirectBranch SRC=1
0x0000001b error field-oversize IndirectBranch SRC=2
2 more
1 more
10 messages" "a mistake that is repeated: one finding, and a number"
like "the rule and the message of the others" "^2 more: field-missing IndirectBranch SRC=2, the last at 0x00000010
1 more: field-oversize IndirectBranch SRC=2, the last at 0x0000002f
10 messages: 6 errors, 0 warnings, 0 infos$" "$(tail -n 3 "$tmp/out")"
"$ntrace" check --params srcbits=4 --all "$tmp/repeated.nex" >"$tmp/out"
is "$(grep -c '^0x' "$tmp/out") $(grep -c '^[0-9]* more' "$tmp/out")" "6 0" "--all: each"
is "$("$ntrace" check --params srcbits=4 --json "$tmp/repeated.nex" | grep -c '"finding"')" 6 "--json: each"

# Options that state properties of the encoder.
hex 24 48 05 00 0B >"$tmp/src.nex"
"$ntrace" check --params srcbits=4 --sources 0,2-3 "$tmp/src.nex" >"$tmp/out"
is "$? $(grep -c src-undeclared "$tmp/out")" "0 0" "--sources: SRC 2 is one"
"$ntrace" check --params srcbits=4 --sources 0-1,3 "$tmp/src.nex" >"$tmp/out"
is "$? $(grep -c 'src-undeclared.*SRC=2' "$tmp/out")" "1 1" "--sources: SRC 2 is none"
hex 24 15 00 0B 6C 00 00 00 00 43 >"$tmp/wide.nex"
"$ntrace" check "$tmp/wide.nex" >"$tmp/out"
like "I-CNT has 22 bits" "icnt-width" "$(cat "$tmp/out")"
"$ntrace" check --icnt-bits 32 "$tmp/wide.nex" >/dev/null
is $? 0 "--icnt-bits"
hex 28 43 0C 0F 24 15 00 0B >"$tmp/wrapped.nex"
"$ntrace" check "$tmp/wrapped.nex" >/dev/null
is $? 1 "a trace that begins anywhere has findings"
"$ntrace" check --wrapped "$tmp/wrapped.nex" >/dev/null
is $? 0 "--wrapped: it has none"

# ntrace check follows the code of 64 SRC: ProgTraceSync SYNC 5 PC 0x1000 of SRC 0 to 65.
printf '\001\000\001\000' >"$tmp/nops.bin"
python3 -c '
import sys
for src in range(66):
    bits = 9 | src << 6 | 5 << 18
    sys.stdout.buffer.write(bytes((bits >> 6 * i & 63) << 2 for i in range(3)) + bytes([(bits >> 18 & 63) << 2 | 1, 0, 0x83]))' >"$tmp/many.nex"
"$ntrace" check --params srcbits=12 --raw "$tmp/nops.bin@0x1000" "$tmp/many.nex" >"$tmp/out"
is "$? $(grep -oE 'flow-source-limit .*SRC=[0-9]+' "$tmp/out" | sed 's/ .*=/ /' | tr '\n' ' ')" \
	"0 flow-source-limit 64 flow-source-limit 65 " "more than 64 SRC: each is named, and no violation"
"$ntrace" check --params srcbits=12 "$tmp/many.nex" | grep -c flow-source >"$tmp/out"
is "$(cat "$tmp/out")" 0 "but not where there is no code to follow"

# A trace that cannot be checked: exit status neither 0 nor 1.
"$ntrace" check /nonexistent >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out")" "2 " "no such file: status 2"
"$ntrace" check --elf "$ntrace" "$tmp/good.nex" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out")" "2 " "program for another machine: status 2"
"$ntrace" check "$tmp/good.nex" >/dev/full 2>"$tmp/err"
is $? 2 "output that cannot be written: status 2"

# DataAcquisition of SiFive's dialect without its fields; cut.
hex FF 1C 07 FF >"$tmp/sifive.nex"
for params in srcbits=6 srcbits=6,dialect=sifive-v0; do
	name=$("$ntrace" dump --params "$params" --json "$tmp/sifive.nex" 2>/dev/null | sed -n 's/.*"tcode":7,"name":"\([^"]*\)".*/\1/p')
	like "$params: TCODE 7 has dump's name" " $name SRC=1: " "$("$ntrace" check --params "$params" "$tmp/sifive.nex")"
	like "$params: and in JSON" "\"tcode\":7,\"name\":\"$name\"" "$("$ntrace" check --json --params "$params" "$tmp/sifive.nex")"
done
is "$name" DataAcquisition "the dialect's name"

if [ -e "$data/xrle.nex" ]; then
	is "$("$ntrace" check --params mode=htm --elf "$data/xrle.elf" "$data/xrle.nex"; echo $?)" \
		"367 messages: 0 errors, 0 warnings, 0 infos
0" "the reference encoder's stream, against its program"
	{ head -c 1010 "$data/xrle.nex"; hex 54; tail -c +1012 "$data/xrle.nex"; } >"$tmp/flipped.nex"
	"$ntrace" check --elf "$data/xrle.elf" "$tmp/flipped.nex" >"$tmp/out"
	like "a flipped bit contradicts the program" "flow-[a-z-]+ +at 0x" "$(cat "$tmp/out")"
	"$ntrace" check --params xlen=32 "$tmp/flipped.nex" >/dev/null
	is $? 0 "which the messages alone do not show"
	# Streams of ntrace encode from the same PCs, in every mode and with some options.
	zcat "$data/xrle.pcseq.txt.gz" | cut -d, -f1 >"$tmp/pcs"
	for options in "--mode btm" "--mode htm" "--mode htm --implicit-return 8 --repeated-history" \
		"--mode btm --params srcbits=3,extaddr=1" "--mode htm --params alljumps=1"; do
		params=xlen=32
		case $options in *--params*) params=xlen=32,${options##*--params } ;; esac
		# shellcheck disable=SC2086
		"$ntrace" encode --pcs "$tmp/pcs" --elf "$data/xrle.elf" $options -o "$tmp/own.nex" >/dev/null 2>"$tmp/err" ||
			diag "$(cat "$tmp/err")"
		is "$("$ntrace" check --params "$params" --elf "$data/xrle.elf" "$tmp/own.nex" | sed 's/.*messages: //')" \
			"0 errors, 0 warnings, 0 infos" "no finding: encode $options"
	done
else
	skip "the reference encoder's stream" "no $data"
fi
done_testing
