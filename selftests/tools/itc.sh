#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# InCircuitTrace and DataAcquisition of SiFive's encoders: dump, assemble, decode with its levels,
# text of stimulus registers, stat, check, and PC samples in the report of a recording.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
v0=dialect=sifive-v0

# stores CHANNEL:WIDTH:TEXT...: writes each text as stores of WIDTH bytes, and its rest as shorter
# ones.
cat >"$tmp/stores.py" <<'END'
import sys
tags = {4: 0, 2: 2, 1: 3}
for argument in sys.argv[1:]:
    channel, width, text = argument.split(":", 2)
    data = text.encode().decode("unicode_escape").encode("latin-1")
    channel, _, src = channel.partition("/")
    while data:
        size = next(size for size in (int(width), 2, 1) if size <= min(int(width), len(data)))
        print('{"name":"DataAcquisition",%s"IDTAG":%d,"DQDATA":%d}' %
              ('"SRC":%s,' % src if src else "", 4 * int(channel) + tags[size], int.from_bytes(data[:size], "little")))
        data = data[size:]
END
stores() { python3 "$tmp/stores.py" "$@"; }
# made PARAMS: makes the trace of a text. itc PARAMS OPTION...: prints its output, with lines joined
# by "|".
made() { "$ntrace" assemble --params "$1" -o "$tmp/trace" - 2>"$tmp/err" || diag "$(cat "$tmp/err")"; }
itc() { made "$1"; "$ntrace" decode --level itc --params "$1" "${@:2}" "$tmp/trace" 2>"$tmp/err" | tr '\n' '|'; }

# ---- text ----

for width in 1 2 4; do
	is "$(stores "3:$width:Hello, world\\n" | itc $v0)" "[channel 3] Hello, world|" "a line in stores of at most $width bytes"
	is "$(stores "3:$width:one\\ntwo\\n\\nthree" | itc $v0)" "[channel 3] one|[channel 3] two|[channel 3]|[channel 3] three|" \
		"ends of lines within stores of $width bytes, and none at the end"
	is "$(stores "0:$width:a\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x98\\x80z\\tb\\r\\n" | itc $v0)" "[channel 0] aé€😀z	b|" \
		"UTF-8, a tab, and CR LF in stores of $width bytes"
done
is "$(stores '3:1:\xc2\xa3\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\xf0\x90\x80\x80\xf4\x8f\xbf\xbd\n' | itc $v0)" "[channel 3] $(printf '\xc2\xa3\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\xf0\x90\x80\x80\xf4\x8f\xbf\xbd')|" \
	"the first and last characters of two, three and four bytes"
is "$(stores 3:4:Hello 5:1:wo 3:1:, 5:2:rld 3:2:you '5:1:\n' '3:1:\n' | itc $v0)" "[channel 5] world|[channel 3] Hello,you|" "two channels at a time"
is "$(stores 3/1:4:abc 3/2:2:de 3/1:1:'f\n' 3/2:1:'\n' | itc $v0,srcbits=2)" "[src 1] [channel 3] abcf|[src 2] [channel 3] de|" "two harts at a time"
is "$(stores 3/1:4:abc 3/2:2:de 3/1:1:'f\n' 3/2:1:'\n' | itc $v0,srcbits=2 --src 2)" "[channel 3] de|" "one hart of two"
is "$(stores "1:4:$(printf 'x%.0s' {1..257})" | itc $v0 | tr '|' '\n' | awk '{ print length($3) }' | tr '\n' ' ')" "256 1 " "256 characters are a line"

# ---- values that are not text ----

is "$(stores '3:4:\xcd\xab\0\0' | itc $v0)" "[channel 3] 0x0000abcd|" "a word"
is "$(stores '3:2:\x01\x02' '3:1:\x7f' | itc $v0)" "[channel 3] 0x0201|[channel 3] 0x7f|" "a halfword and a byte"
is "$(stores 3:4:ab '3:4:\x01\0\0\0' '3:1:c\n' | itc $v0)" "[channel 3] ab|[channel 3] 0x00000001|[channel 3] c|" "a word amid text"
is "$(stores '3:1:a\xc3b\n' | itc $v0)" "[channel 3] a|[channel 3] 0xc3|[channel 3] b|" "half a character is shown before what follows"
is "$(stores '3:1:a\xc3' | itc $v0)" "[channel 3] a|[channel 3] 0xc3|" "and at the end"
is "$(stores '3:1:a\rb' | itc $v0)" "[channel 3] a|[channel 3] 0x0d|[channel 3] b|" "CR alone"
is "$(stores '3:1:\xc0\x80' '4:1:\xed\xa0\x80' '5:1:\xf4\x90\x80\x80' '6:1:\xc2\x85' '7:1:\x80' | itc $v0 | sed 's/\[channel //g; s/\]//g')" \
	"3 0xc0|3 0x80|4 0xed|4 0xa0|4 0x80|5 0xf4|5 0x90|5 0x80|5 0x80|6 0xc2|6 0x85|7 0x80|" "bytes that are no UTF-8, and control characters in it"
