#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace ingress on this machine: output, findings, filters, and waveforms written by hand; bad input causes a clear message.
# ingress_core.sh has a simulated core.
# shellcheck disable=SC2016 # sed and waveforms have dollars
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
cd "$tmp" || exit 1

cat >two <<'END'
ntrace-ingress 2 xlen=64 itype=4 groups=2 port=block data=split retires=8 accesses=2 dtype=4 lsbs=5 lrid=3
start 5
c time=7 priv=3 scontext=0x1f ctype=2 trace_on notify=0x2 0x100,3,5 0x200,5,0 d=0,0x8000,2,r1 d=1,0x9000,1,s0x1ff,i0x8,b1
c idle=4 time=12 r=2,1,0x7
c priv=1 cause=0xb tval=0x3 0x20a,0,1
c halted=1
overrun
stop 4
end
END
is "$("$ntrace" ingress dump two)" "# xlen 64, 4 bits of itype, 2 groups of a block; split data, 2 accesses, 4 bits of dtype, 5 of iaddr_lsbs, retires 8
           start 5
         0 M  time 7 scontext 0x1f hcontext 0x0 ctype precise trace-on notify 0x2
         0 M  block    0x0000000000000100 3 parcels, last of 2 bytes, taken branch
         0 M  block    0x0000000000000200 5 parcels, last of 2 bytes, -
         0 M  load          0x0000000000008000 4 bytes, lrid 1, by 0x100
         0 M  store         0x0000000000009000 2 bytes, store 0x1ff, by 0x208
         5 M  time 12, after 4 idle cycles scontext 0x1f hcontext 0x0
         5 M  response      lid 1: 0x7
         6 S  time 12 scontext 0x1f hcontext 0x0
         6 S  block    0x000000000000020a 0 parcels, last of 2 bytes, exception, cause 11, tval 0x3
         7 S  time 12 scontext 0x1f hcontext 0x0 halted
           overrun
           stop 4" "dump: everything of a file"
is "$("$ntrace" ingress dump --dtype load - <two)" \
	"# xlen 64, 4 bits of itype, 2 groups of a block; split data, 2 accesses, 4 bits of dtype, 5 of iaddr_lsbs, retires 8
         0 M  load          0x0000000000008000 4 bytes, lrid 1, by 0x100
         5 M  response      lid 1: 0x7
           overrun" "dump --dtype load: with its response, and what is missing"
is "$("$ntrace" ingress dump --daddr 0x9000-0x9000 --privilege m --bytes 2,4 --iaddr 0x208-0x209 two | sed -n 2p)" \
	"         0 M  store         0x0000000000009000 2 bytes, store 0x1ff, by 0x208" "dump: filters together"
is "$("$ntrace" ingress dump --privilege s two | grep -c ' M \| S ')" 0 "dump --privilege: none"
"$ntrace" ingress dump --json two >json
ok "dump --json is JSON, and says the same" python3 - json <<-'END'
	import json, sys
	records = [json.loads(line) for line in open(sys.argv[1])]
	assert [r["type"] for r in records] == ["start", "cycle", "cycle", "cycle", "cycle", "overrun", "stop"]
	assert [r["line"] for r in records] == [2, 3, 4, 5, 6, 7, 8]
	first = records[1]
	assert first["cycle"] == 0 and first["time"] == 7 and first["priv"] == "M" and first["ctype"] == 2
	assert first["trace_on"] and not first["trace_off"] and first["notify"] == "0x2" and first["scontext"] == "0x1f"
	assert [g["itype_name"] for g in first["groups"]] == ["taken branch", "-"]
	assert first["groups"][1] == {"iaddr": "0x200", "iretire": 5, "itype": 0, "itype_name": "-", "ilastsize": 0, "sijump": 0}
	assert first["accesses"][0]["lrid"] == 1 and first["accesses"][0]["dtype_name"] == "load"
	assert first["accesses"][1] == {"dtype": 1, "dtype_name": "store", "daddr": "0x9000", "bytes": 2, "store": "0x1ff",
	    "load": "0x0", "group": 1, "iaddr_first": "0x208", "iaddr_last": "0x208"}
	assert records[2]["responses"] == [{"lresp": 2, "lid": 1, "load": "0x7"}] and records[2]["cycle"] == 5
	assert records[3]["cause"] == 11 and records[3]["tval"] == "0x3" and records[4]["halted"]
