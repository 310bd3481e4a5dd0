#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace dump: its forms of input and output. decode.sh compares the fields with the reference tool's dump.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace

# hex BYTES: writes these bytes, given in hexadecimal.
hex() { printf '%b' "$(sed -E 's/([0-9A-Fa-f]{2}) */\\x\1/g' <<<"$*")"; }

# One message of each TCODE, a vendor message, a reserved TCODE, a message without its second field,
# idle bytes.
{
	hex 24 0D 08 E0 7F 10 71 D8 7B 70 D0 1D 1D F8 FF FF 08 C8 3B 0C 90 07 20 00 05 D0 20 07
	hex 6C 48 05 58 0B 78 27 84 40 25 17 2C C9 00 13 30 08 15 00 13 74 10 21 20 09 0B
	hex E0 00 00 04 FF B0 17 24 0F
} >"$tmp/all.nex"
"$ntrace" dump "$tmp/all.nex" >"$tmp/all.txt"
is $? 0 "a message of each kind"
like "F-ADDR as an address" "FADDR=0x1fe02 -> 0x3fc04 " "$(sed -n 1p "$tmp/all.txt")"
like "U-ADDR from the address before" "UADDR=0x7b6 -> 0x3f368 " "$(sed -n 2p "$tmp/all.txt")"
like "vendor's message: flag and raw bytes" "Vendor +\[unknown\] \| e0 00 00 04 ff$" "$(grep Vendor "$tmp/all.txt")"
like "reserved TCODE: flag and raw bytes" "Reserved +\[unknown\] \| b0 17$" "$(grep Reserved "$tmp/all.txt")"
like "missing field" "\[truncated\] \| 24 0f$" "$(tail -n 1 "$tmp/all.txt")"
# TCODEs 56 to 58, which some encoders use: dump prints number, SRC and bytes; the fields are
# vendor-specific.
hex E0 04 05 09 FF E4 08 03 E8 0C 00 07 >"$tmp/vendor.nex"
is "$("$ntrace" dump --params srcbits=2 "$tmp/vendor.nex"; echo $?)" \
	"0x00000000    5  56 Vendor                 SRC=1 [unknown] | e0 04 05 09 ff
0x00000005    3  57 Vendor                 SRC=2 [unknown] | e4 08 03
0x00000008    4  58 Vendor                 SRC=3 [unknown] | e8 0c 00 07
0" "vendors' TCODEs are shown by number and are no error"
is "$("$ntrace" dump --json --params srcbits=2 "$tmp/vendor.nex" | python3 -c '
import json, sys
print([(m["tcode"], m["fields"], m["bytes"]) for m in map(json.loads, sys.stdin)])')" \
	"[(56, {'SRC': 1}, 'e0040509ff'), (57, {'SRC': 2}, 'e40803'), (58, {'SRC': 3}, 'e80c0007')]" "and in JSON"
"$ntrace" dump - <"$tmp/all.nex" | cmp - "$tmp/all.txt"
is $? 0 "- is standard input"

"$ntrace" dump --json "$tmp/all.nex" | python3 -c '
import json, sys
messages = [json.loads(line) for line in sys.stdin]
assert all(set(m) <= {"type", "offset", "length", "bytes", "tcode", "name", "fields", "names", "address", "flags"} for m in messages)
assert [m["name"] for m in messages][:4] == ["ProgTraceSync", "IndirectBranch", "IndirectBranchHist", "Ownership"]
assert messages[0]["names"] == {"SYNC": "debug exit"} and messages[0]["fields"] == {"SYNC": 3, "ICNT": 0, "FADDR": "0x1fe02"} and messages[0]["address"] == "0x3fc04"
assert messages[-3]["flags"] == ["unknown"] and messages[-3]["bytes"] == "e0000004ff"
print(len(messages))' >"$tmp/out"
is "$(cat "$tmp/out")" "$(wc -l <"$tmp/all.txt")" "--json: an object a message, documented names only"

"$ntrace" dump --bytes "$tmp/all.nex" | grep '^  0x' >"$tmp/bytes"
is "$(awk '{ printf "%s", $2 }' "$tmp/bytes")" "$(od -An -v -tx1 "$tmp/all.nex" | tr -d ' \n' | sed 's/ffff08/ff08/')" \
	"--bytes: every byte of every message"
is "$(head -n 5 "$tmp/bytes" | awk '{ print $3 }' | tr '\n' ' ')" "001001_00 000011_01 000010_00 111000_00 011111_11 " \
	"--bytes: MDO and MSEO"