is "$(echo '{"name":"DataAcquisition","IDTAG":13,"DQDATA":65}{"name":"DataAcquisition","IDTAG":128,"DQDATA":65}
{"name":"DataAcquisition","IDTAG":15,"DQDATA":4660}' | sed 's/}{/}\n{/' | itc $v0)" "[channel 3] 0x41|[channel 32] 0x00000041|[channel 3] 0x1234|" \
	"an IDTAG without width, a register that is none, a value wider than its store"

# ---- samples of the PC, data trace ----

for address in 0x8000 0x8004 0x8100; do
	echo "{\"name\":\"ProgTraceSync\",\"SYNC\":15,\"ICNT\":0,\"FADDR\":\"$address\"}"
done >"$tmp/samples"
is "$(itc $v0 <"$tmp/samples" | grep -o '0x0000[0-9a-f]*' | tr '\n' ' ')$(wc -l <"$tmp/err")" "0x0000000000010000 0x0000000000010008 0x0000000000010200 0" \
	"syncs that sample the PC"
head -c 4096 /dev/zero >"$tmp/code"
"$ntrace" decode --params $v0 --raw "$tmp/code@0x10000" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'PC sample' "$tmp/out") $(grep -c gap "$tmp/out")" "0 3 0" "and no flow begins there that could have gaps"
{
	echo '{"name":"ProgTraceSync","SYNC":5,"ICNT":0,"FADDR":"0x8000","TSTAMP":"0x100"}'
	echo '{"name":"DataWrite","DSZ":2,"DADDR":"0x2000","DATA":"0xdead","TSTAMP":1}'
	echo '{"name":"DataReadSync","DSZ":3,"DADDR":"0x80002000","DATA":"0x7","TSTAMP":"0x200"}'
	echo '{"name":"DataAcquisition","IDTAG":12,"DQDATA":65,"TSTAMP":1}'
} | made srcbits=0
is "$("$ntrace" dump "$tmp/trace" | awk '{ sub(/ \|.*/, ""); $1 = $2 = ""; print }' | tail -n +2 | tr '\n' '|')" \
	"  5 DataWrite DSZ=2 DADDR=0x2000 DATA=0xdead TSTAMP=0x1|  14 DataReadSync DSZ=3 DADDR=0x80002000 DATA=0x7 TSTAMP=0x200|  7 DataAcquisition IDTAG=0xc DQDATA=0x41 TSTAMP=0x1|" \
	"data trace is shown field by field"
