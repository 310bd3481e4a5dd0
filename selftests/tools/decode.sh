#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# dump and decode of a raw trace from the reference encoder, compared with the reference tool's dump and the program's PC
# sequence.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode

[ -e "$data/xrle.nex" ] || skip_all "no $data/xrle.nex"

# The reference dump, as "TCODE name field=value ..." with values in decimal.
zcat "$data/xrle.dump.txt.gz" | python3 -c '
import re, sys
line = ""
for text in sys.stdin:
    head = re.search(r"TCODE\[6\]=(\d+) \(MSG #\d+\) - (\w+)", text)
    if head:
        if line: print(line)
        line = head.group(1) + " " + head.group(2)
        rcode = None
    for name, value in re.findall(r"(\w+)\[\d+\]=(0x[0-9A-Fa-f]+)", text):
        if name == "TCODE": continue
        if name == "RCODE": rcode = int(value, 16)
        # It calls the first field of every ResourceFull RDATA.
        if name == "RDATA": name = ["ICNT", "HIST", "HIST"][rcode]
        line += " %s=%d" % (name, int(value, 16))
if line: print(line)' >"$tmp/expected.dump"
"$ntrace" dump --params xlen=32 --json "$data/xrle.nex" >"$tmp/dump.json"
is $? 0 "dump: exit status"
python3 -c '
import json, sys
for text in sys.stdin:
    message = json.loads(text)
    fields = " ".join("%s=%d" % (k, int(str(v), 0)) for k, v in message["fields"].items())
    print(message["tcode"], message["name"], fields)' <"$tmp/dump.json" >"$tmp/got.dump"
ok "the reference dump has messages" test "$(wc -l <"$tmp/expected.dump")" -gt 300
ok "dump --json: every field of every message as in the reference dump" diff "$tmp/expected.dump" "$tmp/got.dump"
"$ntrace" dump --params xlen=32 "$data/xrle.nex" >"$tmp/dump.txt"
sed -E 's/^0x[0-9a-f]+ +[0-9]+ +//; s/\([^)]*\)//g; s/ (->|\[|\|).*//; s/ +/ /g' "$tmp/dump.txt" |
	python3 -c '
import re, sys
for line in sys.stdin:
    print(re.sub(r"=(\w+)", lambda m: "=%d" % int(m.group(1), 0), line.rstrip()))' >"$tmp/got.text"
ok "dump: the same as text" diff "$tmp/expected.dump" "$tmp/got.text"
is "$(sed 's/.*| //' "$tmp/dump.txt" | tr -d ' \n')" "$(od -An -v -tx1 "$data/xrle.nex" | tr -d ' \n')" \
	"dump: the bytes are those of the file"

zcat "$data/xrle.pcseq.txt.gz" | cut -d, -f1 | tr 'A-FX' 'a-fx' >"$tmp/expected.pc"
"$ntrace" decode --level pc --elf "$data/xrle.elf" "$data/xrle.nex" >"$tmp/got.pc" 2>"$tmp/err"
is $? 0 "decode: exit status of a whole trace"
is "$(cat "$tmp/err")" "" "decode: nothing on stderr"
ok "decode --level pc: the program's PC sequence" cmp "$tmp/expected.pc" "$tmp/got.pc"
"$ntrace" decode --level instruction --elf "$data/xrle.elf" "$data/xrle.nex" | grep -v '^--' | cut -d' ' -f1 >"$tmp/got.insn"
ok "decode --level instruction: the same" cmp "$tmp/expected.pc" "$tmp/got.insn"
"$ntrace" decode --elf "$data/xrle.elf" "$data/xrle.nex" >"$tmp/blocks"
is "$(awk '!/^--/ { sum += $2 } END { print sum }' "$tmp/blocks")" "$(wc -l <"$tmp/expected.pc")" \
	"decode --level block: as many instructions"

