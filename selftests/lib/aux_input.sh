#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# perf.data files with trace in the formats of other drivers, and compressed ones, must decode to the same output as the
# recording that they are made from. aux_file.py makes them, byte by byte.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
examples=$top/Documentation/examples ntrace=$top/build/ntrace
export LD_LIBRARY_PATH=$top/build

riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id -g -o "$tmp/demo" "$examples/demo.S" || exit 1
for name in encode recording sideband; do
	gcc -std=c11 -I "$top/lib/include" "$examples/$name.c" -L "$top/build" -lntrace -o "$tmp/$name" || exit 1
done
"$tmp/encode" "$tmp/once" >/dev/null
size=$(stat -c %s "$tmp/once")
for ((i = 0; i < 200; i++)); do cat "$tmp/once"; done >"$tmp/trace"
"$tmp/recording" "$tmp/dir" "$tmp/demo" $((200 * size)) && cp "$tmp/trace" "$tmp/dir/aux.0"


make() { python3 "$top/selftests/lib/aux_file.py" "$tmp/dir" "$tmp/file" "$@"; }
# decoded PATH OPTION...: what was executed, and by whom; notes in $tmp/notes
decoded() { "$ntrace" decode --level instruction "${@:2}" "$1" 2>"$tmp/notes"; }
decoded "$tmp/dir" >"$tmp/expected"
is "$(grep -c ' leaf' "$tmp/expected")" 200 "the recording: what was executed"

# same TEXT ARGUMENT...: a file that decodes to the same.
same() {
	make "${@:2}" || { not_ok "$1: cannot be made"; return 1; }
	decoded "$tmp/file" >"$tmp/got"
	ok "$1" cmp "$tmp/expected" "$tmp/got" || diag "$(tail -n 3 "$tmp/notes")"
}
same "rvtrace: the hart's trace" rvtrace
like "which parameters are taken is said" 'does not contain the trace parameters.*srcbits=0,xlen=64.*--params' "$(<"$tmp/notes")"
like "and what the kernel's text is missing for" 'has no kernel text' "$(<"$tmp/notes")"
same "rvtrace: many pieces" rvtrace piece=37
same "rvtrace: a task's trace" rvtrace task=42 piece=100
same "rvtrace: a thread's trace, wherever it runs" rvtrace task=42 cpu=no piece=100
same "rvtrace: without AUXTRACE_INFO" rvtrace info=no
same "rvtrace: an area that does not begin at 0" rvtrace first=4096 task=42
# Pieces of 37, 100 and 999 bytes are followed by 3, 4 and 1 bytes of padding.
same "padding between pieces" rvtrace piece=37 pad=yes
same "padding, and a thread's trace" rvtrace task=42 cpu=no piece=100 pad=yes
same "padding, and an area that does not begin at 0" bytes first=4099 task=42 piece=999 pad=yes
same "compressed records" rvtrace compress=1 piece=37 task=42
same "compressed records as of perf 6.16" rvtrace compress=2
same "SpacemiT: formatter frames" spacemit
is "$(grep -c parameters "$tmp/notes")" 0 "its parameters are in the file"
same "SpacemiT: synchronization among the frames" spacemit sync=yes piece=100
same "SpacemiT: a task's trace" spacemit sync=yes task=42 piece=100
same "SpacemiT: compressed" spacemit compress=2 sync=yes
same "perf's block: the hart's trace" bytes
is "$(grep -c parameters "$tmp/notes")" 0 "its parameters are in the file"
same "perf's block: a task's trace" bytes task=42 piece=100
same "perf's block: the PMU in the upper half" bytes pmu=ntrace
same "perf's block: the PMU in the lower half, as gtrace reads it" bytes pmu=ntrace half=lower
same "perf's block: more parameters than this version knows" bytes params=20
same "perf's block: fewer parameters, the others are 0" bytes params=6
same "the machine is RISC-V" spacemit arch=riscv64

