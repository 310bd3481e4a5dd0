#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Raw traces in frames of a CoreSight formatter: --framing gives the same output as the trace without frames, and gaps in
# frames are gaps. frames.py makes the frames, without the library. split.sh tests ntrace split.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode
seed=${SEED:-1}
diag "seed $seed"

hex() { printf '%b' "$(sed -E 's/([0-9A-Fa-f]{2}) */\\x\1/g' <<<"$*")"; }
# frames OUT SEED SYNC ID=FILE...
frames() { python3 "$top/selftests/tools/frames.py" "$@"; }
# complains TEXT STATUS PATTERN ARGUMENT...: checks the status, and the only output, a line on stderr.
complains() {
	local text=$1 expected=$2 pattern=$3 rc=0
	shift 3
	"$ntrace" "$@" >"$tmp/out" 2>"$tmp/err" <"${input:-/dev/null}" || rc=$?
	if [ "$rc" = "$expected" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ]; then
		like "$text" "$pattern" "$(<"$tmp/err")"
	else
		not_ok "$text"
		diag "status $rc, expected $expected" "$(head -n 5 "$tmp/err" "$tmp/out")"
	fi
}

# A message of each kind; sync and trace off of four c.nop, repeatedly; and the memory with the c.nop.
{
	hex 24 0D 08 E0 7F 10 71 D8 7B 70 D0 1D 1D F8 FF FF 08 C8 3B 0C 90 07 20 00 05 D0 20 07
	hex 6C 48 05 58 0B 78 27 84 40 25 17 2C C9 00 13 30 08 15 00 13 74 10 21 20 09 0B
	hex E0 00 00 04 FF B0 17 24 0F
} >"$tmp/all.nex"
for _ in $(seq 200); do hex 24 15 00 83 84 00 0B; done >"$tmp/loop.nex"
hex 01 00 01 00 01 00 01 00 >"$tmp/nops"
elf=(--raw "$tmp/nops@0x1000")
python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(7).randbytes(20000))' >"$tmp/noise"

# same TEXT FILE PLAIN COMMAND...: the output with --framing coresight[:ID] ($id) equals that for the plain trace.
same() {
	local text=$1 file=$2 plain=$3 expected rc=0
	shift 3
	"$ntrace" "$@" "$plain" >"$tmp/expected" 2>"$tmp/expected.err"
	expected=$?
	"$ntrace" "$@" --framing "coresight${id:+:$id}" "$file" >"$tmp/got" 2>"$tmp/err" || rc=$?
	is "$rc" "$expected" "$text: status"
	ok "$text" cmp "$tmp/expected" "$tmp/got"
	is "$(sed "s|$file|$plain|g" "$tmp/err")" "$(<"$tmp/expected.err")" "$text: stderr"
}
frames "$tmp/all.fr" 0 0 0x10="$tmp/all.nex"
frames "$tmp/loop.fr" 0 0 1="$tmp/loop.nex"
frames "$tmp/loop.sync" "$seed" 1 1="$tmp/loop.nex"
frames "$tmp/mix.fr" "$seed" 1 0x10="$tmp/all.nex" 0x6f="$tmp/loop.nex" 3="$tmp/noise"
id=
same "dump" "$tmp/all.fr" "$tmp/all.nex" dump
same "dump --json" "$tmp/all.fr" "$tmp/all.nex" dump --json
same "decode --level message" "$tmp/all.fr" "$tmp/all.nex" decode --level message
same "stat" "$tmp/all.fr" "$tmp/all.nex" stat --json
same "check" "$tmp/all.fr" "$tmp/all.nex" check
for file in loop.fr loop.sync; do
	same "$file: decode" "$tmp/$file" "$tmp/loop.nex" decode "${elf[@]}"
	same "$file: decode --level pc" "$tmp/$file" "$tmp/loop.nex" decode --level pc "${elf[@]}"
	same "$file: stat --raw" "$tmp/$file" "$tmp/loop.nex" stat "${elf[@]}"
	same "$file: check --raw" "$tmp/$file" "$tmp/loop.nex" check "${elf[@]}"