# Taken transfers, derived from the PC sequence alone.
awk -F, '{
	pc = tolower($1)
	value = 0
	for (i = 3; i <= length(pc); i++) value = value * 16 + index("0123456789abcdef", substr(pc, i, 1)) - 1
	if (NR > 1 && value != expected) print last " -> " pc
	last = pc
	expected = value + substr($2, length($2))
}' <(zcat "$data/xrle.pcseq.txt.gz" | tr -d '\r') >"$tmp/expected.branches"
# The sequence ends with a call whose target is unknown.
"$ntrace" decode --level branch --elf "$data/xrle.elf" "$data/xrle.nex" | grep -v '^--' >"$tmp/all.branches"
grep -v ' branch not taken ' "$tmp/all.branches" | cut -d' ' -f1-3 |
	sed "\${/^$(tail -n 1 "$tmp/expected.pc") /d}" >"$tmp/got.branches"
ok "decode --level branch: every taken transfer, no other" diff "$tmp/expected.branches" "$tmp/got.branches"

is "$(grep ' branch not taken ' "$tmp/all.branches" | cut -d' ' -f1)" \
	"$(zcat "$data/xrle.pcseq.txt.gz" | tr -d '\r' | sed -nE 's/,BN.*//p' | tr 'A-FX' 'a-fx')" \
	"decode --level branch: every branch that was not taken"