# perf record --kcore makes a directory with the file "data"; a report reads standard input, too.
mkdir -p "$tmp/kcore/kcore_dir"
same "the same with one task" rvtrace task=42 && cp "$tmp/file" "$tmp/kcore/data"
decoded "$tmp/kcore" >"$tmp/got"
ok "a directory of perf" cmp "$tmp/expected" "$tmp/got"
reported() { "$ntrace" report "$1" 2>/dev/null | grep -v '^note\|^recording'; }
reported "$tmp/file" >"$tmp/expected.report"
# shellcheck disable=SC2002
is "$(cat "$tmp/file" | reported -)" "$(<"$tmp/expected.report")" "standard input"
fails "standard input with something else" "standard input is not a perf.data file" "$ntrace" report - <"$tmp/trace"
# shellcheck disable=SC2016
fails "something else without end is not copied" "standard input is not a perf.data file" \
	bash -c 'ulimit -f 100; head -c 10000000 /dev/zero | "$0" report -' "$ntrace"
head -c -8 "$tmp/file" >"$tmp/cut"
like "a cut file is named as it was given" 'error: standard input: not a recording: standard input: announces' \
	"$("$ntrace" report - <"$tmp/cut" 2>&1)"
mkfifo "$tmp/pipe"
fails "a pipe by its name" "is a pipe: give what it carries on standard input" "$ntrace" report "$tmp/pipe"

# Behind a barrier a message may have lost its begin: what is told was executed all the same.
blocks() { grep -v ' -- ' "$1"; }
messages() { "$ntrace" dump "$1" 2>/dev/null | grep -v 'reserved MSEO' | sed -n 's/.*| //p' | sort -u; }
for ((at = 32; at <= 160; at += 16)); do
	# Of two sources, so that numbers come again and again.
	make spacemit other="$tmp/trace" barrier=$at
	decoded "$tmp/file" --stream 0 >"$tmp/got"
	is "$? $(diff <(blocks "$tmp/expected") <(blocks "$tmp/got") | grep -c '^>')" "3 0" "SpacemiT: a barrier at $at: nothing is made up"
	is "$(comm -13 <(messages "$tmp/dir") <(messages "$tmp/file"))" "" "nor does a part of a message become one"
done

# Two sources in the frames of one area are two streams, each whole.
make spacemit other="$tmp/trace" sync=yes piece=700
decoded "$tmp/file" --stream 0 >"$tmp/got"
ok "SpacemiT: two sources, the first" cmp "$tmp/expected" "$tmp/got"
decoded "$tmp/file" --stream 1 >"$tmp/got"
ok "and the second" cmp <(sed 's/stream 0/stream 1/' "$tmp/expected") "$tmp/got"

# All commands take them.
make spacemit
of_file() { "$ntrace" "$@" "$tmp/file" 2>"$tmp/notes"; }
of_dir() { "$ntrace" "$@" "$tmp/dir" 2>/dev/null; }
is "$(of_file dump | grep -v '^#')" "$(of_dir dump | grep -v '^#')" "ntrace dump"
is "$(of_file decode --level message | grep -v '^#')" "$(of_dir dump | grep -v '^#')" "ntrace decode --level message"
is "$(of_file stat | grep -v '^#')" "$(of_dir stat | grep -v '^#')" "ntrace stat"
is "$(of_file check | grep -v '^#')" "$(of_dir check | grep -v '^#')" "ntrace check"
is "$(of_file export -f csv)" "$(of_dir export -f csv)" "ntrace export"
counts() { sed 's/.*"instructions":{/{/; s/"notes":\[[^]]*\]//'; }
is "$(of_file report --json | counts)" "$(of_dir report --json | counts)" "ntrace report"
like "which counts something" '^[1-9]' "$(of_file report | awk '/^instructions/ { print $2 }')"
fails "ntrace archive" 'not a recording: not a directory' "$ntrace" archive "$tmp/file"

