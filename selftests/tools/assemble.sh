#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace assemble: the output of ntrace dump becomes the same bytes, for complete and damaged streams; messages written by
# hand; every error message.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
shared=${NTRACE_SHARED:-$top/../shared}/data/refcode

# hex BYTES: writes these bytes, given in hexadecimal.
hex() { printf '%b' "$(sed -E 's/([0-9A-Fa-f]{2}) */\\x\1/g' <<<"$*")"; }
# made TEXT PARAMETER...: prints the bytes of a text, in hexadecimal.
made() { local text=$1; shift; printf '%s\n' "$text" | "$ntrace" assemble "$@" 2>"$tmp/err" | od -An -v -tx1 | tr -d '\n' | cut -c2-; }

# Streams: those of the tests of messages and flow, one of each message, and the reference
# encoder's.
mkdir "$tmp/streams"
{
	hex 24 0D 08 E0 7F 10 71 D8 7B 70 D0 1D 1D F8 FF FF 08 C8 3B 0C 90 07 20 00 05 D0 20 07
	hex 6C 48 05 58 0B 6C 44 54 54 54 54 57 6C F0 0F 78 27 84 40 25 17 2C C9 00 13 30 08 15 00 13 74 10 21 20 09 0B
	hex 24 0D E8 8C 04 00 00 FC FC FC FC FC 1F 24 0D E8 8C 04 00 00 FF 0C 0C 00 03 10 70 01 D8 78 01 17
} >"$tmp/streams/whole"
{
	cat "$tmp/streams/whole"
	hex FF 03 FF E0 00 00 04 FF B0 17 24 0F 84 03 0C 0D 15 19 23 24 0A 00 83 83 07 FF 01 0F 0C FC FC FC FC FC FC FC FC FC FC 7F
	hex 24 0D FC FC FC FC FC FC FC FC FC FC FF 24 15
} >"$tmp/streams/damaged"
for corpus in "$top"/selftests/fuzz/corpus/fuzz_{wire,flow}/*; do
	cp "$corpus" "$tmp/streams/$(basename "$(dirname "$corpus")")-${corpus##*/}"
done
[ ! -e "$shared/xrle.nex" ] || cp "$shared/xrle.nex" "$tmp/streams/xrle"

# Dump and assemble each of them, and copies with a few bits flipped.
cat >"$tmp/identity.py" <<'EOF'
import os, random, subprocess, sys
ntrace, folder = sys.argv[1:]
random = random.Random(7)
sets = ["xlen=64", "srcbits=2", "srcbits=12,xlen=32", "extaddr=1", "srcbits=3,xlen=32,extaddr=1", "dialect=sifive-v0,srcbits=2"]
count = 0
def same(name, data, params, *options):
    global count
    text = subprocess.run([ntrace, "dump", "--lossless", "--params", params, "-"], input=data, capture_output=True)
    back = subprocess.run([ntrace, "assemble", *options], input=text.stdout, capture_output=True)
    count += 1
    if text.returncode not in (0, 3) or back.returncode or back.stdout != data or back.stderr:
        print(f"{name}, {params}: {text.returncode}, {back.returncode}: {back.stderr.decode()[:300]}")