# JSON has the same contents as the text.
json() { "$ntrace" decode --json --level "$1" --elf "$data/xrle.elf" "$data/xrle.nex" | python3 -c "
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    if e['type'] == '$1': print($2)"; }
ok "decode --json --level instruction" cmp <(json instruction "e['address']") "$tmp/expected.pc"
ok "decode --json --level branch" cmp <(json branch "e['from'], '->', e['to'], e['class'], e['taken']") \
	<(sed -E 's/(branch taken|branch not taken) .*/\1/; s/branch taken/branch True/; s/branch not taken/branch False/
		/branch (True|False)$/!s/^(\S+ -> \S+) (\S+( \S+)*)  +.*/\1 \2 True/' "$tmp/all.branches")
ok "decode --json --level block" cmp <(json block "e['address'], e['last'], e['instructions']") \
	<(sed -nE 's/^(0x[0-9a-f]+)-(0x[0-9a-f]+) +([0-9]+) .*/\1 \2 \3/p' "$tmp/blocks")
ok "decode --level message: what dump shows" cmp <("$ntrace" decode --level message --params xlen=32 "$data/xrle.nex") "$tmp/dump.txt"

# Forms of input.
"$ntrace" decode --level pc --elf "$data/xrle.elf" - <"$data/xrle.nex" | cmp - "$tmp/expected.pc"
is $? 0 "- is standard input"
dd if="$data/xrle.nex" of="$tmp/swapped.nex" conv=swab status=none
"$ntrace" decode --level pc --words16 --elf "$data/xrle.elf" "$tmp/swapped.nex" | cmp - "$tmp/expected.pc"
is $? 0 "--words16"
# The program's memory as plain bytes, one file for each segment.
raw=()
while read -r offset address size; do
	dd if="$data/xrle.elf" of="$tmp/$address.bin" bs=1 skip=$((offset)) count=$((size)) status=none
	raw+=(--raw "$tmp/$address.bin@$address")
done < <(readelf -lW "$data/xrle.elf" | awk '$1 == "LOAD" && $5 != "0x00000" { print $2, $3, $5 }')
"$ntrace" decode --level pc --params xlen=32 "${raw[@]}" "$data/xrle.nex" | cmp - "$tmp/expected.pc"
is $? 0 "--raw FILE@ADDR in place of --elf"

# Two harts in one trace, with alternating messages; the second trace is cut.
for src in 1 2; do
	"$ntrace" encode --pcs <(head -n $((160000 / src)) "$tmp/expected.pc") --elf "$data/xrle.elf" --mode htm \
		--params srcbits=2 --src "$src" -o "$tmp/src$src.nex" >"$tmp/err" 2>&1 || diag "$(cat "$tmp/err")"
	"$ntrace" dump --json --params srcbits=2,xlen=32 "$tmp/src$src.nex" >"$tmp/src$src.json"
done
python3 - "$tmp/src1.json" "$tmp/src2.json" >"$tmp/two.nex" <<-'END'
	import itertools, json, sys
	lists = [[bytes.fromhex(json.loads(line)["bytes"]) for line in open(path)] for path in sys.argv[1:]]
	for pair in itertools.zip_longest(*lists, fillvalue=b""):
	    sys.stdout.buffer.write(b"".join(pair))
END
two() { "$ntrace" decode --params srcbits=2 --elf "$data/xrle.elf" "$@" "$tmp/two.nex"; }
for src in 1 2; do
	two --level pc --src "$src" 2>"$tmp/err" | cmp - <(head -n $((160000 / src)) "$tmp/expected.pc")
	is "$? $(cat "$tmp/err")" "0 " "two SRC: --src $src"
	two --level instruction | sed -nE "s/^\[src $src\] (0x[0-9a-f]+).*/\1/p" | cmp - <(head -n $((160000 / src)) "$tmp/expected.pc")
	is $? 0 "two SRC at once: the lines of SRC $src name it"
done
is "$(two --level block --json | python3 -c '
import json, sys
total = {}
for line in sys.stdin:
    e = json.loads(line)
    if e["type"] == "block": total[e["src"]] = total.get(e["src"], 0) + e["instructions"]
print(total)')" "{1: 160000, 2: 80000}" "two SRC at once: JSON has the SRC"
two --level pc >"$tmp/out" 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err")" "2 1" "two SRC at the PC level: wrong use"
like "and it says what to do" "SRC 1 and 2: choose with --src" "$(cat "$tmp/err")"

# c.nop, c.beqz, c.nop twice; ResourceFull I-CNT 4: two parcels retired after the branch, whose outcome no message reports.
printf '\x01\x00\x01\xc1\x01\x00\x01\x00' >"$tmp/tail.bin"
printf '\x24\x0d\x00\x83\x6c\x00\x07' >"$tmp/tail.nex"
"$ntrace" decode --level block --params mode=htm --raw "$tmp/tail.bin@0x1000" "$tmp/tail.nex" >"$tmp/out" 2>/dev/null
is "$?" 3 "an end with instructions that are not shown: exit status"
like "and how many" "where this branch went; at least 1 more instructions retired at 0x0+1002" "$(cat "$tmp/out")"

# c.nop and c.beqz, twice, then nops; Correlation with I-CNT 6 and the history of one branch: no
# message reports the second branch.
printf '\x01\x00\x01\xc1\x01\x00\x01\xc1\x01\x00\x01\x00' >"$tmp/ahead.bin"
printf '\x24\x0d\x00\x83\x84\x50\x19\x0b' >"$tmp/ahead.nex"
"$ntrace" decode --level instruction --params mode=htm --raw "$tmp/ahead.bin@0x1000" "$tmp/ahead.nex" >"$tmp/out" 2>/dev/null
is "$?" 3 "HIST ends inside an I-CNT: exit status"
is "$(grep -oE '^0x[0-9a-f]+' "$tmp/out" | tr '\n' ' ')" \
	"0x0000000000001000 0x0000000000001002 0x0000000000001004 0x0000000000001006 " "the flow is known up to and with the next branch"
like "and that its direction is missing" "no HIST bit says where this branch went at 0x0+1006" "$(cat "$tmp/out")"
ahead() { "$ntrace" decode --level block --params mode=htm --raw "$tmp/ahead.bin@0x1000" "$@" "$tmp/ahead.nex" 2>/dev/null; }
is "$(ahead | grep -oE 'branch (taken|not taken|unknown)')" "branch not taken
branch unknown" "--level block: the direction of the second branch is unknown"
is "$(ahead --json | sed -n '/"block"/s/.*"class":"branch",\(.*\),"interrupted".*/\1/p; /"block"/s/.*"class":"branch","interrupted".*/absent/p')" \
	'"taken":false
absent' "--json: the second branch has no member taken"
like "a gap follows it" "gap at 0x0+1006" "$(cat "$tmp/out")"

# Time and context: SYNC 5 PC 0x1000 TSTAMP 10; Ownership scontext 5 U, TSTAMP +5; FORMAT 3 hcontext 6 VU;
# Correlation ICNT 2, EVCODE 4; Error ETYPE 0 ECODE 4; SYNC 7 without a time, so that the next one is a new start.
printf '\001\000\001\000\001\000\001\000' >"$tmp/nops.bin"
printf '%b' '\x24\x15\x00\x81\x2b' '\x08\x88\x09\x17' '\x08\x4c\x0d\x07' '\x20\x00\x05\x07' '\x24\x1d\x00\x83' \
	'\x84\x10\x0b' >"$tmp/timed.nex"
timed() { "$ntrace" decode --raw "$tmp/nops.bin@0x1000" "$@" "$tmp/timed.nex" 2>"$tmp/err"; }
timed >"$tmp/out"
is "$? $(sed 's/ (offset.*//; s/ *$//' "$tmp/out")" "3           10: -- sync: trace enable (SYNC 5) at 0x0000000000001000 [nops.bin]
          15: -- ownership: privilege U, scontext 0x5, PROCESS=0xa2
          16: -- ownership: privilege VU, scontext 0x5, hcontext 0x6, PROCESS=0xd3
          17: -- error: the encoder lost trace, queue overrun (ETYPE 0), ECODE 0x4 at 0x0000000000001000 [nops.bin]
          17: -- gap at 0x0000000000001000 [nops.bin]
           ?: -- sync: FIFO overrun (SYNC 7) at 0x0000000000001000 [nops.bin]
           ?: 0x0000000000001000-0x0000000000001002    2 interrupted          [nops.bin]
           ?: -- trace off: trace disable (EVCODE 4) at 0x0000000000001004 [nops.bin]" "time stamps and contexts as text"
timed --json >"$tmp/out"
python3 -c '
import json, sys
e = [json.loads(line) for line in sys.stdin]
assert [x.get("time") for x in e] == ["0xa", "0xf", "0x10", "0x11", "0x11", None, None, None], e
assert (e[0]["detail"], e[0]["code"]) == ("trace enable", 5), e[0]
assert (e[1]["prv"], e[1]["scontext"], "hcontext" in e[1]) == ("U", "0x5", False), e[1]
assert (e[2]["prv"], e[2]["scontext"], e[2]["hcontext"], e[2]["process"]) == ("VU", "0x5", "0x6", "0xd3"), e[2]
assert (e[3]["etype"], e[3]["ecode"]) == (0, "0x4") and "prv" not in e[5], e' <"$tmp/out"
is $? 0 "time stamps and contexts as JSON"
timed --level pc >"$tmp/out"
is "$(cat "$tmp/out" "$tmp/err")" "0x1000
0x1002
ntrace: $tmp/timed.nex: error: the encoder lost trace: queue overrun (ETYPE 0) ECODE 0x4, offset 0xd, SRC 0, PC 0x1000 of $tmp/nops.bin, space programs, privilege VU, scontext 0x5, hcontext 0x6, time 17
ntrace: $tmp/timed.nex: gap, offset 0xd, SRC 0, PC 0x1000 of $tmp/nops.bin, space programs, privilege VU, scontext 0x5, hcontext 0x6, time 17" \
	"the PC level: losses are described on stderr"
is "$("$ntrace" dump --json "$tmp/timed.nex" | python3 -c '
import json, sys
print([json.loads(line)["names"] for line in sys.stdin])')" \
	"[{'SYNC': 'trace enable'}, {}, {}, {'ETYPE': 'queue overrun'}, {'SYNC': 'FIFO overrun'}, {'EVCODE': 'trace disable'}]" \
	"dump --json: values that have names"

# More SRC than there are harts: 300 times ProgTraceSync SYNC 5 PC 0x1000, SRC of 12 bits.
python3 -c '
import sys
for src in range(300):
    bits = 9 | src << 6 | 5 << 18
    sys.stdout.buffer.write(bytes((bits >> 6 * i & 63) << 2 for i in range(3)) + bytes([(bits >> 18 & 63) << 2 | 1, 0, 0x83]))' >"$tmp/many.nex"
"$ntrace" decode --raw "$tmp/nops.bin@0x1000" --params srcbits=12 "$tmp/many.nex" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c -- '-- sync' "$tmp/out") $(grep -c 'a SRC that is not decoded' "$tmp/out")" "3 256 44" "more than 256 SRC: each is named"
like "and a message says it" "more than 256 SRC: 44 others" "$(cat "$tmp/err")"
is "$("$ntrace" decode --raw "$tmp/nops.bin@0x1000" --params srcbits=12 --src 299 "$tmp/many.nex" | wc -l)" 1 "but any one can be chosen"

# Symbols, compared with the symbol table.
readelf -sW "$data/xrle.elf" | awk '$4 == "FUNC" && $3 > 0 { print $2, $8 }' | sort >"$tmp/functions"
wrong=$(sed -nE 's/^(0x[0-9a-f]+)-.* ([^ +]+) \[xrle.elf\]$/\1 \2/p' "$tmp/blocks" | sort -u |
	while read -r address name; do
		grep -qx "${address#0x} $name" "$tmp/functions" || echo "$address $name"
	done)
is "$wrong" "" "decode: blocks at the start of a function carry its name"

# A trace cut inside a message: the complete messages are decoded, with a warning.
size=$(stat -c %s "$data/xrle.nex")
head -c $((size - 3)) "$data/xrle.nex" >"$tmp/cut.nex"
"$ntrace" decode --level pc --elf "$data/xrle.elf" "$tmp/cut.nex" >"$tmp/cut.pc" 2>"$tmp/err"
is $? 3 "a trace that is cut: exit status"
like "a trace that is cut: said" "the stream is cut off" "$(cat "$tmp/err")"
lines=$(wc -l <"$tmp/cut.pc")
ok "a cut trace: the complete part is decoded" test "$lines" -gt 150000
ok "a trace that is cut: and it is right" cmp <(head -n "$lines" "$tmp/expected.pc") "$tmp/cut.pc"
"$ntrace" dump --params xlen=32 "$tmp/cut.nex" >"$tmp/out" 2>"$tmp/err"
is $? 3 "dump of a cut trace: exit status"
like "dump of a cut trace: warns" "ends inside a message" "$(cat "$tmp/err")"

# A byte that no encoder sends: decode reports an error and a gap, and continues.
{ head -c 1000 "$data/xrle.nex"; printf '\002'; tail -c +1001 "$data/xrle.nex"; } >"$tmp/hole.nex"
"$ntrace" decode --level pc --elf "$data/xrle.elf" "$tmp/hole.nex" >"$tmp/hole.pc" 2>"$tmp/err"
is $? 3 "a gap: exit status"
like "a gap: a line for it" "gap, offset 0x3e[0-8]" "$(tr '\n' ' ' <"$tmp/err")"
ok "a gap: each line on stderr names the place" test "$(grep -c ', offset 0x[0-9a-f]*, SRC 0, PC 0x' "$tmp/err")" = "$(wc -l <"$tmp/err")"

# A message with a TCODE that nobody has: its number is shown, also in JSON.
{ cat "$data/xrle.nex"; printf '\104\3'; } >"$tmp/unknown.nex"
like "an unknown message: its TCODE" "^-- warning: unknown message \(17\) \(offset 0x" \
	"$("$ntrace" decode --elf "$data/xrle.elf" "$tmp/unknown.nex" 2>"$tmp/err" | tail -n 1)"
is "$("$ntrace" decode --json --elf "$data/xrle.elf" "$tmp/unknown.nex" 2>/dev/null | tail -n 1 |
	python3 -c 'import json, sys; event = json.load(sys.stdin); print(event["type"], event["value"], event["offset"])')" \
	"warning 0x11 $(stat -c %s "$data/xrle.nex")" "an unknown message: JSON"

# Each of them counts, not each kind.
{ cat "$data/xrle.nex"; printf '\104\3\104\3\110\3\344\7'; } >"$tmp/unknown.nex"
"$ntrace" decode --level pc --elf "$data/xrle.elf" "$tmp/unknown.nex" 2>"$tmp/err" >/dev/null
like "unknown messages are counted" ": 4 times: unknown message" "$(<"$tmp/err")"

# Without the program's memory, decode reports every address as unknown.
"$ntrace" decode --level pc --elf "$data/xrle.elf@0x70000000" "$data/xrle.nex" >"$tmp/out" 2>"$tmp/err"
is $? 3 "program loaded elsewhere: exit status"
is "$(wc -l <"$tmp/out")" 0 "program loaded elsewhere: nothing is invented"
like "program loaded elsewhere: says why" "no memory" "$(cat "$tmp/err")"
first=$(readelf -lW "$data/xrle.elf" | awk '$1 == "LOAD" { print $3 }' | sort | head -n 1)
"$ntrace" decode --level pc --elf "$data/xrle.elf@$first" "$data/xrle.nex" | cmp - "$tmp/expected.pc"
is $? 0 "--elf FILE@ADDR with the address where it is linked"
done_testing