# Parameters that the file does not have.
# with_src BITS SRC: each message of the trace again, with a SRC field behind TCODE: bits 6 and up of what its bytes hold.
with_src() {
	python3 - "$tmp" "$1" "$2" <<-'END_OF_PYTHON'
		import sys
		bits, src = int(sys.argv[2]), int(sys.argv[3])
		trace, out = open(sys.argv[1] + "/trace", "rb").read(), bytearray()
		message = []
		for byte in trace:
		    message.append(byte)
		    if byte & 3 != 3:
		        continue
		    if len(message) == 1:
		        out += bytes(message)
		        message = []
		        continue
		    # The first part ends at the first byte whose MSEO is not 0.
		    end = next(i for i, item in enumerate(message) if item & 3)
		    value = sum((item >> 2) << 6 * i for i, item in enumerate(message[:end + 1]))
		    value = value & 0x3f | src << 6 | value >> 6 << 6 + bits
		    count = end + 1 + (bits + 5) // 6
		    part = [(value >> 6 * i & 0x3f) << 2 for i in range(count)]
		    part[-1] |= message[end] & 3
		    out += bytes(part + message[end + 1:])
		    message = []
		open(sys.argv[1] + "/dir/aux.0", "wb").write(out)
	END_OF_PYTHON
	sed "s/^bytes .*/bytes $(stat -c %s "$tmp/dir/aux.0")/; s/^params .*/params srcbits=$1/; s/^src .*/src $2/" -i "$tmp/dir/params"
}
with_src 3 2
decoded "$tmp/dir" >"$tmp/with_src"
is "$(grep -c ' leaf' "$tmp/with_src")" 200 "the recording with SRC"
cp "$tmp/with_src" "$tmp/expected"
make rvtrace
decoded "$tmp/file" --params srcbits=3 >"$tmp/got"
ok "rvtrace: --params srcbits=3" cmp "$tmp/expected" "$tmp/got"
decoded "$tmp/file" >"$tmp/got"
fails "without it the trace is not understood" 'differ' cmp "$tmp/expected" "$tmp/got"
is "$("$ntrace" report --json --params srcbits=3 "$tmp/file" 2>/dev/null | grep -o '"all":[0-9]*' | head -n 1)" \
	"$("$ntrace" report --json "$tmp/dir" 2>/dev/null | grep -o '"all":[0-9]*' | head -n 1)" "ntrace report --params"
is "$("$ntrace" export -f csv --params srcbits=3 "$tmp/file" 2>/dev/null)" "$("$ntrace" export -f csv "$tmp/dir" 2>/dev/null)" \
	"ntrace export --params"
is "$("$ntrace" dump --params srcbits=3 "$tmp/file" 2>/dev/null | grep -v '^#')" "$("$ntrace" dump "$tmp/dir" | grep -v '^#')" \
	"ntrace dump --params"
is "$("$ntrace" decode --level message --params srcbits=3 "$tmp/file" 2>/dev/null | grep -v '^#')" \
	"$("$ntrace" dump "$tmp/dir" | grep -v '^#')" "ntrace decode --level message --params"
same "SpacemiT: SRC by its parameters" spacemit src=3:2
make spacemit src=3:1
decoded "$tmp/file" >/dev/null
like "a SRC that no hart has is told" 'skipped [1-9][0-9]* messages whose SRC belongs to no hart' "$(<"$tmp/notes")"
fails "parameters that do not exist" "option --params: cannot use 'colour=red" "$ntrace" report --params colour=red "$tmp/file"
fails "parameters for a recording" 'a recording has its own parameters' "$ntrace" report --params srcbits=3 "$tmp/dir"

# gtrace stores no parameters. SRC is the CPU: its width is found, whatever it is.
for bits in 0 1 2 3 4 7 12; do
	with_src $bits 0
	decoded "$tmp/dir" >"$tmp/expected"
	same "gtrace: SRC of $bits bits" gtrace cpus=4 hw=0 piece=100
	like "the width is said" "have $bits bits of SRC" "$(<"$tmp/notes")"
	same "gtrace: SRC of $bits bits, a task's trace" gtrace cpus=4 hw=0 task=42 piece=100
done
make gtrace cpus=4 hw=0
decoded "$tmp/file" --params srcbits=12 >"$tmp/got"
ok "gtrace: --params are used as they are" cmp "$tmp/expected" "$tmp/got"
fails "whatever they say" 'differ' cmp "$tmp/expected" <(decoded "$tmp/file" --params srcbits=3)
with_src 2 0
decoded "$tmp/dir" >"$tmp/expected"
same "gtrace: more words than one" gtrace cpus=4 hw=0 words=42,1,2
same "gtrace: the name of the PMU is that of the event" gtrace cpus=4 hw=0 mapping=no
same "no name, but a format" rvtrace formats=0x200 cpus=4 hw=0
same "rvtrace that says which CPUs it traced" rvtrace cpus=4 hw=0
# In a file of our own PMU the format may be told or not.
for format in 0 0x200; do same "ntrace: format $format" bytes pmu=ntrace src=2:0 formats=$format; done
# SpacemiT's PMU has the name of the series, and flags of CoreSight.
same "SpacemiT: frames, by its name" spacemit pmu=rvtrace src=2:0
same "SpacemiT: no frames" spacemit pmu=rvtrace raw=yes formats=0x100 src=2:0

