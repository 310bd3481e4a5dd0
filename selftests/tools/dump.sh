#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace dump: its forms of input and output. decode.sh holds the fields against
# the dump that others made.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace

# hex BYTES: what they stand for.
hex() { printf '%b' "$(sed -E 's/([0-9A-Fa-f]{2}) */\\x\1/g' <<<"$*")"; }

# One of each message of the digest's section 13, a vendor's, a reserved TCODE, one
# without its second field, idles.
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

# 16-bit words from a big-endian probe.
hex 00 FF FF 24 0D E8 80 0C | dd conv=swab status=none >"$tmp/swapped.nex"
hex 00 FF FF 24 0D E8 80 0C >"$tmp/straight.nex"
"$ntrace" dump --words16 "$tmp/swapped.nex" >"$tmp/got" 2>/dev/null
"$ntrace" dump "$tmp/straight.nex" >"$tmp/expected" 2>/dev/null
ok "--words16: the later byte of a word first" cmp "$tmp/got" "$tmp/expected"
hex 24 0D 08 | "$ntrace" dump --words16 - 2>"$tmp/err"
is $? 1 "--words16: half a word"
like "--words16: says so" "odd number of bytes" "$(cat "$tmp/err")"

"$ntrace" dump "$tmp/all.nex" "$tmp/straight.nex" >"$tmp/two" 2>/dev/null
is $? 3 "several files: the worst status"
is "$(grep -c '^# ' "$tmp/two")" 2 "several files: each is named"
is "$("$ntrace" dump --json "$tmp/all.nex" "$tmp/all.nex" | python3 -c '
import json, sys
print(len({json.loads(line)["file"] for line in sys.stdin}))')" 1 "several files: JSON has the name"

# SRC: U-ADDR counts from the last address of its own SRC.
hex 24 68 05 00 09 24 78 58 44 8C 13 24 54 01 13 10 28 09 07 >"$tmp/src.nex"
"$ntrace" dump --params srcbits=4 "$tmp/src.nex" >"$tmp/out"
is "$("$ntrace" dump --params srcbits=4 --src 10 "$tmp/src.nex" | wc -l)" 2 "--src picks"
like "addresses are per SRC" "UADDR=0x1 -> 0x102 " "$(tail -n 1 "$tmp/out")"

# The same through a pipe that gives a few bytes at a time, over more than one buffer.
python3 -c 'import sys; sys.stdout.buffer.write(open(sys.argv[1], "rb").read() * 9000)' "$tmp/all.nex" >"$tmp/long.nex"
"$ntrace" dump "$tmp/long.nex" | sha256sum >"$tmp/expected"
dd if="$tmp/long.nex" bs=1021 status=none | "$ntrace" dump - | sha256sum >"$tmp/got"
ok "the result does not depend on how input is cut" cmp "$tmp/got" "$tmp/expected"
is "$("$ntrace" dump "$tmp/long.nex" | sed 's/.*| //' | tr -d ' \n' | sha256sum)" \
	"$(od -An -v -tx1 "$tmp/long.nex" | tr -d ' \n' | sed 's/f8ffff08/f8ff08/g' | sha256sum)" "all bytes are shown once"
# An endless message is cut short, not kept.
head -c 100000000 /dev/zero | (ulimit -v 100000 && "$ntrace" dump - 2>/dev/null) >"$tmp/out"
is "$(sed 's/|.*//' "$tmp/out")" "0x00000000100000000   - the trace ends inside this message " "100 MB of zeros are one cut message"
done_testing