# fields HEX PARAMS: prints what --bytes prints for each byte, "TCODE SRC+SYNC ICNT".
fields() { hex "$1" | "$ntrace" dump --bytes ${2:+--params "$2"} - 2>/dev/null | awk '/^  0x/ { printf "%s%s", separator, $4; separator = " " }'; }
is "$(fields "24 0D 08 E0 7F")" "TCODE SYNC+ICNT FADDR FADDR FADDR" "--bytes: names the fields of a byte"
is "$(fields "70 D0 1D 1D F8 FD 17")" "TCODE BTYPE+ICNT ICNT UADDR HIST HIST TSTAMP" "--bytes: variable fields and TSTAMP"
is "$(fields "74 24 41 2C A0 04 00 00 05 0D 3C 74 A0 A0 CC FC 13" srcbits=2)" \
	"TCODE SRC+SYNC BTYPE+ICNT FADDR FADDR FADDR FADDR FADDR FADDR HIST$(printf ' TSTAMP%.0s' {1..7})" "--bytes: SRC"
is "$(fields "74 24 40 05 0D 0F" srcbits=1)" "TCODE SRC+SYNC+BTYPE BTYPE+ICNT ICNT FADDR HIST" "--bytes: three fields in a byte"
is "$(fields "0C FC FC 0F" srcbits=12)" "TCODE SRC SRC ICNT" "--bytes: a fixed field that ends with its byte"
is "$(fields "6C 48 05 09 17") $(fields "6C 44 07") $(fields "6C 40 0B") $(fields "6C F0 0F")" \
	"TCODE RCODE+HIST HIST HREPEAT TSTAMP TCODE RCODE+HIST HIST TCODE RCODE+ICNT ICNT TCODE RCODE+RDATA RDATA" "--bytes: RCODE decides"
is "$(fields "84 40 25 17") $(fields "84 00 25 17")" "TCODE EVCODE+CDF ICNT HIST TCODE EVCODE+CDF ICNT TSTAMP" "--bytes: CDF decides"
is "$(fields "E0 00 05 FF") $(fields "E0 04 05 FF" srcbits=4)" "TCODE data data data TCODE SRC+data data data" "--bytes: a vendor's message has data"
is "$(fields "0C 0D 15 19 1D 23")" "TCODE ICNT TSTAMP extra extra extra" "--bytes: more fields than there can be"
is "$(fields "FF 24 0A 00 83") $(fields "01 0F") $(fields "24 0D 08")" "TCODE SYNC+ICNT data TCODE SYNC+ICNT FADDR" \
	"--bytes: bytes outside of messages, and a cut message"
is "$(grep -o '^.*\(end of\)' "$tmp/bytes" | awk '{ print length }' | sort -u | wc -l)" 1 "--bytes: lines are aligned"

# sizes HEX PARAMS: prints the lengths of fields that are not encoded in the shortest way.
sizes() { hex "$1" | "$ntrace" dump --json --params "${2:-xlen=64}" - | grep -o '"sizes":{[^}]*}'; }
is "$(sizes "24 0D 08 E0 7F")$(sizes "0C 0F")$(sizes "24 0D E8 8C 04 00 00 FF" extaddr=1)" '"sizes":{"FADDR":6}' \
	"--json: no sizes of the shortest forms, but of an extended address"
is "$(sizes "0C 0C 03")" '"sizes":{"ICNT":2}' "--json: sizes of a padded field"
is "$(sizes "10 70 01 D8 78 01 17")" '"sizes":{"ICNT":2,"UADDR":3}' "--json: sizes of two, of the third none"
is "$(sizes "24 0D FC FC FC FC FC 0F" xlen=32)" '"sizes":{"FADDR":6}' "--json: sizes of an address that is too wide"
is "$(sizes "E0 0C 00 03")$(sizes "24 0F")" "" "--json: no sizes with flags"

# 16-bit words from a big-endian probe.
hex 00 FF FF 24 0D E8 80 0C | dd conv=swab status=none >"$tmp/swapped.nex"
hex 00 FF FF 24 0D E8 80 0C >"$tmp/straight.nex"
"$ntrace" dump --words16 "$tmp/swapped.nex" >"$tmp/got" 2>/dev/null
"$ntrace" dump "$tmp/straight.nex" >"$tmp/expected" 2>/dev/null
ok "--words16: the later byte of a word first" cmp "$tmp/got" "$tmp/expected"
hex 24 0D 08 | "$ntrace" dump --words16 - 2>"$tmp/err"
is $? 1 "--words16: half a word"
like "--words16: a message" "odd number of bytes" "$(cat "$tmp/err")"

"$ntrace" dump "$tmp/all.nex" "$tmp/straight.nex" >"$tmp/two" 2>/dev/null
is $? 3 "several files: the worst status"
is "$(grep -c '^# ' "$tmp/two")" 2 "several files: each is named"
is "$("$ntrace" dump --json "$tmp/all.nex" "$tmp/all.nex" | python3 -c '
import json, sys
print(len({json.loads(line)["file"] for line in sys.stdin}))')" 1 "several files: JSON has the name"

# U-ADDR is relative to the last address of the same SRC.
hex 24 68 05 00 09 24 78 58 44 8C 13 24 54 01 13 10 28 09 07 >"$tmp/src.nex"
"$ntrace" dump --params srcbits=4 "$tmp/src.nex" >"$tmp/out"
is "$("$ntrace" dump --params srcbits=4 --src 10 "$tmp/src.nex" | wc -l)" 2 "--src picks"
like "addresses are per SRC" "UADDR=0x1 -> 0x102 " "$(tail -n 1 "$tmp/out")"