END
is "$("$ntrace" ingress check two; echo $?)" "line 5, cycle 6, group 0: error priv-change: priv changes without a trap, a trap return or Debug Mode: 1 (E-Trace, instruction interface)
line 5, cycle 6, group 0: error ecall-priv: the cause of an environment call belongs to another privilege: 11 (Privileged Architecture)
8 cycles, 2 blocks, 8 parcels, 2 accesses: 2 errors, 0 warnings
1" "check: findings with line, cycle and group"
sed 's/0x20a,0,1/0x20c,0,1/' two >place
like "check: the value and the expected one" "group 0: error exception-address: .*: 0x20c, expected 0x20a " "$("$ntrace" ingress check place)"
is "$("$ntrace" ingress check --json place | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
print([line.get("rule") for line in lines], lines[1]["expected"], lines[-1]["errors"], lines[-1]["loads_in_flight"])')" \
	"['priv-change', 'exception-address', 'ecall-priv', None] 0x20a 3 1" "check --json"
grep -v '^c priv=1' two >good
is "$("$ntrace" ingress check good; echo $?)" "7 cycles, 2 blocks, 8 parcels, 2 accesses: 0 errors, 0 warnings
0" "check: no finding"
is "$("$ntrace" ingress check --list | wc -l)" "$("$ntrace" ingress check --list --json | python3 -c '
import json, sys
print(len([json.loads(line)["rule"] for line in sys.stdin]))')" "check --list, as text and as JSON"
like "check --list: a rule" "lrid-reused +E-Trace, data interface +error +two loads in flight" "$("$ntrace" ingress check --list)"

# The encoder skips the data and repeated reports.
sed 's/ d=[^ ]*//g; s/ r=[^ ]*//g; s/^ntrace-ingress 2 \(.*block\) .*/ntrace-ingress 1 \1/' good >plain
"$ntrace" ingress encode good --mode htm -o a >out
ok "encode: a file with data accesses" "$ntrace" encode --ingress plain --mode htm -o b
ok "encode: the same trace as without them" cmp a b
# Examples 2 and 3 of the port: a push and a pop of four registers, reported once for each access, count once.
cat >repeated <<'END'
ntrace-ingress 2 xlen=32 itype=4 groups=1 port=block data=unified retires=4 accesses=1 dtype=1 lsbs=4
start 5
c priv=3 0x1000,3,0 d=1,0x7ffc,2,s0x11,i0x4
c 0x1004,1,0 d=1,0x7ff8,2,s0x12,i0x4
c 0x1004,1,0 d=1,0x7ff4,2,s0x13,i0x4
c 0x1004,3,0 d=1,0x7ff0,2,s0x14,i0x4
c 0x100a,2,0 d=0,0x7ffc,2,l0x11,i0xc
c 0x100c,1,0 d=0,0x7ff8,2,l0x12,i0xc
c 0x100c,1,0 d=0,0x7ff4,2,l0x13,i0xc
c 0x100c,1,13 d=0,0x7ff0,2,l0x14,i0xc
c 0x2000,1,0
stop 0
end
END
ok "encode: repeated reports" "$ntrace" encode --ingress repeated --mode htm -o c
is "$("$ntrace" dump --params xlen=32 c | grep -o 'ICNT=[^ ]*' | tr '\n' ' ')" "ICNT=0 ICNT=7 ICNT=1 " "encode: each counts once"
fails "encode: without an output" "option --output is needed" "$ntrace" ingress encode good
like "encode --help is that of ntrace encode" "^usage: ntrace encode" "$("$ntrace" ingress encode --help)"

# A tandem trace: a data access belongs to one instruction of its block.
ok "the program is assembled" riscv64-linux-gnu-gcc -x assembler -nostdlib -static -Wl,-Ttext=0x1000,-e,0x1000,--build-id=none -o program - \
	<<<$'.option norvc\naddi a0, a0, 1\nsd a1, 0(a2)\naddi a0, a0, 2'