for name in sorted(os.listdir(folder)):
    stream = open(os.path.join(folder, name), "rb").read()
    for params in sets:
        same(name, stream, params)
        flipped = bytearray(stream)
        for _ in range(max(3, len(stream) // 50)):
            flipped[random.randrange(len(stream))] ^= 1 << random.randrange(8)
        same(name + ", damaged", bytes(flipped), params)
noise = random.randbytes(60000)
for params in sets:
    same("noise", noise, params)
    # Streams mostly of bytes that continue a message: long messages with few errors.
    same("long messages", bytes(byte & 0xfc if index % 9001 else byte for index, byte in enumerate(noise)), params)
same("empty", b"", "srcbits=2")
same("what --params says counts more", noise, "srcbits=2", "--params", "srcbits=2")
print("streams:", count)
EOF
out=$(python3 "$tmp/identity.py" "$ntrace" "$tmp/streams")
like "dump --lossless and assemble: the same bytes ($(tail -n 1 <<<"$out"))" "^streams: [0-9]{3}$" "$out"

# without-bytes TEXT: the fields and sizes suffice for messages without flags.
without_bytes() {
	python3 -c '
import json, sys
for line in sys.stdin:
    line = json.loads(line)
    if line["type"] == "message" and not line.get("flags"):
        for name in "bytes", "offset", "length", "names", "address", "type", "tcode":
            line.pop(name, None)
    print(json.dumps(line))'
}
"$ntrace" dump --lossless "$tmp/streams/whole" | without_bytes >"$tmp/fields"
is "$(grep -c bytes "$tmp/fields")" 0 "a text without bytes"
"$ntrace" assemble "$tmp/fields" >"$tmp/got"
ok "fields and sizes alone give the same bytes" cmp "$tmp/got" "$tmp/streams/whole"
"$ntrace" dump --lossless --params extaddr=1 "$tmp/streams/whole" | without_bytes | "$ntrace" assemble >"$tmp/got"
ok "with extended addresses, too" cmp "$tmp/got" "$tmp/streams/whole"
if [ -e "$shared/xrle.nex" ]; then
	"$ntrace" dump --json --params xlen=32 "$shared/xrle.nex" | "$ntrace" assemble --params xlen=32 >"$tmp/got"
	ok "dump --json of a whole trace will do" cmp "$tmp/got" "$shared/xrle.nex"
	"$ntrace" dump --lossless --params xlen=32 "$shared/xrle.nex" | without_bytes | "$ntrace" assemble >"$tmp/got"
	ok "the reference encoder's stream from fields alone" cmp "$tmp/got" "$shared/xrle.nex"
	# ADDRESS fields alone, as in messages written by hand.
	"$ntrace" dump --json --params xlen=32 "$shared/xrle.nex" | python3 -c '
import json, sys
for line in sys.stdin:
    line = json.loads(line)
    fields = line["fields"]
    if "address" in line:
        fields.pop("FADDR", fields.pop("UADDR", None))
        fields["ADDRESS"] = line["address"]
    print(json.dumps({"name": line["name"], **fields}))' | "$ntrace" assemble --params xlen=32 >"$tmp/got"
	ok "and with ADDRESS in place of FADDR and UADDR" cmp "$tmp/got" "$shared/xrle.nex"
else
	skip "the reference encoder's stream" "no $shared/xrle.nex"
fi

# Messages written by hand.
cat >"$tmp/hand" <<'EOF'
# a program starts
{"name":"ProgTraceSync", "SYNC":5, "ICNT":0, "ADDRESS":"0x3fc04"}
  // and jumps; fields in any order, numbers of any kind

{ "ICNT" : "7", "ADDRESS":258920, "BTYPE":"0x0", "tcode":4 }
{"fields":{"TSTAMP":"0x1F","ICNT":12},"name":"DirectBranch"}
{"idle":3}
{"raw":"1c  3Fff\t"}
{"name":"DirectBranch", "ICNT":3, "sizes":{"ICNT":3}}
{"name":"IndirectBranchHist", "BTYPE":0, "ICNT":1, "ADDRESS":"0x3f368", "HIST":5}
EOF
is "$(made "$(<"$tmp/hand")")" "24 15 08 e0 7f 10 71 d8 7b 0c 31 7f ff ff ff 1c 3f ff 0c 0c 00 03 70 11 01 17" "a text by hand"
is "$(made '{"name":"DirectBranch","SRC":2,"ICNT":3}' --params srcbits=2)" "0c 3b" "SRC"
is "$(printf '{"tcode":3,"ICNT":3}\r\n{"tcode":3,"ICNT":7}' | "$ntrace" assemble - | od -An -tx1)" " 0c 0f 0c 1f" \
	"lines that end otherwise, and - for standard input"
is "$(made '  {"name":"DirectBranch","ICNT":3}')" "0c 0f" "blanks before a line"
is "$(made '{"params":"srcbits=4"}
{"tcode":9,"SRC":10,"SYNC":5,"ICNT":0,"FADDR":128}
{"tcode":9,"SRC":1,"SYNC":5,"ICNT":0,"FADDR":256}
{"tcode":4,"SRC":10,"BTYPE":0,"ICNT":2,"ADDRESS":"0x102"}' | cut -d ' ' -f 11-)" "10 28 09 07" "ADDRESS counts from the address of its own SRC"
is "$(made '{"raw":"24 0d 00 0b"}
{"tcode":4,"BTYPE":0,"ICNT":2,"ADDRESS":"0x102"}')" "24 0d 00 0b 10 21 07" "ADDRESS counts from one that came as raw bytes"
is "$(made '{"name":"ProgTraceSync","SYNC":3,"ICNT":0,"ADDRESS":"0xffffffff800031f4"}
{"name":"IndirectBranch","BTYPE":0,"ICNT":2,"ADDRESS":"0x10000"}' --params extaddr=1)" \
	"24 0d e8 8c 04 00 00 ff 10 21 e8 8c 24 00 00 ff" "ADDRESS with trTeInstExtendAddrMSB"
is "$(made '{"name":"ProgTraceSync","SYNC":3,"ICNT":0,"ADDRESS":"0xfffffffe"}' --params xlen=32)" "24 0d fc fc fc fc fc 07" "ADDRESS of 32 bits"
is "$(made '{"name":"DirectBranch","ICNT":18446744073709551615}')" "0c fc fc fc fc fc fc fc fc fc fc 3f" "the largest number"
is "$(made '{"name":"ProgTraceSync","bytes":"24 0d 00 0b","SYNC":3,"ICNT":0,"ADDRESS":256}')" "24 0d 00 0b" "ADDRESS beside bytes"
is "$(made '{"tcode":9,"bytes":"240de88c040000ff","SYNC":3,"ICNT":0,"ADDRESS":"0xffffffff800031f4"}' --params extaddr=1)" \
	"24 0d e8 8c 04 00 00 ff" "ADDRESS beside bytes of a shortened one"
is "$(made '{"tcode":56,"bytes":"e0000003"}')" "e0 00 00 03" "a vendor's message has bytes and no fields"
is "$(made '{"name":"DirectBranch","ICNT":3,"names":{"x":"\u00e9\ud83d\ude00\n"},"flags":[]}')" "0c 0f" "strings with escapes"

# refuses WHAT LINE PATTERN TEXT PARAMETER...: checks that the only output is one complaint, which
# names file and line.
refuses() {
	local what=$1 number=$2 pattern=$3 text=$4 rc=0
	shift 4
	printf '%s\n' "$text" >"$tmp/wrong"
	rm -f "$tmp/none"
	"$ntrace" assemble "$@" -o "$tmp/none" "$tmp/wrong" 2>"$tmp/err" || rc=$?
	if [ "$rc" = 1 ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -e "$tmp/none" ] &&
		grep -qE -- "^ntrace: error: $tmp/wrong:$number: $pattern" "$tmp/err"; then
		pass "refused: $what"
	else
		not_ok "refused: $what"
		diag "status $rc, $(head -c 600 "$tmp/err")"
		diag "expected line $number and $pattern"
	fi
}
good='{"name":"DirectBranch","ICNT":3}'
refuses "no JSON" 2 "column 1: a JSON object is expected" "$good
DirectBranch ICNT=3"
refuses "an array" 1 "column 1: a JSON object is expected" '[1]'
refuses "text after the object" 1 "column 34: nothing may follow" "$good $good"
refuses "no end" 1 "column 32: a comma or } is expected" '{"name":"DirectBranch","ICNT":3'
refuses "a string without an end" 1 "column 15: the string does not end" '{"name":"Direc'
refuses "a name without quotes" 1 "column 2: a name in double quotes" '{name:"DirectBranch"}'
refuses "a comma at the end" 1 "column 33: a name in double quotes" '{"name":"DirectBranch","ICNT":3,}'
refuses "no colon" 1 "column 9: a colon is expected" '{"name" "x"}'
refuses "a word" 1 "column 9: a value is expected" '{"ICNT":many}'
refuses "a hexadecimal number without quotes" 1 "column 10: a hexadecimal number needs quotes" '{"ICNT":0x3}'
refuses "a leading 0" 1 "column 12: a number with a leading 0" '{"ICNT":010}'
refuses "half a fraction" 1 "column 11: a digit is expected" '{"ICNT":1.}'
refuses "half an exponent" 1 "column 12: a digit is expected" '{"ICNT":1e+}'
refuses "an escape that there is not" 1 "column 11: unknown escape" '{"name":"\x"}'
refuses "an escape of less than four digits" 1 "column 14: four hexadecimal digits" '{"name":"\u12"}'
refuses "half a surrogate pair" 1 "column 16: the other half of a surrogate pair" '{"name":"\ud83d"}'
refuses "the other half alone" 1 "column 16: half a surrogate pair" '{"name":"\ude00"}'
refuses "a character of 0" 1 "column 16: the character .u0000" '{"name":"\u0000"}'
refuses "a control character" 1 "column 11: control character" $'{"name":"D\tB"}'
refuses "the same name twice" 1 "column 17: duplicate name" '{"ICNT":1,"ICNT":1}'
refuses "deep nesting" 1 "column 16: objects and arrays cannot be nested" '{"fields":{"x":{}}}'
refuses "an array without its end" 1 "column 18: a comma or \]" '{"flags":["extra"}'
refuses "more members than there can be" 1 "column [0-9]+: too many members" "{\"flags\":[$(printf '1,%.0s' {1..100})1]}"
head -c 70000 /dev/zero | tr '\0' ' ' >"$tmp/long"
fails "refused: a long line" "long:1: the line is longer than 65536 bytes: split it" "$ntrace" assemble -o "$tmp/none" "$tmp/long"
refuses "an unknown member" 1 'no member "ICTN": fields are SRC, SYNC,.* TSTAMP, and ADDRESS' '{"name":"DirectBranch","ICTN":3}'
refuses "an unknown field" 1 'no field "icnt": fields are SRC' '{"name":"DirectBranch","fields":{"icnt":3}}'
refuses "an unknown size" 1 'no field "X": fields are SRC' '{"name":"DirectBranch","ICNT":3,"sizes":{"X":1}}'
refuses "an unknown type" 1 '"type": "x" is not one of message, idle' '{"type":"x"}'
refuses "an unknown flag" 1 '"flags" may be "unknown"' '{"name":"DirectBranch","flags":["odd"]}'
refuses "an unknown object" 1 '"more" is not an object' '{"name":"DirectBranch","more":{"x":1}}'
refuses "an unknown array" 1 '"fields" is not an array' '{"name":"DirectBranch","fields":[1]}'
refuses "fields that are none" 1 '"fields" is not an object or array' '{"name":"DirectBranch","fields":3}'
refuses "a name that is no string" 1 '"name" is not a string' '{"name":3}'
refuses "a negative number" 1 '"ICNT" is not a whole number from 0' '{"name":"DirectBranch","ICNT":-3}'
refuses "a fraction" 1 '"ICNT" is not a whole number from 0' '{"name":"DirectBranch","ICNT":1.5}'
refuses "a number over 64 bits" 1 '"ICNT" is not a whole number from 0' '{"name":"DirectBranch","ICNT":18446744073709551616}'
refuses "a number far over 64 bits" 1 '"ICNT" is not a whole number from 0' '{"name":"DirectBranch","ICNT":99999999999999999999}'
refuses "a string that is no number" 1 '"ICNT": "3x" is not a number' '{"name":"DirectBranch","ICNT":"3x"}'
refuses "a string with a sign" 1 '"ICNT": "-3" is not a number' '{"name":"DirectBranch","ICNT":"-3"}'
refuses "a string of 0x alone" 1 '"ICNT": "0x" is not a number' '{"name":"DirectBranch","ICNT":"0x"}'
refuses "an empty string" 1 '"ICNT": "" is not a number' '{"name":"DirectBranch","ICNT":""}'
refuses "true" 1 '"ICNT" is not a whole number' '{"name":"DirectBranch","ICNT":true}'
refuses "a field twice" 1 'ICNT is given twice' '{"name":"DirectBranch","ICNT":3,"fields":{"ICNT":3}}'
refuses "ADDRESS twice" 1 'ADDRESS is given twice' '{"name":"ProgTraceSync","ADDRESS":2,"fields":{"ADDRESS":2}}'
refuses "neither name nor tcode" 1 'a message needs "name" or "tcode"' '{"ICNT":3}'
refuses "a name of no message" 1 'no message has the name "directbranch"' '{"name":"directbranch","ICNT":3}'
refuses "a name of several" 1 'Vendor is the name of several TCODEs: "tcode" is needed' '{"name":"Vendor","bytes":"e003"}'
refuses "name and tcode" 1 '"tcode" 4 is IndirectBranch, but "name" is DirectBranch' '{"name":"DirectBranch","tcode":4}'
refuses "a TCODE of 7 bits" 1 '"tcode" is 64, but has 6 bits' '{"tcode":64}'
refuses "a TCODE without fields" 1 'TCODE 56 \(Vendor\) has no known fields: give its bytes' '{"tcode":56}'
refuses "a missing field" 1 'IndirectBranch lacks ICNT; its fields are BTYPE \(2 bits\), ICNT, UADDR, and TSTAMP' '{"name":"IndirectBranch","BTYPE":0}'
refuses "a missing fixed field" 1 'ProgTraceSync lacks SYNC; ' '{"name":"ProgTraceSync","ICNT":0,"FADDR":0}'
refuses "a missing address" 1 'ProgTraceSync lacks FADDR \(or ADDRESS\)' '{"name":"ProgTraceSync","SYNC":1,"ICNT":0}'
refuses "a missing SRC" 1 'DirectBranch lacks SRC; its fields are SRC \(3 bits\), ICNT' "$good" --params srcbits=3
refuses "SRC without srcbits" 1 'SRC is given, but the trace has no SRC field: give --params srcbits=N' '{"tcode":3,"SRC":1,"ICNT":3}'
refuses "a field of another message" 1 'DirectBranch has no field HIST; its fields are ICNT, and TSTAMP' '{"tcode":3,"ICNT":3,"HIST":1}'
refuses "a field of another RCODE" 1 'ResourceFull has no field HREPEAT; its fields are RCODE \(4 bits\), HIST' '{"tcode":27,"RCODE":1,"HIST":1,"HREPEAT":2}'
refuses "a field of another CDF" 1 'ProgTraceCorrelation lacks HIST' '{"tcode":33,"EVCODE":0,"CDF":1,"ICNT":3}'
refuses "a value too wide" 1 'SYNC is 16, but has 4 bits: at most 15' '{"tcode":9,"SYNC":16,"ICNT":0,"FADDR":0}'
refuses "SRC too wide" 1 'SRC is 8, but has 3 bits: at most 7' '{"tcode":3,"SRC":8,"ICNT":0}' --params srcbits=3
refuses "an address too wide" 1 'FADDR is 0x8000000000000000, but has at most 63 bits' '{"tcode":9,"SYNC":1,"ICNT":0,"FADDR":"0x8000000000000000"}'
refuses "an address too wide for 32 bits" 1 'UADDR is 0x80000000, but has at most 31 bits' \
	'{"tcode":4,"BTYPE":0,"ICNT":0,"UADDR":"0x80000000"}' --params xlen=32
refuses "ADDRESS too wide" 1 'ADDRESS is 0x100000000, but addresses have 32 bits' '{"tcode":9,"SYNC":1,"ICNT":0,"ADDRESS":"0x100000000"}' --params xlen=32
narrow='{"tcode":9,"SYNC":1,"ICNT":0,"FADDR":"0x40001a0b"}'
refuses "FADDR with bits above addrbits" 1 'FADDR is 0x40001a0b, but 8 bits are sent \(addrbits\)' "$narrow" --params addrbits=8
refuses "FADDR with bits above addrbits and extaddr" 1 'FADDR is 0x40001a0b, but 8 bits are sent' "$narrow" --params addrbits=8,extaddr=1
refuses "ADDRESS with bits above addrbits" 1 'ADDRESS 0x80003416 would be read as 0x16: 8 bits are sent \(addrbits\)' \
	'{"tcode":9,"SYNC":1,"ICNT":0,"ADDRESS":"0x80003416"}' --params addrbits=8
refuses "ADDRESS that is odd" 1 'ADDRESS is odd: 0x3' '{"tcode":9,"SYNC":1,"ICNT":0,"ADDRESS":3}'
refuses "ADDRESS and FADDR" 1 'ADDRESS replaces FADDR, UADDR or CKDATA0: give only one' '{"tcode":9,"SYNC":1,"ICNT":0,"ADDRESS":2,"FADDR":1}'
refuses "ADDRESS of a message without one" 1 'DirectBranch has no address' '{"tcode":3,"ICNT":0,"ADDRESS":2}'
refuses "ADDRESS without a reference" 2 'ADDRESS: UADDR is relative to the previous address, which is unknown' "$good
{\"tcode\":4,\"BTYPE\":0,\"ICNT\":0,\"ADDRESS\":2}"
refuses "ADDRESS after a loss" 3 'ADDRESS: UADDR is relative to' '{"tcode":9,"SYNC":1,"ICNT":0,"ADDRESS":2}
{"tcode":8,"ETYPE":0,"ECODE":0}
{"tcode":4,"BTYPE":0,"ICNT":0,"ADDRESS":2}'
refuses "ADDRESS after bytes that are no message" 3 'ADDRESS: UADDR is relative to' '{"tcode":9,"SYNC":1,"ICNT":0,"ADDRESS":2}
{"raw":"02 03"}
{"tcode":4,"BTYPE":0,"ICNT":0,"ADDRESS":2}'
refuses "a size of 0" 1 '"sizes": ICNT takes 1 to 64 bytes' '{"tcode":3,"ICNT":3,"sizes":{"ICNT":0}}'
refuses "a size that is too small" 1 '"sizes" is impossible' '{"tcode":3,"ICNT":100,"sizes":{"ICNT":1}}'
refuses "sizes that are too large" 1 '"sizes" is impossible: .*more than 64 bytes' '{"tcode":3,"ICNT":100,"sizes":{"ICNT":64}}'
refuses "a size of a fixed field" 1 '"sizes" is impossible: .*not variable' '{"tcode":9,"SYNC":1,"ICNT":0,"FADDR":0,"sizes":{"SYNC":1}}'
refuses "a size of no field" 1 '"sizes" has HIST, but the message does not' '{"tcode":3,"ICNT":3,"sizes":{"HIST":1}}'
refuses "flags without bytes" 1 'a message with "flags" needs "bytes"' '{"tcode":3,"ICNT":3,"flags":["extra"]}'
refuses "fields against bytes" 1 'fields and "bytes" contradict each other: fields are DirectBranch ICNT=0x4; bytes are DirectBranch ICNT=0x3: remove' \
	'{"tcode":3,"ICNT":4,"bytes":"0c0f"}'
refuses "a field too many beside bytes" 1 'fields and "bytes" contradict .*TSTAMP=0x1; bytes are DirectBranch ICNT=0x3:' '{"tcode":3,"ICNT":3,"TSTAMP":1,"bytes":"0c0f"}'
refuses "another TCODE than bytes" 1 'fields and "bytes" contradict .*fields are RepeatBranch; bytes are DirectBranch' '{"tcode":30,"bytes":"0c0f"}'
refuses "other flags than bytes" 1 'fields and "bytes" contradict .* extra; bytes are' '{"tcode":3,"ICNT":3,"bytes":"0c0f","flags":["extra"]}'
refuses "ADDRESS against bytes" 1 'fields and "bytes" contradict .*FADDR=0x81; bytes are .*FADDR=0x80:' \
	'{"name":"ProgTraceSync","bytes":"240d000b","SYNC":3,"ICNT":0,"ADDRESS":"0x102"}'
refuses "the size of a field that the bytes lack" 1 '"sizes" and "bytes" contradict each other: TSTAMP takes 0 bytes, not 1' '{"tcode":3,"ICNT":3,"bytes":"0c0f","sizes":{"TSTAMP":1}}'
refuses "sizes against bytes" 1 '"sizes" and "bytes" contradict each other: ICNT takes 1 bytes, not 2' '{"tcode":3,"ICNT":3,"bytes":"0c0f","sizes":{"ICNT":2}}'
refuses "half a byte" 1 "\"bytes\": 'f' is not a byte" '{"tcode":3,"ICNT":3,"bytes":"0c0f f"}'
refuses "bytes that are none" 1 "\"raw\": 'xy' is not a byte" '{"raw":"0c xy"}'
refuses "no byte" 1 '"raw" has no byte' '{"raw":" "}'
refuses "bytes of two messages" 1 '"bytes" are not exactly one message' '{"tcode":3,"ICNT":3,"bytes":"0c0f0c0f"}'
refuses "bytes of less than a message" 1 '"bytes" are not exactly one message' '{"tcode":3,"ICNT":3,"bytes":"0c"}'
refuses "an idle byte before the message" 1 '"bytes" are not exactly one message' '{"tcode":3,"ICNT":3,"bytes":"ff0c0f"}'
refuses "a length that is not that of bytes" 1 '"length" is 3, but there are 2 bytes: ntrace dump has all of them with --lossless' \
	'{"tcode":3,"ICNT":3,"bytes":"0c0f","length":3}'
refuses "an error that is none" 1 '"bytes" of an error must end with a reserved MSEO code' '{"type":"error","bytes":"0c0f"}'
refuses "a cut message that is whole" 1 '"bytes" are not the beginning of a message' '{"type":"cut","bytes":"0c0f"}'
refuses "what follows a cut message" 2 'no line may follow a cut message' '{"type":"cut","bytes":"0c"}
{"idle":1}'
refuses "idle bytes that are not" 1 '"bytes" are not idle' '{"type":"idle","bytes":"ff0c"}'
refuses "idle bytes of no number" 1 'idle bytes need either' '{"type":"idle"}'
refuses "idle bytes of two kinds" 1 'idle bytes need either' '{"idle":2,"bytes":"ff03"}'
refuses "idle bytes of another length" 1 '"idle" is 2, but "length" is 3' '{"idle":2,"length":3}'
refuses "an error without bytes" 1 '"bytes" is missing' '{"type":"error"}'
refuses "raw without bytes" 1 '"raw" is missing' '{"type":"raw"}'
refuses "raw and fields" 1 'a line of type "raw" has no "fields"' '{"raw":"ff","ICNT":3}'
refuses "a part and something else" 2 'a part must be followed by' '{"type":"part","bytes":"0c00"}
{"idle":1}'
refuses "a part and a message of fields" 2 '"bytes" is missing: the message has previous parts' '{"type":"part","bytes":"0c00"}
{"tcode":3,"ICNT":3}'
refuses "a part at the end" 2 'the text ends after a part' '{"type":"part","bytes":"0c00"}'
refuses "a part that ends a message" 1 '"bytes" are not the beginning' '{"type":"part","bytes":"0c0f"}'
refuses "parameters that are none" 1 "\"params\": cannot use 'colour=red'" '{"params":"colour=red"}'
refuses "parameters without any" 1 '"params" is missing' '{"type":"params"}'
refuses "parameters too late" 2 '"params" is allowed once, before all other lines' "$good
{\"params\":\"xlen=32\"}"
refuses "two streams" 2 'stream 1 after stream 0: a text has one stream: choose it with ntrace dump --stream N' '{"stream":0,"idle":1}
{"stream":1,"idle":1}'
refuses "two files" 2 'file b after a: a text has one file' '{"file":"a","idle":1}
{"file":"b","idle":1}'
refuses "what a terminal would obey" 1 'no message has the name "\?\[31m"' '{"name":"\u001b[31m"}'
refuses "an empty text" 3 'the text is empty' '# nothing
'

# Long messages in pieces, with little memory.
head -c 100000000 /dev/zero >"$tmp/zeros"
(ulimit -v 100000 && "$ntrace" dump --lossless "$tmp/zeros" 2>/dev/null | "$ntrace" assemble) | cmp -n 100000001 - "$tmp/zeros" >"$tmp/out" 2>&1
is "$(cat "$tmp/out")" "" "100 MB of zeros in little memory"
rm "$tmp/zeros"
"$ntrace" dump --json "$tmp/streams/damaged" 2>/dev/null | "$ntrace" assemble 2>"$tmp/err" >/dev/null
like "without --lossless bytes are missing: said once" '^ntrace: warning: standard input:[0-9]+: "offset" is [0-9]+, but these bytes are written at [0-9]+: .* --lossless$' "$(cat "$tmp/err")"
made '{"tcode":9,"SYNC":1,"ICNT":0,"FADDR":128,"address":"0x100"}
{"tcode":9,"SYNC":1,"ICNT":0,"FADDR":128,"address":"0x102"}
{"tcode":9,"SYNC":1,"ICNT":0,"FADDR":128,"address":"0x104"}' >/dev/null
like "an address that is not that of the fields: said once" '^ntrace: warning: standard input:2: "address" is 0x102, but the fields mean 0x100[^:]*: [^:]*$' "$(cat "$tmp/err")"

# The output file is complete or absent.
mkdir "$tmp/out.d"
echo before >"$tmp/out.d/a.nex"
echo '{"tcode":3}' | "$ntrace" assemble -o "$tmp/out.d/a.nex" 2>/dev/null
is "$? $(cat "$tmp/out.d/a.nex") $(ls "$tmp/out.d")" "1 before a.nex" "an error leaves the old file and no other"
(umask 027 && echo "$good" | "$ntrace" assemble -o "$tmp/out.d/a.nex")
is "$? $(od -An -tx1 <"$tmp/out.d/a.nex") $(stat -c %a "$tmp/out.d/a.nex") $(ls "$tmp/out.d")" "0  0c 0f 640 a.nex" "a complete trace replaces it"
ok "a device is written in place" "$ntrace" assemble -o /dev/null "$tmp/hand"
ok "and stays one" test -c /dev/null
fails "a full disk" "No space left" "$ntrace" assemble -o /dev/full "$tmp/hand"
fails "a directory that does not exist" "/nonexistent/a.nex: (No such file|Not a directory)" "$ntrace" assemble -o /nonexistent/a.nex "$tmp/hand"
fails "a text that does not exist" "$tmp/no.json: No such file" "$ntrace" assemble "$tmp/no.json"
fails "a text that is a directory" "a directory, not a text" "$ntrace" assemble "$tmp"
fails "two texts" "only one text is allowed, not also 'b'" "$ntrace" assemble a b
fails "parameters of the command that are none" "cannot use 'colour=red'" "$ntrace" assemble --params colour=red "$tmp/hand"
python3 -c '
import pty, sys
sys.exit(0 if pty.spawn(sys.argv[1:]) >> 8 == 2 else 1)' "$ntrace" assemble "$tmp/hand" >"$tmp/out"
is $? 0 "a terminal gets no trace"
like "and a message says it" "standard output is a terminal: -o FILE is needed" "$(cat "$tmp/out")"
echo '{"name":"ProgTraceSync","SYNC":3,"ICNT":0,"ADDRESS":"0x400015f4","sizes":{"FADDR":5}}' >"$tmp/short"
fails "an address whose top bit is copied upwards" 'short:1: ADDRESS 0x400015f4 would be read as 0xffffffffc00015f4' \
	"$ntrace" assemble --params extaddr=1 -o "$tmp/short.nex" "$tmp/short"
done_testing