# The same through a pipe that delivers a few bytes at a time, across a buffer boundary.
python3 -c 'import sys; sys.stdout.buffer.write(open(sys.argv[1], "rb").read() * 9000)' "$tmp/all.nex" >"$tmp/long.nex"
"$ntrace" dump "$tmp/long.nex" | sha256sum >"$tmp/expected"
dd if="$tmp/long.nex" bs=1021 status=none | "$ntrace" dump - | sha256sum >"$tmp/got"
ok "the result does not depend on how input is cut" cmp "$tmp/got" "$tmp/expected"
is "$("$ntrace" dump "$tmp/long.nex" | sed 's/.*| //' | tr -d ' \n' | sha256sum)" \
	"$(od -An -v -tx1 "$tmp/long.nex" | tr -d ' \n' | sed 's/f8ffff08/f8ff08/g' | sha256sum)" "all bytes are shown once"
# dump cuts an endless message, and does not keep it in memory.
head -c 100000000 /dev/zero | (ulimit -v 100000 && "$ntrace" dump - 2>/dev/null) >"$tmp/out"
is "$(sed 's/|.*//' "$tmp/out")" "0x00000000 100000000   - the trace ends inside this message " "100 MB of zeros are one cut message"

# Columns: long numbers never touch the next column.
python3 -c 'import sys
sys.stdout.buffer.write(b"\x0c" + 100000 * b"\0" + b"\x03" + b"\x0c\x0f" + 123456 * b"\x82")' >"$tmp/wide.nex"
"$ntrace" dump "$tmp/wide.nex" >"$tmp/out" 2>/dev/null
is "$(awk '{ print $1, $2, $3, $4 }' "$tmp/out")" "0x00000000 100002 3 DirectBranch
0x000186a2 2 3 DirectBranch
0x000186a4 1 - reserved" "a blank between columns, however long a message is"

# --lossless prints every byte once, however the input is cut into chunks.
python3 - "$tmp/damaged.nex" <<'EOF'
import sys
data = bytes.fromhex("ff03ff0c0f0c0c0003240a00838307ff0c1f")
data += b"\x0c" + 5000 * b"\0" + b"\x03" + b"\x0c" + 4999 * b"\0" + b"\x02" + 9000 * b"\0" + b"\x83\xff\x83\xff"
data += 300000 * b"\xff" + b"\x0c" + 300000 * b"\x80" + b"\x03" + 5000 * b"\x03" + b"\x24\x15" + 8190 * b"\0"
open(sys.argv[1], "wb").write(data)
EOF
"$ntrace" dump --lossless --params srcbits=3 "$tmp/damaged.nex" >"$tmp/lossless" 2>/dev/null
is $? 3 "--lossless: status 3 where something is wrong"
cat >"$tmp/whole.py" <<'EOF'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[2])]
whole = b""
first = lines.pop(0)
assert first["type"] == "params" and "srcbits=3" in first["params"], first
pieces = 0
for line in lines:
    assert line["offset"] == len(whole) - (0 if line["type"] == "part" else pieces), (line["type"], line["offset"])
    whole += bytes.fromhex(line["bytes"]) if "bytes" in line else line["idle"] * b"\xff"
    assert len(line.get("bytes", "")) <= 2 * 4096 and (line["type"] != "part" or line["length"] == 4096)
    pieces = pieces + line["length"] if line["type"] == "part" else 0
    if line["type"] != "part":
        assert line["offset"] + line["length"] == len(whole), (line["type"], line["offset"])
assert whole == open(sys.argv[1], "rb").read()
kinds = [line["type"] for line in lines]
print([kind for i, kind in enumerate(kinds) if not i or kinds[i - 1] != kind])
EOF
is "$(python3 "$tmp/whole.py" "$tmp/damaged.nex" "$tmp/lossless" 2>&1)" \
	"['idle', 'message', 'error', 'skipped', 'idle', 'message', 'part', 'message', 'part', 'error', 'skipped', 'idle', 'part', 'message', 'idle', 'part', 'cut']" \
	"--lossless: the bytes of all lines together are the trace"
dd if="$tmp/damaged.nex" bs=1021 status=none | "$ntrace" dump --lossless --params srcbits=3 - 2>/dev/null >"$tmp/got"
ok "--lossless: the result does not depend on how input is cut" cmp "$tmp/got" "$tmp/lossless"
fails "--lossless and --src" "exclude each other" "$ntrace" dump --lossless --params srcbits=3 --src 1 "$tmp/damaged.nex"
head -c 100000000 /dev/zero | (ulimit -v 100000 && "$ntrace" dump --lossless - 2>/dev/null) | tail -n 1 >"$tmp/out"
like "--lossless: 100 MB of zeros in little memory" '"type":"cut","offset":0,"length":100000000' "$(cat "$tmp/out")"
done_testing