is "$("$ntrace" decode --level itc --params tsbits=40 "$tmp/trace" --json | grep -o '"time":"[^"]*"')" '"time":"0x201"' "and its times count"
is "$("$ntrace" check --params tsbits=40 "$tmp/trace" | grep -c ' info  *data-trace ')" 3 "check tells of it, once for each kind"

# ---- losses and time ----

{ stores 3:1:ab; echo '{"name":"Error","ETYPE":0,"ECODE":128}'; stores '3:1:cd\n'; } | made $v0
"$ntrace" decode --level itc --params $v0 "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
is "$? $(tr '\n' '|' <"$tmp/out")" \
	"3 [channel 3] ab|-- error: the encoder lost trace, queue overrun (ETYPE 0), ECODE 0x80 (offset 0x8)|[channel 3] cd|" \
	"a loss ends a line, is reported, and causes status 3"
{
	echo '{"name":"InCircuitTraceWS","CKSRC":15,"CKDF":0,"ADDRESS":"0x10000","TSTAMP":"0x100"}'
	stores 3:1:a
	echo '{"name":"DataAcquisition","IDTAG":15,"DQDATA":98,"TSTAMP":1}'
	echo '{"name":"InCircuitTrace","CKSRC":15,"CKDF":0,"ADDRESS":"0x10004","TSTAMP":2}'
} >"$tmp/timed"
is "$(itc $v0 <"$tmp/timed" | sed 's/  */ /g')" \
	" 256: -- circuit: PC sample (CKSRC 15) at 0x0000000000010000 [unknown] (offset 0x0)| 259: -- circuit: PC sample (CKSRC 15) at 0x0000000000010004 [unknown] (offset 0x10)| 257: [channel 3] ab|" \
	"a line has the time of its last store"
is "$("$ntrace" decode --level itc "$tmp/trace" --params $v0 --json | tr '\n' '|')" \
	'{"type":"circuit","offset":0,"time":"0x100","code":15,"detail":"PC sample","address":"0x10000"}|{"type":"data","offset":7,"time":"0x100","channel":3,"idtag":"0xf","size":1,"value":"0x61"}|{"type":"data","offset":11,"time":"0x101","channel":3,"idtag":"0xf","size":1,"value":"0x62"}|{"type":"circuit","offset":16,"time":"0x103","code":15,"detail":"PC sample","address":"0x10004"}|' \
	"--json: an object a store"

# ---- program flow, with a program ----

cat >"$tmp/demo.S" <<'END'
.globl _start
.type _start, @function
_start: nop
	jal ra, leaf
	j _start
.size _start, . - _start
.balign 32
.globl leaf
.type leaf, @function
leaf:	nop
	ret
.size leaf, . - leaf
END
riscv64-linux-gnu-gcc -march=rv64g -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id -o "$tmp/demo" "$tmp/demo.S" ||
	not_ok "the program is assembled"
cat >"$tmp/mixed" <<'END'
{"name":"ProgTraceSync","SYNC":5,"ICNT":0,"ADDRESS":"0x10000"}
{"name":"InCircuitTrace","CKSRC":9,"CKDF":1,"ADDRESS":"0x10004","CKDATA1":"0x12"}
{"name":"InCircuitTrace","CKSRC":15,"CKDF":0,"ADDRESS":"0x10024"}
{"name":"IndirectBranch","BTYPE":0,"ICNT":8,"ADDRESS":"0x10008"}
{"name":"InCircuitTrace","CKSRC":14,"CKDF":1,"ADDRESS":"0x10000","CKDATA1":2}
{"name":"InCircuitTrace","CKSRC":0,"CKDF":0,"CKDATA0":3}
{"name":"InCircuitTrace","CKSRC":12,"CKDF":0,"CKDATA0":131073}
{"name":"DataAcquisition","IDTAG":12,"DQDATA":1684234849}
{"name":"InCircuitTraceWS","CKSRC":8,"CKDF":0,"ADDRESS":"0x10020"}
{"name":"ProgTraceCorrelation","EVCODE":4,"CDF":0,"ICNT":2}
END
made $v0 <"$tmp/mixed"
cp "$tmp/trace" "$tmp/mixed.nex"
is "$(cat "$tmp/err")" "" "ADDRESS is that of CKDATA0 and UADDR"
"$ntrace" dump --params $v0 "$tmp/mixed.nex" >"$tmp/dump"
is "$(grep -o -- '-> 0x[0-9a-f]*' "$tmp/dump" | tr '\n' ' ')" "-> 0x10000 -> 0x10004 -> 0x10024 -> 0x10008 -> 0x10000 -> 0x10020 " "dump: addresses"
like "dump: fields and the name of the reason" " InCircuitTrace +CKSRC=9\(call\) CKDF=1 CKDATA0=0x2 CKDATA1=0x12 -> 0x10004 \|" "$(sed -n 2p "$tmp/dump")"
like "dump: a store" " DataAcquisition +IDTAG=0xc DQDATA=0x64636261 \|" "$(sed -n 8p "$tmp/dump")"
like "dump --json: the same" '"name":"InCircuitTrace","fields":\{"CKSRC":14,"CKDF":1,"CKDATA0":"0x4","CKDATA1":"0x2"\},"names":\{"CKSRC":"watchpoint"\},"address":"0x10000"' \
	"$("$ntrace" dump --json --params $v0 "$tmp/mixed.nex" | sed -n 5p)"
is "$("$ntrace" dump --bytes --params $v0 "$tmp/mixed.nex" | grep -A4 'CKSRC=9' | awk '/^  0x/ { print $4 }' | tr '\n' ' ')" \
	"TCODE CKSRC+CKDF CKDATA0 CKDATA1 " "dump --bytes: fields of bytes"
for form in --json --lossless; do
	"$ntrace" dump $form --params $v0 "$tmp/mixed.nex" | "$ntrace" assemble --params $v0 -o "$tmp/again" 2>"$tmp/err"
	ok "dump $form, assembled, is the same" cmp "$tmp/again" "$tmp/mixed.nex"
	is "$(cat "$tmp/err")" "" "dump $form, assembled: no complaint"
done
fails "assemble: counters have no address" "InCircuitTrace has no address: ADDRESS replaces" \
	"$ntrace" assemble --params $v0 -o "$tmp/again" <(echo '{"name":"InCircuitTrace","CKSRC":12,"CKDF":0,"ADDRESS":4}')
fails "assemble: nothing to count from" "CKDATA0 is relative to the previous address" \
	"$ntrace" assemble --params $v0 -o "$tmp/again" <(echo '{"name":"InCircuitTrace","CKSRC":15,"CKDF":0,"ADDRESS":4}')
is "$("$ntrace" dump "$tmp/mixed.nex" | grep -c '\[unknown\]')" 6 "InCircuitTrace is unknown in the ratified dialect"

# marks LEVEL: prints the lines that are no instructions, without offsets.
marks() { "$ntrace" decode --level "$1" --params $v0 --elf "$tmp/demo" "$tmp/mixed.nex" 2>&1 | sed -n 's/ (offset .*//; s/^-- //p'; }
cat >"$tmp/marks" <<'END'
circuit: call (CKSRC 9) at 0x0000000000010004 _start+0x4 [demo] to 0x0000000000010020 leaf [demo]
circuit: PC sample (CKSRC 15) at 0x0000000000010024 leaf+0x4 [demo]
circuit: watchpoint (CKSRC 14), trigger 2 at 0x0000000000010000 _start [demo]
circuit: control (CKSRC 0), 0x3
circuit: compressed PC counters (CKSRC 12), counters 0x20001
data: channel 3, 0x64636261 (IDTAG 0xc)
circuit: external trigger (CKSRC 8) at 0x0000000000010020 leaf [demo]
END
for level in block instruction branch; do
	is "$(marks $level | grep '^circuit\|^data')" "$(cat "$tmp/marks")" "decode --level $level: events with places"
done
is "$(marks itc)" "$(grep -v data "$tmp/marks")" "decode --level itc: the same, and no other lines"
is "$("$ntrace" decode --level itc --params $v0 --elf "$tmp/demo" "$tmp/mixed.nex" | grep channel)" "[channel 3] abcd" "decode --level itc: the store is text"
is "$("$ntrace" decode --level pc --params $v0 --elf "$tmp/demo" "$tmp/mixed.nex" | tr '\n' ' ')" \
	"0x10000 0x10004 0x10020 0x10024 0x10008 " "decode --level pc: instructions alone"
is "$("$ntrace" decode --level branch --params $v0 --elf "$tmp/demo" "$tmp/mixed.nex" | grep -c -- ' return .* leaf+0x4')" 1 \
	"decode --level branch: a transfer beyond them is whole"
like "decode --json: places of a call" '"code":9,"detail":"call","destination":"0x10020","address":"0x10004","symbol":"_start","symbol_offset":4,"object":"[^"]*/demo","destination_symbol":"leaf","destination_symbol_offset":0' \
	"$("$ntrace" decode --json --params $v0 --elf "$tmp/demo" "$tmp/mixed.nex" | grep '"code":9')"
fails "the other levels need a program" "a raw trace needs the program" "$ntrace" decode --params $v0 "$tmp/mixed.nex"

# ---- stat and check ----

"$ntrace" stat --params $v0 "$tmp/mixed.nex" >"$tmp/stat"
like "stat: by TCODE" "^ +34 InCircuitTrace +5 " "$(grep '^ *34 ' "$tmp/stat")"
is "$(sed -n '/^InCircuitTrace/,/^$/p' "$tmp/stat" | awk 'NR > 1 && NF { print $1 ":" $NF }' | tr '\n' ' ')" "0:1 8:1 9:1 12:1 14:1 15:1 " "stat: by reason"
is "$("$ntrace" stat --json --params $v0 "$tmp/mixed.nex" | python3 -c 'import json, sys; print(json.load(sys.stdin)["circuits"])')" \
	"{'0': 1, '8': 1, '9': 1, '12': 1, '14': 1, '15': 1}" "stat --json: the same"
stores 3:4:abcd | made $v0
like "stat: stores need no sync" '"undecodable_bytes":0,' "$("$ntrace" stat --json --params $v0 "$tmp/trace")"
"$ntrace" check --params $v0 --elf "$tmp/demo" "$tmp/mixed.nex" >"$tmp/out" 2>&1
is "$? $(grep -c 'cksrc\|ckdf' "$tmp/out")" "0 0" "check: nothing is wrong"
echo '{"name":"InCircuitTraceWS","CKSRC":13,"CKDF":2,"CKDATA0":3}' | made $v0
"$ntrace" check --params $v0 "$tmp/trace" >"$tmp/out" 2>&1
like "check: reserved values" "cksrc-unknown.*ckdf-reserved" "$(tr '\n' ' ' <"$tmp/out")"

# ---- a recording ----

gcc -std=c11 -I "$top/lib/include" "$top/Documentation/examples/recording.c" "$top/build/libntrace.a" \
	-ldw -lelf -llzma -lzstd -lz -lm -o "$tmp/recording" || not_ok "the example is built"
# recorded TRACE: makes a recording of process 42, which has mapped the program.
recorded() {
	rm -rf "$tmp/demo.data"
	"$tmp/recording" "$tmp/demo.data" "$tmp/demo" "$(wc -c <"$1")" || not_ok "a recording"
	cp "$1" "$tmp/demo.data/aux.0"
	sed -i 's/dialect=ratified/dialect=sifive-v0/' "$tmp/demo.data/params"
	grep -q sifive-v0 "$tmp/demo.data/params" || sed -i 's/xlen=64/&,dialect=sifive-v0/' "$tmp/demo.data/params"
}
{
	echo '{"name":"InCircuitTrace","CKSRC":15,"CKDF":0,"CKDATA0":3}'
	echo '{"name":"InCircuitTraceWS","CKSRC":15,"CKDF":0,"ADDRESS":"0x10000"}'
	for address in 0x10020 0x10024 0x10020 0x10500; do echo '{"name":"InCircuitTrace","CKSRC":15,"CKDF":0,"ADDRESS":"'$address'"}'; done
	stores '3:4:hello\n'
} | made $v0
recorded "$tmp/trace"
"$ntrace" report "$tmp/demo.data" >"$tmp/report" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "report of samples alone: status and complaints"
is "$(sed -n '/PC samples/,$p' "$tmp/report" | tr -s ' ' | sed 's/^ //' | tr '\n' '|')" \
	"share PC samples mode object function|60.00 % 3 user demo leaf|20.00 % 1 user demo [no symbol]|20.00 % 1 user demo _start|1 address not known|" "report: PC samples"
is "$(grep -c '^ *share ' "$tmp/report")" 1 "report: no table of instructions without any"
like "report: the rest is sane" "instructions  0" "$(cat "$tmp/report")"
"$ntrace" report --json "$tmp/demo.data" | python3 -c '
import json, sys
report = json.load(sys.stdin)
samples = report["pc_samples"]
print(report["functions"], samples["selected"], samples["without_address"], [(f["function"], f["samples"], f["share"]) for f in samples["functions"]])' >"$tmp/out"
is "$(cat "$tmp/out")" "[] 5 1 [('leaf', 3, 0.6), (None, 1, 0.2), ('_start', 1, 0.2)]" "report --json: PC samples"
is "$("$ntrace" report --limit 1 "$tmp/demo.data" | grep -c '40.00 % .* 2 more functions')" 1 "report --limit"
is "$("$ntrace" report --kernel "$tmp/demo.data" | grep -c leaf)" 0 "report --kernel: no samples of user space"
is "$("$ntrace" report --privilege vu,k,m "$tmp/demo.data" | grep -c leaf)" 0 "report --privilege: no samples of user space"
is "$("$ntrace" report --privilege Um "$tmp/demo.data" | grep -c '60.00 % .* leaf')" 1 "report --privilege: samples of user space"
is "$("$ntrace" report --by-process "$tmp/demo.data" | awk '$5 == "42" { print $6, $NF }' | tr '\n' '|')" "demo leaf|demo symbol]|demo _start|" "report --by-process"
"$ntrace" decode --level itc "$tmp/demo.data" >"$tmp/out" 2>"$tmp/err"
is $? 0 "decode --level itc of a recording: status"
like "decode --level itc of a recording: thread and text" "^\[000\] +42 demo +U +\[channel 3\] hello$" "$(tail -n 1 "$tmp/out")"
like "decode --level itc of a recording: symbols" "PC sample .* leaf\+0x4 \[demo\]" "$(cat "$tmp/out")"
recorded "$tmp/mixed.nex"
"$ntrace" report "$tmp/demo.data" >"$tmp/report" 2>"$tmp/err"
is "$(grep -c '^ *share ' "$tmp/report")" 2 "report: instructions and PC samples"
is "$(sed -n '/PC samples/,$p' "$tmp/report" | tail -n 1 | tr -s ' ')" "100.00 % 1 user demo leaf" "report: one sample"

done_testing