# Where harts share a sink, all bytes are in the area of one of them: each SRC is a stream of its CPU.
cp "$tmp/dir/aux.0" "$tmp/src0"
with_src 2 2
python3 - "$tmp/src0" "$tmp/dir/aux.0" "$size" <<-'END_OF_PYTHON'
	import sys
	first, second = (open(path, "rb").read() for path in sys.argv[1:3])
	step = len(first) // 200
	assert len(first) == len(second) == 200 * step
	with open(sys.argv[2], "wb") as file:
	    for at in range(0, len(first), step):
	        file.write(first[at:at + step] + second[at:at + step])
END_OF_PYTHON
blocks_without_offsets() { sed 's/ (offset 0x[0-9a-f]*)//' "$@"; }
blocks_without_offsets "$tmp/expected" >"$tmp/expected.blocks"
make gtrace cpus=4 hw=0,2
ok "gtrace: a shared sink, CPU 0" cmp "$tmp/expected.blocks" <(decoded "$tmp/file" --stream 0 | blocks_without_offsets)
is "$("$ntrace" dump "$tmp/file" 2>/dev/null | grep -o '^# stream 1.*CPU 2, hart 2, srcbits=2')" "# stream 1: $tmp/file, CPU 2, hart 2, srcbits=2" \
	"and CPU 2"
is "$("$ntrace" dump --stream 1 "$tmp/file" 2>/dev/null | grep -c 'SRC=2')" 600 "with all its messages"
make gtrace cpus=4 hw=0
ok "messages of a CPU that was not traced are left out" \
	cmp "$tmp/expected.blocks" <(decoded "$tmp/file" --params srcbits=2 | blocks_without_offsets)
like "and counted" 'skipped [1-9][0-9]* messages whose SRC belongs to no hart' "$(<"$tmp/notes")"

# What is missing is a gap, and told.
cp "$tmp/trace" "$tmp/dir/aux.0"
sed "s/^bytes .*/bytes $((200 * size))/; s/^params .*/params srcbits=0/; s/^src .*/src 0/" -i "$tmp/dir/params"
# told TEXT PATTERN COUNT ARGUMENT...: COUNT runs of the function are left.
told() {
	make "${@:4}"
	decoded "$tmp/file" >"$tmp/got"
	like "$1: told" "$2" "$(tr '\n' ' ' <"$tmp/notes")"
	is "$(grep -c ' leaf' "$tmp/got")" "$3" "$1: what is left"
}
told "a truncated piece" '1 pieces are truncated, 0 incomplete and 0 collided.*CPU 0: trace lost while recording, in 1 place .*incomplete: 1 gaps, 1 errors' 200 rvtrace piece=$((10 * size)) flags=3:1
told "a piece with holes" '0 pieces are truncated, 1 incomplete.*in 1 place.*incomplete: 1 gaps, 1 errors' 200 rvtrace piece=$((10 * size)) flags=3:4
told "a piece that met with other trace" '0 incomplete and 1 collided with other trace.*in 1 place.*incomplete: 1 gaps, 1 errors' 200 spacemit piece=$((10 * size)) flags=3:8
told "a piece that is not in the file" "CPU 0: at least $((10 * size)) bytes of trace lost.*place" 189 rvtrace piece=$((10 * size)) hole=3
told "the last piece is not in the file" "the file lacks the last $((10 * size)) bytes" 190 rvtrace piece=$((10 * size)) hole=19
told "a file that is cut" 'file is truncated: later records are missing' 190 rvtrace piece=$((10 * size)) tail=1
told "a piece of E-Trace among others" 'left out 1 pieces that are not N-Trace.*in 1 place.*incomplete: 1 gaps, 1 errors' 190 gtrace cpus=1 hw=0 piece=$((10 * size)) flags=3:0x100
told "a piece that may have overwritten the one before" 'left out 1 pieces .* overwritten' 190 gtrace cpus=1 hw=0 piece=$((10 * size)) flags=3:0x201
told "a piece without trace or loss" 'AUX area 0: its messages have 0 bits' 200 gtrace cpus=1 hw=0 empty=0x100
told "a format that is not N-Trace" 'reports trace format 0; reading it as N-Trace' 200 spacemit format=0