cat >block <<'END'
ntrace-ingress 2 xlen=64 itype=4 groups=1 port=block data=unified retires=4 accesses=1 dtype=1 lsbs=4
start 5
c priv=3 0x1000,6,0,1 d=1,0x9000,3,s0x1ff,i0x4
stop 0
end
END
ok "a block is converted to a tandem trace" "$ntrace" tandem convert --from ingress --elf program -o tandem block
is "$("$ntrace" tandem dump tandem | cut -d ' ' -f 2- | grep -v '^end$' | paste -sd ';')" \
	"begin;init;state pc = 0x1000;state priv = 0x3;begin;next-pc;insn32 00150513;\
begin;next-pc;insn32 00b63023;state eaddr = 0x9000;state store64 = 0x1ff;begin;next-pc;insn32 00250513" \
	"the store belongs to the second of three instructions"

# A waveform: two groups packed in one signal, an inverted reset, a falling clock, a range that does not start at 0, elements
# of an array, real numbers, comments, values shorter than their signals.
cat >wave.vcd <<'END'
$date today $end
$version by hand $end
$comment $var wire 1 ! not.a.variable $end
$timescale 1ns $end
$scope module top $end
$var wire 1 ! clk $end
$var wire 1 " rst_n $end
$scope module core $end
$var wire 8 # itype [7:0] $end
$var wire 6 $ iretire[5:0] $end
$var wire 64 % iaddr[0] [63:0] $end
$var wire 64 & iaddr[1] [63:0] $end
$var wire 5 ' bits [12:8] $end
$var real 64 ( load $end
$upscope $end
$var wire 64 ) other $end
$upscope $end
$enddefinitions $end
$dumpvars
1! 0" bx # bx $ bx % bx & b0 ' r0 ( bx )
$end
#5
0!
#10
1! 1" b0 # b0 $
#15
0!
#20
1!
#25
0!
#30
1! b101 # b1010 $ b1000 % b1x &
#34
b10101 '
#35
0!
b1000101 # b010010 $ b100 % b10000000000 &
#40
1!
#45
b01100 ' 0! b0 # b0 $ bx &
r1.5e3 (
#50
1!
#55
0!
END
cat >wave.map <<'END'
# two groups
ntrace-ingress 1 xlen=64 itype=4 groups=2 port=block

clock !top.clk
reset !top.rst_n
halted top.core.bits[11]
priv top.core.bits[9:8]
itype.0 top.core.itype[3:0]
itype.1 top.core.itype[7:4]
iretire.0 top.core.iretire[2:0]
iretire.1	top.core.iretire[5:3]
iaddr.0 top.core.iaddr[0]
iaddr.1 top.core.iaddr[1]
ilastsize =0
ilastsize.1 =0x1
END
# The clock falls at 5 (in reset), 15, 25, 35, 45 and 55. At 35, group 0 has 2 parcels at 8 and itype 5, and group 1 has one
# parcel, at an unknown address. At 45, group 0 has 2 parcels at 4 and group 1 has 2 at 0x400; the hart halts after this edge.
"$ntrace" ingress import --map wave.map -o - wave.vcd >made 2>said
like "import: an unknown address of a group that retires" \
	"error: wave.vcd: time 35: iaddr.1, which is top.core.iaddr\[1\], is not known: 0{62}1x" "$(cat said)"
sed 's/b1x &/b110 \&/' wave.vcd >known.vcd
"$ntrace" ingress import --map wave.map -o known known.vcd 2>said
is "$(cat known)" "ntrace-ingress 1 xlen=64 itype=4 groups=2 port=block
start 5
c reset=1
c time=1 reset=0
c idle=1 time=3 priv=1 0x8,2,5 0x6,1,0,1
c time=4 0x4,2,5 0x400,2,4,1
c time=5 halted=1
stop 4
end" "import: the signals before the edge of the clock"
like "import: what it found" "known.vcd: 6 cycles, 4 groups, 0 accesses" "$(cat said)"
is "$("$ntrace" ingress check known | head -n 1)" "line 5, cycle 3, group 1: error block-short: a block is shorter than its last instruction (E-Trace, instruction interface)" \
	"import keeps what breaks rules, and check finds it"
is "$("$ntrace" ingress import --map wave.map -o - - <known.vcd 2>/dev/null)" "$(cat known)" "import: a pipe"
tr '\n' ' ' <known.vcd >one_line.vcd
# vcd2fst takes one value a line.
awk 'body { for (i = 1; i <= NF; i++) if ($i ~ /^[br]/) { print $i, $(i + 1); i++ } else print $i; next }
	{ print } /enddefinitions/ { body = 1 }' known.vcd >lines.vcd
vcd2fst lines.vcd known.fst >said
is "$("$ntrace" ingress import --map wave.map -o - known.fst 2>/dev/null)" "$(cat known)" "import: FST"
mkdir path
fails "import: FST without a converter" "an FST waveform is read through fst2vcd, which is not installed: install GTKWave" \
	env PATH="$PWD/path" "$ntrace" ingress import --map wave.map -o new known.fst
head -c 100 known.fst >cut.fst
fails "import: an FST file that is cut" "fst2vcd cannot read it" \
	"$ntrace" ingress import --map wave.map -o new cut.fst
is "$("$ntrace" ingress import --map wave.map -o - one_line.vcd 2>/dev/null)" "$(cat known)" "import: words in one line"

# A unified port with 64 bits of data: an atomic access has the value stored in the lower half.
cat >data.vcd <<'END'
$scope module top $end
$var wire 1 ! clk $end
$var wire 64 # data $end
$upscope $end
$enddefinitions $end
#0
0! b1010101010111011110011001101110100010001001000100011001101000100 #
#1
1!
END
cat >data.map <<'END'
ntrace-ingress 2 xlen=32 itype=4 groups=1 port=block data=unified retires=1 accesses=1 dtype=4 lsbs=0
clock top.clk
priv =3
itype =0
iretire =2
iaddr =0x100
ilastsize =1
dretire =1
dtype =8
daddr =0x1000
dsize =2
data top.data
END
for size in 0 1 2 3; do
	sed "s/^dsize .*/dsize =$size/" data.map >size.map
	"$ntrace" ingress import --map size.map -o - data.vcd 2>/dev/null | sed -n 's/^c .* d=//p'
done >said
is "$(cat said)" "8,0x1000,0,s0x44,l0xdd
8,0x1000,1,s0x3344,l0xccdd
8,0x1000,2,s0x11223344,l0xaabbccdd
8,0x1000,3,s0x11223344,l0xaabbccdd" "import: both values of an atomic access, and no bits of the other one"

# Programs store what was never written: x is read as 0, and a warning counts the values. Bits beside the access are not read.
sed 's/ b1010101010111011110011001101110100010001001000100011001101000100 / b1010101010111011110011001101110100010001001000100011001101x00100 /' \
	data.vcd >unknown.vcd
"$ntrace" ingress import --map data.map -o - unknown.vcd 2>said | sed -n 's/^c .* d=//p' >values
is "$(cat values)" "8,0x1000,2,s0x11223344,l0xaabbccdd" "import: a bit of data that is x is 0"
like "import: x in data is a warning" \
	"warning: unknown.vcd: 1 values of data accesses have an x or z, which is read as 0; the first is at time 1" "$(cat said)"
sed 's/ b10101010/ bxxxxxxxx/' data.vcd >unknown.vcd
for size in 1 2; do
	sed "s/^dsize .*/dsize =$size/" data.map >size.map
	"$ntrace" ingress import --map size.map -o - unknown.vcd 2>&1 | grep -c warning
done >said
is "$(paste -sd ' ' said)" "0 1" "import: x beside the access is not read"

# Version 3 states the widths; import refuses values that are wider.
sed 's/^ntrace-ingress 2 \(.*\)/ntrace-ingress 3 \1 hart=3 priv=2 cause=4 iaddr=12 impdef=2/; $a impdef =3' data.map >stated.map
"$ntrace" ingress import --map stated.map -o stated data.vcd 2>said
is "$(sed -n '1p;3p' stated)" "ntrace-ingress 3 xlen=32 itype=4 groups=1 port=block data=unified retires=1 accesses=1 dtype=4 lsbs=0 hart=3 priv=2 cause=4 iaddr=12 impdef=2
c priv=3 impdef=0x3 0x100,2,0,1 d=8,0x1000,2,s0x11223344,l0xaabbccdd" "import: a port that states its widths"
is "$("$ntrace" ingress dump stated | head -n 3)" \
	"# xlen 32, 4 bits of itype, 1 group of a block; unified data, 1 access, 4 bits of dtype, 0 of iaddr_lsbs, retires 1; hart 3; 2 bits of priv; 4 bits of cause; 12 bits of iaddr; 2 bits of impdef
           start 5
         0 M  time 0 impdef 0x3" "dump: a port that states its widths"
ok "dump --json: impdef" grep -q '"impdef":"0x3"' <("$ntrace" ingress dump --json stated)
sed 's/^c priv=3/c priv=3 cause=0x10/' stated >wide
like "check: a value wider than the port's" "line 3, cycle 0: error cause-width: cause has more bits than the port's" \
	"$("$ntrace" ingress check wide)"

# refuses TEXT PATTERN MAP WAVE: the status, a line on stderr, and no file.
refuses() {
	local rc=0
	"$ntrace" ingress import --map "$3" -o new "$4" >out 2>err </dev/null || rc=$?
	is "$rc $(wc -l <err) $(wc -c <out) $(ls new 2>/dev/null)" "1 1 0 " "import: $1"
	like "import: $1: its message" "$2" "$(cat err)"
}
# bad_map TEXT PATTERN SED: the map, edited.
bad_map() {
	sed "$3" wave.map >bad.map
	refuses "$1" "$2" bad.map known.vcd
}
bad_map "no port" "bad.map: line 2, column 1: not an ingress file" '/^ntrace-ingress/d;1{p;s/.*/clock x/}'
bad_map "a port that is none" "bad.map: line 2, column [0-9]+: xlen must be" 's/xlen=64/xlen=16/'
bad_map "an empty map" "no line 'ntrace-ingress ...'" '/^[^#]/d'
bad_map "a signal that is none" "line 5: 'halt' is not a signal|line 6: 'halt' is not a signal" 's/^halted/halt/'
bad_map "a group that is none" "the port has no itype.2" 's/itype.1/itype.2/'
bad_map "a group that is no number" "'x' is not the number of a group" 's/itype.1/itype.x/'
bad_map "a signal of another interface" "the port has no dretire.0" '$a dretire x'
bad_map "a signal twice" "clock.0 has a line before" '$a clock x'
bad_map "a line without a source" "expected SIGNAL NAME" '$a tval'
bad_map "a line with three words" "expected SIGNAL NAME" '$a tval a b'
bad_map "a constant that is none" "'=x' is not a number" 's/=0x1/=x/'
bad_map "a negative constant" "'=-1' is not a number" 's/=0x1/=-1/'
bad_map "a clock that is a constant" "the clock cannot be a constant" 's/^clock .*/clock =1/'
bad_map "a signal missing" "no line for iaddr.1, which the port has" '/^iaddr.1/d'
bad_map "a signal that the waveform lacks" "bad.map: line 6: known.vcd has no signal top.halt" 's/^halted .*/halted top.halt/'
bad_map "a real number" "known.vcd has no signal top.core.load" 's/^halted .*/halted top.core.load/'
bad_map "bits that the signal lacks" "top.core.bits has no bits 13 to 13" 's/bits\[11\]/bits[13]/'
bad_map "bits below the signal" "top.core.bits has no bits 9 to 7" 's/bits\[9:8\]/bits[9:7]/'
bad_map "a value that is too wide" "halted.0, which is top.core.bits, has more bits than the signal of the port: 10101" \
	's/^halted .*/halted top.core.bits/'
bad_map "a constant that is too wide" "bad.map: line 8: itype.0 has more bits than the signal of the port: 0x10" \
	's/^itype.0 .*/itype.0 =16/'
bad_map "impdef of a port that has none" "line 16: the first line does not state the width of impdef: add impdef=BITS to it" \
	'$a impdef top.core.bits'
bad_map "a typing error" "known.vcd has no signal top.core.itpye; did you mean 'top.core.itype'\?$" \
	's/^itype.0 .*/itype.0 top.core.itpye/'
bad_map "another scope" "known.vcd has no signal top.cpu.itype\[3:0\]; did you mean 'top.core.itype'\?$" \
	's/^itype.0 .*/itype.0 top.cpu.itype[3:0]/'
bad_map "a signal that nothing resembles" "known.vcd has no signal top.core.ndmreset$" 's/^halted .*/halted top.core.ndmreset/'
sed '2s/ntrace-ingress 1 \(.*\)/ntrace-ingress 3 \1 iaddr=9/' wave.map >bad.map
refuses "an address wider than the port's" "iaddr.1, .*, has more bits than the signal of the port: 0+10000000000$" bad.map known.vcd
printf 'ntrace-ingress 1' >bad.map
refuses "a map that is cut" "bad.map: line 1: too long, or without a newline" bad.map known.vcd

# bad_wave TEXT PATTERN SED: the waveform, edited.
bad_wave() {
	sed "$3" known.vcd >bad.vcd
	refuses "$1" "$2" wave.map bad.vcd
}
bad_wave "not a waveform" "bad.vcd: line 1: not a VCD waveform" 's/^\$date/date/'
bad_wave "no definitions" "bad.vcd: line [0-9]+: a value before .enddefinitions" '/enddefinitions/d'
bad_wave "an empty file" "the file ends before .enddefinitions" d
bad_wave "a width that is none" "line 6: the width of a variable is not a number" 's/wire 1 !/wire one !/'
bad_wave "a variable without a name" "line 6: .var is incomplete" 's/! clk/!/'
bad_wave "a scope without a name" "line 5: .scope has no name" 's/module top/module/'
bad_wave "a variable after the definitions" "line 20: .var after .enddefinitions" '20s/.*/$var wire 1 ! x $end/'
bad_wave "the time decreases" "the time decreases" 's/^#45/#3/'
bad_wave "a time that is none" "a time is not a decimal number" 's/^#45/#4x/'
bad_wave "a character that is no bit" "a value has a character that is no bit" 's/^b10101 /b10201 /'
bad_wave "a vector without bits" "a vector without bits" 's/^b10101 /b /'
bad_wave "an end within a value" "truncated: the file ends within a value" '$s/$/ b1/'
bad_wave "no clock" "the clock never rises" 's/[01]! *//'
bad_wave "x in the reset" "time 5: reset.0, which is top.rst_n, is not known: x" 's/^1! 0"/1! x"/'
bad_wave "z in the itype" "time 35: itype.0, .* is not known: 01z1" 's/^1! b101 #/1! b1z1 #/'
bad_wave "x in the middle of a wide value" "is not known: 0+1x00$" 's/b1000 %/b1x00 %/'
# The map is checked before the first values are used.
sed 's/^halted .*/halted top.halt/' wave.map >bad.map
sed 's/^1! 0"/1! x"/' known.vcd >bad.vcd
refuses "x, and a signal that the waveform lacks" "bad.map: line 6: bad.vcd has no signal top.halt" bad.map bad.vcd
python3 -c 'print("$comment", "x" * 100000, "$end\n$scope module", "x" * 70000, "$end")' >bad.vcd
refuses "a word without end" "bad.vcd: line 2: a word has more than 65535 characters" wave.map bad.vcd
python3 -c 'print("$scope module xxxxxxxxxx $end\n" * 1000)' >bad.vcd
refuses "scopes without end" "scopes are nested too deeply" wave.map bad.vcd
printf '$scope\0 module\n' >bad.vcd
refuses "a byte of 0" "bad.vcd: line 1: unexpected 0 byte" wave.map bad.vcd
done_testing