done
is "$(grep -c '^0x' <("$ntrace" decode --level pc "${elf[@]}" --framing coresight "$tmp/loop.fr"))" 400 "which is something"
id=0x10 same "one of several sources" "$tmp/mix.fr" "$tmp/all.nex" dump
id=111 same "an ID in decimal" "$tmp/mix.fr" "$tmp/loop.nex" decode "${elf[@]}"
id=0x6f same "decode --level message with an ID" "$tmp/mix.fr" "$tmp/loop.nex" decode --level message
id=3 same "noise" "$tmp/mix.fr" "$tmp/noise" dump --json
: >"$tmp/empty"
same "nothing" "$tmp/empty" "$tmp/empty" stat
zstd -q -k -f "$tmp/loop.fr" -o "$tmp/loop.zst"
same "frames in a zstd file" "$tmp/loop.zst" "$tmp/loop.nex" decode "${elf[@]}"
"$ntrace" dump "$tmp/loop.nex" >"$tmp/expected"
"$ntrace" dump --framing coresight - <"$tmp/loop.fr" | cmp - "$tmp/expected"
is $? 0 "standard input from a file"
{ head -c 21 "$ntrace"; cat "$tmp/loop.fr"; } >"$tmp/behind"
{ dd bs=21 count=1 of="$tmp/before" status=none; "$ntrace" dump --framing coresight -; } <"$tmp/behind" | cmp - "$tmp/expected"
is $? 0 "standard input from the middle of a file"
dd if="$tmp/loop.fr" bs=13 status=none | "$ntrace" dump --framing coresight - | cmp - "$tmp/expected"
is $? 0 "standard input from a pipe, a few bytes at a time"

# Over many chunks of input.
python3 -c 'import sys; sys.stdout.buffer.write(open(sys.argv[1], "rb").read() * 9000)' "$tmp/all.nex" >"$tmp/long.nex"
frames "$tmp/long.fr" "$seed" 1 0x22="$tmp/long.nex" 0x23="$tmp/noise"
is "$("$ntrace" dump --framing coresight:0x22 "$tmp/long.fr" | sha256sum)" "$("$ntrace" dump "$tmp/long.nex" | sha256sum)" \
	"many chunks of input"
(ulimit -v 65536 && "$ntrace" stat --json --framing coresight:0x22 - <"$tmp/long.fr") >"$tmp/got"
is "$(<"$tmp/got")" "$("$ntrace" stat --json "$tmp/long.nex")" "in little memory"

if [ -e "$data/xrle.nex" ]; then
	frames "$tmp/xrle.fr" "$seed" 1 0x11="$data/xrle.nex" 0x12="$tmp/all.nex"
	for sub in "dump --json" "decode --elf $data/xrle.elf" "stat --elf $data/xrle.elf" "check --elf $data/xrle.elf"; do
		# shellcheck disable=SC2086
		id=0x11 same "the reference encoder's stream: ${sub%% *}" "$tmp/xrle.fr" "$data/xrle.nex" $sub
	done
	"$ntrace" decode --level pc --elf "$data/xrle.elf" --framing coresight:0x11 "$tmp/xrle.fr" >"$tmp/got"
	is "$(sha256sum <"$tmp/got")" "$(zcat "$data/xrle.pcseq.txt.gz" | cut -d, -f1 | tr 'A-FX' 'a-fx' | sha256sum)" \
		"the program's PC sequence"
else
	skip "the reference encoder's stream" "no $data/xrle.nex"
fi

# ---- gaps ----

# Frames 0..9 are complete; each has 15 bytes of source 1, the first one 14: 149 bytes in all.
frame() { dd if="$tmp/loop.fr" bs=16 skip="$1" count="$2" status=none; }
word() { for _ in $(seq "$1"); do hex FF FF FF 7F; done; }
# A frame that begins with the ID and contains the trace from a message boundary on: sync and off,
# twice.
head -c 14 "$tmp/loop.nex" >"$tmp/two"
frames "$tmp/anew" 0 0 1="$tmp/two"