# What cannot be read says so.
refused() {
	make "${@:3}"
	fails "$1" "$2" "$ntrace" report "$tmp/file"
}
refused "E-Trace" 'the trace is E-Trace \(PMU gtrace, AUX format 0x0100\); ntrace decodes N-Trace only' gtrace formats=0x100
refused "E-Trace whose PMU nobody names" 'the trace is E-Trace \(PMU not named' rvtrace formats=0x100
refused "E-Trace without AUXTRACE_INFO" 'the trace is E-Trace' rvtrace info=no formats=0x100
refused "a format of later kernels" 'unknown trace format 0x0300 \(PMU gtrace\)' gtrace formats=0x300
refused "gtrace that does not tell the format" 'does not tell the format of its trace .*--params' gtrace formats=0
refused "frames and raw trace of one PMU" 'cannot read both' spacemit flags=1:0x100 piece=100
refused "a log of POWER" 'VPA DTL' rvtrace type=7
refused "trace of Intel PT" 'the trace is Intel PT' rvtrace type=1
refused "trace of CoreSight ETM" 'the trace is CoreSight ETM' spacemit type=3
refused "trace of another machine" 'the trace is from x86_64, not from RISC-V' rvtrace arch=x86_64
refused "no trace at all" 'announces trace but contains none' rvtrace trace=no
refused "more AUX areas than there can be" 'more than 4096 AUX areas' rvtrace areas=4097
make rvtrace areas=4096
ok "as many as there can be" "$ntrace" report "$tmp/file"
refused "AUXTRACE_INFO without words" 'type 8, 0 words\) matches neither rvtrace' rvtrace words=
refused "AUXTRACE_INFO of unknown words" 'type 8, 3 words\) matches neither rvtrace' rvtrace words=1,2,3
refused "no hart" '8 words\) matches neither' spacemit words=0,0,5,1,1,1,0,0
refused "more harts than words" '8 words\) matches neither' spacemit words=2,0,5,1,1,1,0,0
refused "more parameters than words" '8 words\) matches neither' spacemit words=1,0,6,1,1,1,0,0
refused "fewer parameters than there are" '8 words\) matches neither' spacemit words=1,0,4,1,1,1,0,0
refused "SRC of 99 bits" '8 words\) matches neither' spacemit words=1,0,5,1,1,0,99,0
make rvtrace
TMPDIR=$tmp/nowhere fails "no room for the trace" 'cannot write the trace to .TMPDIR.*No such file' "$ntrace" report "$tmp/file"
make rvtrace compress=1
python3 - "$tmp/file" <<-'END_OF_PYTHON'
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = data.index(b"\x28\xb5\x2f\xfd")
	data[at + 12] ^= 0xff
	open(sys.argv[1], "wb").write(data)
END_OF_PYTHON
like "damaged compressed records" 'compressed records are damaged' "$(decoded "$tmp/file" >/dev/null; tr '\n' ' ' <"$tmp/notes")"

# What perf itself compresses.
if perf record -z -e dummy:u --switch-events -o "$tmp/perf.data" -- sh -c 'ls / >/dev/null; true' >"$tmp/perf.out" 2>&1; then
	"$tmp/sideband" "$tmp/perf.data" >"$tmp/got"
	perf script --show-mmap-events --show-task-events -i "$tmp/perf.data" 2>/dev/null >"$tmp/script"
	is "$(sed -n 's/^[0-9]* has \(.*\) at 0x\(.*\)/\1 \2/p' "$tmp/got" | sort)" \
		"$(sed -nE 's/.*PERF_RECORD_MMAP2? .*\[0x([0-9a-f]+)\(.*: .* (.*)/\2 \1/p' "$tmp/script" | sort)" \
		"perf record -z: the mappings that perf script shows"
	is "$(grep -c ' is ' "$tmp/got")" "$(grep -c 'PERF_RECORD_COMM' "$tmp/script")" "and the names"
	ok "which are some" test "$(grep -c ' has ' "$tmp/got")" -gt 3
else
	skip "perf record -z" "$(tail -n 1 "$tmp/perf.out")"
fi
done_testing
