#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace split: the files of the sources, compared with the inputs of the trace and with a split by a few lines of Python.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode
seed=${SEED:-1}
diag "seed $seed"

hex() { printf '%b' "$(sed -E 's/([0-9A-Fa-f]{2}) */\\x\1/g' <<<"$*")"; }
frames() { python3 "$top/selftests/tools/frames.py" "$@"; }
split() { "$ntrace" split "$@" >"$tmp/out" 2>"$tmp/err"; }
# json EXPRESSION: evaluates it on the object "s" that split --json printed.
json() { python3 -c "import json, sys; s = json.load(open(sys.argv[1])); print(($1))" "$tmp/out"; }
# count: number of files in $tmp/dir
count() { local files=("$tmp/dir"/*); echo "${#files[@]}"; }
# complains TEXT STATUS PATTERN ARGUMENT...: checks that split prints one complaint and no table, and
# leaves $tmp/dir as it was.
complains() {
	local text=$1 expected=$2 pattern=$3 rc=0 before
	shift 3
	before=$(ls -A "$tmp/dir" 2>/dev/null)
	split "$@" || rc=$?
	is "$rc $(wc -c <"$tmp/out")" "$expected 0" "$text: status"
	like "$text" "$pattern" "$(<"$tmp/err")"
	is "$(ls -A "$tmp/dir" 2>/dev/null)" "$before" "$text: no files come or go"
}

for i in 1 2 3; do
	python3 -c "import random, sys; sys.stdout.buffer.write(random.Random($i).randbytes($i * 30000))" >"$tmp/$i"
done
frames "$tmp/three.fr" "$seed" 1 0x01="$tmp/1" 0x33="$tmp/2" 0x6f="$tmp/3"

# ---- frames ----

split --framing coresight -o "$tmp/dir" "$tmp/three.fr"
is "$? $(<"$tmp/err")" "0 " "three sources"
is "$(cd "$tmp/dir" && echo ./*)" "./source-0x01.nex ./source-0x33.nex ./source-0x6f.nex" "their files, and no others"
ok "source 0x01" cmp "$tmp/1" "$tmp/dir/source-0x01.nex"
ok "source 0x33" cmp "$tmp/2" "$tmp/dir/source-0x33.nex"
ok "source 0x6f" cmp "$tmp/3" "$tmp/dir/source-0x6f.nex"
is "$(stat -c %a "$tmp/dir/source-0x01.nex")" "$(printf '%o' $((0666 & ~$(umask))))" "permissions as of any new file"
like "the table" "^0x33 +$tmp/dir/source-0x33.nex +60,000 +[0-9,]+ +0$" "$(sed -n 3p "$tmp/out")"
is "$(awk '{ print length }' "$tmp/out" | sort -u | wc -l)" 1 "the columns line up"
messages=$(sed -n 3p "$tmp/out" | awk '{ gsub(",", ""); print $4 }')
is "$messages" "$("$ntrace" dump --json "$tmp/2" 2>/dev/null | grep -c '"type":"message"')" "messages are counted"
complains "files that exist" 1 "source-0x[0-9a-f]+.nex: the file exists: --force replaces it" --framing coresight -o "$tmp/dir" "$tmp/three.fr"
: >"$tmp/dir/source-0x01.nex"
split --force --json --framing coresight -o "$tmp/dir" "$tmp/three.fr"
is "$?" 0 "--force"
ok "--force: replaced" cmp "$tmp/1" "$tmp/dir/source-0x01.nex"
is "$(json '[(x["source"], x["file"].split("/")[-1], x["bytes"], x["gaps"]) for x in s["sources"]]')" \
	"[(1, 'source-0x01.nex', 30000, 0), (51, 'source-0x33.nex', 60000, 0), (111, 'source-0x6f.nex', 90000, 0)]" "--json"
is "$(json 's["bytes"], s["frame_gaps"]')" "($(stat -c %s "$tmp/three.fr"), 0)" "--json: totals"
rm -r "$tmp/dir"
split --framing coresight:0x33 -o "$tmp/dir" - < <(cat "$tmp/three.fr")
is "$? $(ls "$tmp/dir")" "0 source-0x33.nex" "one source, from a pipe"
ok "which is the one" cmp "$tmp/2" "$tmp/dir/source-0x33.nex"
(cd "$tmp" && rm -r dir && mkdir dir && cd dir && split --framing coresight ../three.fr)
is "$(count)" 3 "without -o: in this directory"
# Join the files again, and split the result again.
for i in 1 2; do
	rm -rf "$tmp/again"
	frames "$tmp/joined.fr" $((seed + i)) 1 0x01="$tmp/dir/source-0x01.nex" 0x33="$tmp/dir/source-0x33.nex" 0x6f="$tmp/dir/source-0x6f.nex"
	split --framing coresight -o "$tmp/again" "$tmp/joined.fr"
	ok "re-joined in another order ($i)" diff -r "$tmp/dir" "$tmp/again"
done
rm -r "$tmp/dir"
for i in 1 2 3; do head -c $((i * 1000)) "$tmp/$i" >"$tmp/small$i"; done
mapfile -t all < <(for i in $(seq 111); do echo "$i=$tmp/small$((i % 3 + 1))"; done)
frames "$tmp/all.fr" "$seed" 0 "${all[@]}"
split --framing coresight -o "$tmp/dir" "$tmp/all.fr"
is "$? $(count)" "0 111" "all sources that there can be"
wrong=0
for i in $(seq 111); do cmp -s "$tmp/dir/$(printf 'source-0x%02x.nex' "$i")" "$tmp/small$((i % 3 + 1))" || wrong=$((wrong + 1)); done
is "$wrong" 0 "each whole"
rm -r "$tmp/dir"

# Missing trace: split writes a gap mark, at which a reader reports an error and continues after the
# next end of a message.
for _ in $(seq 100); do hex 24 15 00 83 84 00 0B; done >"$tmp/loop.nex"
frames "$tmp/loop.fr" 0 0 5="$tmp/loop.nex"
{ head -c 165 "$tmp/loop.fr"; hex FF FF FF 7F; cat "$tmp/loop.fr"; } >"$tmp/gap.fr"
split --json --framing coresight -o "$tmp/dir" "$tmp/gap.fr"
is "$?" 3 "a gap: status 3"
like "a gap: a warning" "trace is missing in the frames: 5 bytes of frames that are not whole" "$(<"$tmp/err")"
is "$(json 's["frame_gaps"], s["sources"][0]["gaps"]')" "(1, 1)" "a gap: --json"
{ head -c 149 "$tmp/loop.nex"; hex 02; cat "$tmp/loop.nex"; } >"$tmp/expected"
ok "a gap: one byte is the mark" cmp "$tmp/expected" "$tmp/dir/source-0x05.nex"
is "$(json 's["sources"][0]["messages"]')" "$("$ntrace" dump "$tmp/dir/source-0x05.nex" 2>/dev/null | grep -c ProgTrace)" "a gap: messages are counted as a reader does"
rm -r "$tmp/dir"
{ for _ in 1 2 3 4; do hex FF FF FF 7F; done; cat "$tmp/loop.fr"; } >"$tmp/gap.fr"
split --framing coresight -o "$tmp/dir" "$tmp/gap.fr"
is "$? $(od -An -N2 -tx1 "$tmp/dir/source-0x05.nex")" "3  02 24" "a barrier first: the file begins with the mark"
rm -r "$tmp/dir"
{ cat "$tmp/loop.fr"; hex 11 22 33; } >"$tmp/gap.fr"
split --framing coresight -o "$tmp/dir" "$tmp/gap.fr"
is "$? $(tail -c 1 "$tmp/dir/source-0x05.nex" | od -An -tx1)" "3  02" "an end inside a frame: the file ends with the mark"
rm -r "$tmp/dir"

# ---- SRC ----

# SRC of 3 bits after TCODE: each message is TCODE 62 (vendor) with SRC and some bytes; idle bytes in between.
python3 - "$tmp" "$seed" <<-'END'
	import random, sys
	draw = random.Random(int(sys.argv[2]))
	out, files = bytearray(), {n: bytearray() for n in range(8)}
	for _ in range(20000):
	    src = draw.choice((0, 1, 1, 1, 5, 7))
	    message = [62 << 2, (src | draw.randrange(8) << 3) << 2]
	    message += [draw.randrange(64) << 2 | draw.randrange(2) for _ in range(draw.choice((0, 1, 5, 30)))]
	    message[-1] |= 3
	    files[src] += bytes(message)
	    out += bytes(message) + b"\xff" * draw.choice((0, 0, 0, 3))
	open(sys.argv[1] + "/soc.nex", "wb").write(out)
	for src, part in files.items():
	    if part: open(f"{sys.argv[1]}/expected.{src}", "wb").write(part)
END
split --json --params srcbits=3 -o "$tmp/dir" "$tmp/soc.nex"
is "$? $(<"$tmp/err")" "0 " "four SRC"
is "$(cd "$tmp/dir" && echo ./*)" "./src-0.nex ./src-1.nex ./src-5.nex ./src-7.nex" "their files, and no others"
for src in 0 1 5 7; do ok "SRC $src" cmp "$tmp/expected.$src" "$tmp/dir/src-$src.nex"; done
is "$(json 'sum(x["messages"] for x in s["sources"]), sum(x["bytes"] for x in s["sources"]) + s["idle_bytes"], s["unparsable_bytes"]')" \
	"(20000, $(stat -c %s "$tmp/soc.nex"), 0)" "--json: messages; bytes and idle bytes are all that there is"
complains "files of SRC that exist" 1 "src-[0-7].nex: the file exists" --params srcbits=3 -o "$tmp/dir" "$tmp/soc.nex"
dd if="$tmp/soc.nex" bs=1021 status=none | "$ntrace" split --params srcbits=3 -o "$tmp/again2" - >/dev/null
ok "from a pipe, cut anywhere" diff -r "$tmp/dir" "$tmp/again2"
frames "$tmp/soc.fr" "$seed" 1 0x21="$tmp/soc.nex" 0x22="$tmp/1"
split --framing coresight:0x21 --params srcbits=3 -o "$tmp/again3" "$tmp/soc.fr"
is "$?" 0 "frames first, then SRC"
ok "the same files" diff -r "$tmp/dir" "$tmp/again3"
rm -r "$tmp/dir"
complains "frames of several sources, and SRC" 1 "the frames have 2 sources: .*choose one" --framing coresight --params srcbits=3 -o "$tmp/dir" "$tmp/soc.fr"

# A reserved code, a message without SRC, a message of no listed SRC, the end inside a message.
{
	hex F8 07 F8 0B FF FF                    # SRC 1, SRC 2, idles
	hex F8 02 11 22 13 F8 07                 # reserved code up to 13, SRC 1
	hex FB; hex F8 00 0B                     # idle byte, SRC 0
	hex 24 03 F8                             # SRC 0; cut
} >"$tmp/bad.nex"
split --json --params srcbits=3 -o "$tmp/dir" "$tmp/bad.nex"
is "$?" 3 "bytes outside of messages: status 3"
like "bytes outside of messages: a warning" "6 bytes are in no file: they are not complete messages with a SRC: 2 places, the first at offset 0x6" "$(<"$tmp/err")"
is "$(json 's["idle_bytes"], s["unparsable_bytes"], s["unparsable_places"]')" "(3, 6, 2)" "bytes outside of messages: --json"
is "$(od -An -v -tx1 "$tmp/dir/src-1.nex")" " f8 07 02 03 f8 07" "a mark between whole messages"
is "$(od -An -v -tx1 "$tmp/dir/src-0.nex")" " f8 00 0b 24 03" "and none in what came later"
is "$("$ntrace" dump --params srcbits=3 "$tmp/dir/src-1.nex" | grep -c 'Vendor\|reserved MSEO')" 3 "which costs no message"
rm -r "$tmp/dir"
split --params srcbits=12 -o "$tmp/dir" - < <(hex F8 00 03 24 03 F8 00 03)
is "$? $(od -An -v -tx1 "$tmp/dir/src-0.nex")" "3  f8 00 03 02 03 f8 00 03" "a message too short for its SRC"
rm -r "$tmp/dir"
{ hex F8 03; hex F8; head -c 70000 /dev/zero; hex 03; hex F8 07; } >"$tmp/endless.nex"
split --json --params srcbits=3 -o "$tmp/dir" "$tmp/endless.nex"
is "$? $(json '[x["bytes"] for x in s["sources"]], s["unparsable_bytes"]')" "3 ([4, 2], 70002)" "a message of 70,002 bytes is none"
rm -r "$tmp/dir"
{ hex F8; head -c 65534 /dev/zero; hex 03; } >"$tmp/longest.nex"
# A single read ends with a zstd frame.
for ((at = 0; at < 65536; at += 8000)); do tail -c +$((at + 1)) "$tmp/longest.nex" | head -c 8000 | zstd -q -c; done >"$tmp/pieces"
split --params srcbits=3 -o "$tmp/dir" "$tmp/pieces"
is "$?" 0 "the longest one, in pieces: status"
ok "the longest one, in pieces" cmp "$tmp/longest.nex" "$tmp/dir/src-0.nex"
rm -r "$tmp/dir"
{ hex F8 07 F8; head -c 65535 /dev/zero; hex 03; } >"$tmp/longer.nex"
split --json --params srcbits=3 -o "$tmp/dir" "$tmp/longer.nex"
is "$? $(json '[x["bytes"] for x in s["sources"]], s["unparsable_bytes"]')" "3 ([4], 65537)" "and one that is a byte longer"
rm -r "$tmp/dir"
# A gap in the frames: whole messages on both sides, and a gap mark between.
hex F8 07 F8 0B F8 07 F8 0B F8 07 F8 0B F8 07 >"$tmp/few"
frames "$tmp/few.fr" 0 0 9="$tmp/few"
{ cat "$tmp/few.fr"; for _ in 1 2 3 4; do hex FF FF FF 7F; done; cat "$tmp/few.fr"; } >"$tmp/gap.fr"
split --framing coresight --params srcbits=3 --json -o "$tmp/dir" "$tmp/gap.fr"
is "$? $(json 's["frame_gaps"], [(x["messages"], x["gaps"]) for x in s["sources"]]')" "3 (1, [(7, 1), (6, 1)])" "a gap in frames, and SRC"
is "$(od -An -v -tx1 "$tmp/dir/src-2.nex")" " f8 0b f8 0b f8 0b 02 03 f8 0b f8 0b f8 0b" "the mark is between whole messages"
rm -r "$tmp/dir"

if [ -e "$data/xrle.nex" ]; then
	zcat "$data/xrle.pcseq.txt.gz" | cut -d, -f1 >"$tmp/pcs"
	for src in 1 2; do
		"$ntrace" encode --pcs "$tmp/pcs" --elf "$data/xrle.elf" --mode btm --params srcbits=2 --src $src -o "$tmp/hart$src" >/dev/null 2>&1
	done
	# Messages of the sources alternate.
	python3 - "$tmp" <<-'END'
		import sys
		messages = [[], []]
		for n in (0, 1):
		    message = b""
		    for byte in open(f"{sys.argv[1]}/hart{n + 1}", "rb").read():
		        message += bytes([byte])
		        if byte & 3 == 3:
		            messages[n].append(message)
		            message = b""
		open(f"{sys.argv[1]}/harts", "wb").write(b"".join(a + b for a, b in zip(*messages)))
	END
	frames "$tmp/harts.fr" "$seed" 1 0x10="$tmp/harts" 0x12="$tmp/2"
	split --framing coresight:0x10 --params srcbits=2 -o "$tmp/dir" "$tmp/harts.fr"
	for src in 1 2; do
		ok "a program on hart $src: its stream" cmp "$tmp/hart$src" "$tmp/dir/src-$src.nex"
		is "$("$ntrace" decode --level pc --params srcbits=2 --elf "$data/xrle.elf" "$tmp/dir/src-$src.nex" | sha256sum)" \
			"$(tr 'A-FX' 'a-fx' <"$tmp/pcs" | sha256sum)" "a program on hart $src: its PCs"
	done
	rm -r "$tmp/dir"
else
	skip "a program on two harts" "no $data/xrle.nex"
fi

# ---- complaints ----

python3 -c 'import sys; sys.stdout.buffer.write(b"".join(bytes([62 << 2, (n & 63) << 2, n >> 6 << 2 | 3]) for n in range(65)))' >"$tmp/65.nex"
complains "more than 64 SRC" 1 "more than 64 sources .0x40.: do the options match the trace" --params srcbits=7 -o "$tmp/dir" "$tmp/65.nex"
ok "and not even the directory is left" test ! -e "$tmp/dir"
head -c 192 "$tmp/65.nex" >"$tmp/64.nex"
split --params srcbits=7 -o "$tmp/dir" "$tmp/64.nex"
is "$? $(count)" "0 64" "64 are fine"
rm -r "$tmp/dir"
complains "split by nothing" 2 "--framing coresight or --params srcbits=N is needed" "$tmp/soc.nex"
complains "split by parameters without SRC" 2 "or --params srcbits=N is needed" --params xlen=32 "$tmp/soc.nex"
complains "no file" 2 "one trace file is needed" --framing coresight
complains "two files" 2 "one trace file is needed" --framing coresight "$tmp/1" "$tmp/2"
complains "a recording" 2 "is a recording: split reads raw traces" --framing coresight "$tmp"
complains "a missing file" 1 "nonexistent: No such file" --framing coresight /nonexistent
complains "a directory that cannot be" 1 "/nonexistent/dir: No such file" --framing coresight -o /nonexistent/dir "$tmp/three.fr"
complains "a directory that is a file" 1 "not a directory: -o names the directory" --framing coresight -o "$tmp/1" "$tmp/three.fr"
complains "a missing source" 1 "the frames have no bytes of source 0x44" --framing coresight:0x44 -o "$tmp/dir" "$tmp/three.fr"
: >"$tmp/empty"
complains "nothing in frames" 1 "the frames have no bytes of any source" --framing coresight -o "$tmp/dir" "$tmp/empty"
complains "an empty input" 1 "the trace has no message with a SRC" --params srcbits=2 -o "$tmp/dir" "$tmp/empty"
complains "an ELF file" 1 "not a trace: the file is an ELF file" --framing coresight -o "$tmp/dir" "$ntrace"
# A full disk: no file is left.
mkdir "$tmp/dir"
(ulimit -f 40 && split --framing coresight -o "$tmp/dir" "$tmp/three.fr")
is "$? $(ls -A "$tmp/dir")" "1 " "a file that cannot be written: nothing is left"
like "and a message says it" "source-0x[0-9a-f]+.nex.*: File too large" "$(<"$tmp/err")"
done_testing