# gap NAME WARNING OFFSET DROPPED: $tmp/gap.fr has one gap at OFFSET, where DROPPED bytes of a
# message are lost.
gap() {
	local name=$1 warning=$2 offset=$3 dropped=$4
	"$ntrace" dump --framing coresight:1 "$tmp/gap.fr" >"$tmp/out" 2>"$tmp/err"
	is $? 3 "$name: dump: status 3"
	like "$name: a warning says what and where" "$warning" "$(<"$tmp/err")"
	is "$(grep -c . "$tmp/err")" 1 "$name: one warning"
	is "$(grep -c 'bytes are missing' "$tmp/out")" 1 "$name: dump: one gap"
	like "$name: dump: the place and the dropped bytes" "^0x0*$offset +$dropped " "$(grep 'bytes are missing' "$tmp/out")"
	is "$(grep -c 'reserved MSEO' "$tmp/out")" 0 "$name: dump: and nothing wrong"
	is "$("$ntrace" dump --json --framing coresight:1 "$tmp/gap.fr" 2>/dev/null |
		python3 -c 'import json, sys; print([(m["offset"], m["length"]) for m in map(json.loads, sys.stdin) if m["type"] == "lost"])')" \
		"[($((16#$offset)), $dropped)]" "$name: dump --json"
	"$ntrace" decode "${elf[@]}" --framing coresight:1 "$tmp/gap.fr" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c '^-- error: bytes of the trace are missing' "$tmp/out") $(grep -c '^-- error' "$tmp/out")" "3 1 1" "$name: decode: an error"
	like "$name: decode: the end" "incomplete: 1 gaps, 1 errors" "$(<"$tmp/err")"
	"$ntrace" stat --json "${elf[@]}" --framing coresight:1 "$tmp/gap.fr" >"$tmp/out" 2>/dev/null
	is "$? $(grep -o '"frame_gaps":1,"gaps":1,"flow_errors":1' "$tmp/out")" '3 "frame_gaps":1,"gaps":1,"flow_errors":1' "$name: stat"
	"$ntrace" check "${elf[@]}" --framing coresight:1 "$tmp/gap.fr" >"$tmp/out" 2>/dev/null
	is "$? $(sed 's/^[0-9]* //' "$tmp/out")" "3 messages: 0 errors, 0 warnings, 0 infos" "$name: check: no finding, status 3"
}
# 149 bytes are 21 messages of 7 bytes, and 2 bytes more.
{ frame 0 10; word 4; cat "$tmp/anew"; } >"$tmp/gap.fr"
gap "a barrier" "trace is missing in the frames: 1 barrier over lost trace; first at byte 0xb0 of the input, offset 0x95 of the source" 93 2
is "$("$ntrace" dump --framing coresight:1 "$tmp/gap.fr" 2>/dev/null | grep -c ProgTrace)" 45 "all but the dropped bytes and the rest of a message"
{ frame 0 10; frame 10 1 | head -c 7; } >"$tmp/gap.fr"
gap "a file that ends inside a frame" "7 bytes of frames that are not whole; first at byte 0xa0 of the input, offset 0x95" 93 2
{ frame 0 10; frame 10 1 | head -c 7; word 1; cat "$tmp/anew"; } >"$tmp/gap.fr"
gap "a frame that is cut off" "7 bytes of frames that are not whole; first at byte 0xa0 of the input, offset 0x95" 93 2
{ frame 0 10; frame 10 1 | head -c 7; word 4; frame 11 1; cat "$tmp/anew"; } >"$tmp/gap.fr"
gap "all at one place" "1 barrier over lost trace, 7 bytes of frames that are not whole, 15 bytes before the first source ID; first at byte 0xa0" 93 2
{ frame 0 10; hex E1 24 16 00 82 84 00 0B 24 15 00 83 84 00 0A 00; cat "$tmp/anew"; } >"$tmp/gap.fr"
gap "a reserved source" "14 bytes of reserved source IDs; first at byte 0xa0 of the input, offset 0x95" 93 2
{ frame 1 1; cat "$tmp/anew" "$tmp/anew"; } >"$tmp/gap.fr"
"$ntrace" decode "${elf[@]}" --framing coresight "$tmp/gap.fr" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'bytes of the trace are missing' "$tmp/out")" "3 1" "bytes before the first ID: a gap"
like "bytes before the first ID: said" "15 bytes before the first source ID; first at byte 0x0 of the input, offset 0x0" "$(<"$tmp/err")"
{ frame 0 9; hex FB 11 FB 12 FB 13 FB 14 FB 15 FB 16 FB 17 03 00; } >"$tmp/trigger.fr"
"$ntrace" stat --framing coresight "$tmp/trigger.fr" >"$tmp/out" 2>"$tmp/err"
is "$(grep -c 'missing' "$tmp/err")" 0 "a trigger's bytes are not missing"
{ word 4; cat "$tmp/anew"; } >"$tmp/gap.fr"
"$ntrace" dump --framing coresight "$tmp/gap.fr" >/dev/null 2>"$tmp/err"
is $? 3 "a barrier first: status 3"
like "a barrier first: said" "1 barrier over lost trace; first at byte 0x10 of the input, offset 0x0" "$(<"$tmp/err")"
"$ntrace" check --framing coresight "$tmp/gap.fr" >"$tmp/out" 2>/dev/null
is "$? $(<"$tmp/out")" "3 3 messages: 0 errors, 0 warnings, 0 infos" "what begins after it need not begin with a sync"
# Findings come before gaps.
hex 24 15 00 83 02 03 >"$tmp/wrong"
frames "$tmp/gap.fr" 0 0 1="$tmp/wrong"
word 4 >>"$tmp/gap.fr"
"$ntrace" check --framing coresight "$tmp/gap.fr" >/dev/null 2>&1
is $? 1 "check: status 1 with findings, whatever is missing"

# ---- a compressed file that is cut ----

# Cut behind the header of its frame, nothing can be read; cut behind its first block, all before that; frames are last.
zstd -q -f "$tmp/loop.nex" -o "$tmp/whole.zst"
zstd -q -f "$tmp/loop.fr" -o "$tmp/framed.zst"
seq 100000 200000 | zstd -q >"$tmp/large.zst"
for cut in "whole.zst 12" "whole.zst $(($(stat -c %s "$tmp/whole.zst") - 1))" "large.zst $(($(stat -c %s "$tmp/large.zst") / 2))" \
	"framed.zst 12 --framing coresight:0x6f"; do
	read -r file size framing <<<"$cut"
	head -c "$size" "$tmp/$file" >"$tmp/cut.zst"
	for sub in dump "decode ${elf[*]}" "decode --level message" stat "stat ${elf[*]}" check; do
		expected=3
		# What is no trace has findings, too.
		[ "$sub $file" = "check large.zst" ] && expected=1
		# shellcheck disable=SC2086
		"$ntrace" $sub $framing "$tmp/cut.zst" >"$tmp/out" 2>"$tmp/err"
		is $? $expected "$file, $size bytes: ${sub/$tmp/}: status"
		like "$file, $size bytes: ${sub/$tmp/}: said" "cut.zst: the compressed file is truncated: bytes of the trace are missing" "$(<"$tmp/err")"
	done
done
head -c 12 "$tmp/whole.zst" >"$tmp/cut.zst"
complains "detect: a compressed file that is cut" 1 "the compressed file is truncated: nothing of it can be read" detect "$tmp/cut.zst"

# ---- complaints ----

complains "several sources in a file" 1 "mix.fr: the frames have 3 sources: 0x03 \(20,000 bytes\), 0x10 \(63 bytes\), 0x6f \(1,400 bytes\): choose one with --framing coresight:ID, or separate them with 'ntrace split'" \
	dump --framing coresight "$tmp/mix.fr"
mkfifo "$tmp/fifo"
cat "$tmp/mix.fr" >"$tmp/fifo" &
"$ntrace" dump --framing coresight "$tmp/fifo" >/dev/null 2>"$tmp/err"
is $? 1 "several sources in a pipe: status"
wait
like "several sources in a pipe" "fifo: the frames have sources 0x[0-9a-f]+ and 0x[0-9a-f]+, and a pipe cannot be read twice: choose one with --framing coresight:ID, or separate them with 'ntrace split'" "$(<"$tmp/err")"
complains "a missing source" 1 "mix.fr: the frames have no bytes of source 0x05: they have 0x03 \(20,000 bytes\), 0x10" dump --framing coresight:5 "$tmp/mix.fr"
mapfile -t twenty < <(for i in $(seq 20); do echo "$i=$tmp/nops"; done)
frames "$tmp/many.fr" 0 0 "${twenty[@]}"
complains "more sources than are listed" 1 "20 sources: 0x01 \(8 bytes\), .* 0x10 \(8 bytes\) and 4 more" dump --framing coresight "$tmp/many.fr"
for bad in coresigh coresightx coresight:0 coresight:0x70 coresight: coresight:1x coresight:-1 tpiu; do
	complains "--framing $bad" 2 "option --framing: '.*' is not (coresight or coresight:ID|a source ID between 1 and 0x6f)" dump --framing "$bad" "$tmp/all.fr"
done
mkdir "$tmp/recording"
printf 'PERFILE2 and more of it' >"$tmp/perf.data"
for sub in dump "decode ${elf[*]}" "stat ${elf[*]}" "check ${elf[*]}"; do
	# shellcheck disable=SC2086
	complains "${sub%% *}: words and frames" 2 "--words16 and --framing exclude each other" $sub --words16 --framing coresight "$tmp/all.fr"
	# shellcheck disable=SC2086
	complains "${sub%% *}: frames and words" 2 "--words16 and --framing exclude each other" $sub --framing coresight --words16 "$tmp/all.fr"
	# shellcheck disable=SC2086
	complains "${sub%% *}: a recording" 2 "--framing applies to raw traces only" $sub --framing coresight "$tmp/recording"
	# shellcheck disable=SC2086
	complains "${sub%% *}: a perf.data file" 2 "--framing applies to raw traces only" $sub --framing coresight "$tmp/perf.data"
done
complains "an ELF file" 1 "not a trace: the file is an ELF file" dump --framing coresight "$ntrace"
input=$ntrace complains "an ELF file, from standard input, one source" 1 "not a trace: the file is an ELF file" dump --framing coresight:1 -

done_testing
