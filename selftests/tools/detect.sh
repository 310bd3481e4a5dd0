#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace detect: the printed options decode the trace; other bytes are identified; and the commands that read raw traces
# suggest it if nothing makes sense, and only then.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode

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

# bytes FILE HEX...: writes a file of these bytes.
bytes() {
	local file=$1
	shift
	printf '%b' "$(printf '\\x%s' "$@")" >"$file"
}

# ProgTraceSync with a SRC of 4 bits, then DirectBranch of the same SRC, 300 times.
python3 - "$tmp" <<'END'
import random, sys
def message(fields, last):
    """Fields of (value, bits), packed; then variable ones, each from a byte on."""
    value = bits = 0
    for number, width in fields:
        value |= number << bits
        bits += width
    parts = [(value, bits)] + [(number, number.bit_length()) for number in last]
    out = bytearray()
    for index, (number, width) in enumerate(parts):
        count = max(1, (width + 5) // 6)
        for i in range(count):
            end = 0 if i + 1 < count else 3 if index + 1 == len(parts) else 1
            out.append((number >> 6 * i & 63) << 2 | end)
    return out
rng = random.Random(1)
stream = bytearray()
for block in range(20):
    stream += message([(9, 6), (10, 4), (5 if not block else 2, 4), (0, 1)], [0x40000000 + rng.randrange(4096)])
    for i in range(40):
        count = rng.randrange(1, 60)
        stream += message([(3, 6), (10, 4), (count, count.bit_length())], [])
folder = sys.argv[1]
open(folder + "/four.nex", "wb").write(stream)
plain = bytearray()
for block in range(20000):
    plain += message([(9, 6), (2, 4), (0, 1)], [0x40000000 + 2 * block])
    for i in range(20):
        plain += message([(3, 6), (37 + i, 6)], [])
open(folder + "/plain.nex", "wb").write(plain)
sifive = bytearray(stream)
for i in range(20):
    sifive += message([(7, 6), (10, 4)], [3, 0x1234 + i])
open(folder + "/sifive.nex", "wb").write(sifive)
data = bytearray(stream)
for i in range(200):
    data += message([(5 + i % 2, 6), (10, 4), (2, 3)], [0x2000 + 4 * i, rng.randrange(1 << 32)])
    if i % 10 == 0:
        data += message([(7, 6), (10, 4)], [12, 0x1234 + i])
open(folder + "/data.nex", "wb").write(data)
open(folder + "/words.nex", "wb").write(bytes(b for i in range(0, len(stream) // 2 * 2, 2) for b in (stream[i + 1], stream[i])))
open(folder + "/middle.nex", "wb").write(stream[501:] + bytes(4000))
lossy = bytearray(stream)
for place in (100, 400, 900, 1300):
    del lossy[place:place + 7]
open(folder + "/lossy.nex", "wb").write(lossy)
open(folder + "/random.bin", "wb").write(bytes(rng.randrange(256) for i in range(20000)))
END
python3 "$top/selftests/tools/frames.py" "$tmp/frames.bin" 1 1 "0x10=$tmp/four.nex"

# first TRACE OPTION...: prints the options of the first candidate.
first() {
	"$ntrace" detect "$@" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["candidates"][0]["options"])'
}

is "$(first "$tmp/four.nex")" "--params srcbits=4,xlen=64,mode=btm" "a SRC of 4 bits"
is "$(first "$tmp/words.nex")" "--words16 --params srcbits=4,xlen=64,mode=btm" "in 16-bit words"
is "$(first "$tmp/frames.bin")" "--framing coresight:0x10 --params srcbits=4,xlen=64,mode=btm" "in frames"
is "$(first "$tmp/middle.nex")" "--params srcbits=4,xlen=64,mode=btm" "from the middle, before zeros"
is "$(first "$tmp/lossy.nex")" "--params srcbits=4,xlen=64,mode=btm" "with losses"
is "$(first - <"$tmp/four.nex")" "--params srcbits=4,xlen=64,mode=btm" "standard input"
text=$("$ntrace" detect "$tmp/four.nex")
is $? 0 "a trace: status"
like "the text has the options on a line" "--params srcbits=4,xlen=64,mode=btm" "$text"
like "and figures" "messages +820 +with 20 syncs, 1 SRC" "$text"
like "and what is open" "not told +xlen" "$text"
like "and that another one fits" "--params srcbits=4,xlen=32,mode=btm   \(fits as well\)" "$text"
is "$("$ntrace" detect --params xlen=32 --json "$tmp/four.nex" | grep -o '"options"' | wc -l)" 1 "an XLEN that is given is not open"
read -ra options <<<"$(first "$tmp/frames.bin")"
is "$("$ntrace" dump "${options[@]}" "$tmp/frames.bin" | grep -c DirectBranch)" 800 "ntrace dump accepts the options"
"$ntrace" detect --json "$tmp/four.nex" | python3 -c 'import json, sys
got = json.load(sys.stdin)
first = got["candidates"][0]
assert first["messages"] == 820 and first["sources"] == 1 and first["wire_errors"] == 0 and first["equal"] is True
assert first["not_told"] == ["xlen"] and first["packing"] == "bytes" and got["looks_like"] == "an N-Trace stream"'
is $? 0 "JSON has the figures"

is "$(first --params xlen=64 "$tmp/sifive.nex")" "--params srcbits=4,xlen=64,mode=btm,dialect=sifive-v0" "messages of SiFive alone"
is "$(first --params xlen=64 "$tmp/data.nex")" "--params srcbits=4,xlen=64,mode=btm" "data trace, in which DataAcquisition is not SiFive's"

# What an encoder was told shows in its trace. The program runs at the end of the address space, where addresses have an extension.
cat >"$tmp/high.S" <<'END'
	.globl _start
_start:	li	s0, 200
1:	la	t0, one
	jalr	t0
	la	t0, two
	jalr	t0
	j	2f
2:	addi	s0, s0, -1
	bnez	s0, 1b
	nop
one:	ret
two:	ret
END
riscv64-linux-gnu-gcc -march=rv64g -mcmodel=medany -nostdlib -static -Wl,-Ttext=0xffffffff80010000,--no-relax,--build-id=none -o "$tmp/high" "$tmp/high.S" ||
	not_ok "a program"
riscv64-linux-gnu-objdump -d "$tmp/high" | python3 -c 'import re, sys
code = [("0x" + line.split(":")[0].strip(), line) for line in sys.stdin if re.match(r"[0-9a-f]+:\t", line.strip())]
one = next(i for i, item in enumerate(code) if item[1].rstrip().endswith("ret"))
loop = next(i for i, item in enumerate(code) if "auipc" in item[1])
run = [item[0] for item in code[:loop]]
for turn in range(200):
    returns = [code[one][0], code[one + 1][0]]
    for address, text in code[loop:one - 1]:
        run += [address] + ([returns.pop(0)] if "jalr" in text else [])
print("\n".join(run + [code[one - 1][0]]))' >"$tmp/high.pcs"
# tells PARAMS OPTIONS: detect prints OPTIONS for a trace with PARAMS, and known parameters after them
tells() {
	local text=$1 expected=$2 mode=htm
	shift 2
	[[ $expected = *mode=htm* ]] || mode=btm
	"$ntrace" encode --pcs "$tmp/high.pcs" --elf "$tmp/high" --mode $mode --params "$text" "$@" -o "$tmp/high.nex" >/dev/null || not_ok "encode $text"
	is "$(first --elf "$tmp/high" "$tmp/high.nex")" "--params $expected" "$text of an encoder, mode $mode"
	is "$("$ntrace" decode --level pc --params "$expected" --elf "$tmp/high" "$tmp/high.nex" | cksum)" "$(cksum <"$tmp/high.pcs")" "and decode follows the trace with it"
}
syncs=sync=messages,syncmax=2
tells extaddr=1 srcbits=0,xlen=64,extaddr=1,mode=btm --encoder $syncs
tells addrbits=39 srcbits=0,xlen=64,addrbits=39,mode=htm,dialect=sifive-v0 --encoder $syncs
tells alljumps=1 srcbits=0,xlen=64,alljumps=1,mode=htm --encoder $syncs
tells tsbits=40,tsdelta=xor srcbits=0,xlen=64,mode=btm,tsdelta=xor --encoder $syncs,timestamps=all
tells tsbits=8,srcbits=3 srcbits=3,xlen=64,mode=btm,tsbits=8 --encoder $syncs,timestamps=all
known=isa=rv64gc,tshz=1000,impret=3,keepstack=1,jvt=0x1000
is "$(first --elf "$tmp/high" --params $known "$tmp/high.nex")" \
	"--params srcbits=3,xlen=64,mode=btm,tsbits=8,tshz=1000,impret=3,keepstack=1,jvt=0x1000,isa=rv64gc" "known parameters are printed, too"

# The figures of a damaged trace: all members of the manual, with the numbers of the text.
python3 - "$tmp/high.nex" "$tmp/hurt.nex" <<'END'
import random, sys
data, rng = bytearray(open(sys.argv[1], "rb").read()), random.Random(4)
for i in range(12):
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
data[2000:2000] = bytes(9 * [0xff]) + bytes([17 << 2, 3]) + bytes([3 << 2, 1, 1, 1, 1, 3])
open(sys.argv[2], "wb").write(data)
END
for more in "--elf $tmp/high" ""; do
	read -ra words <<<"$more"
	"$ntrace" detect --json "${words[@]}" "$tmp/hurt.nex" >"$tmp/json"
	"$ntrace" detect "${words[@]}" "$tmp/hurt.nex" >"$tmp/text"
	ok "text and JSON have the same figures${more:+, with a program}" python3 - "$tmp/json" "$tmp/text" "$top/Documentation/man/ntrace-detect.1" "$more" <<'END'
import json, re, sys
first = json.load(open(sys.argv[1]))["candidates"][0]
text, manual = open(sys.argv[2]).read(), open(sys.argv[3]).read()
figures = re.search(r"\.It Fl -json\n.*?and the figures\n(.*?); with programs also (.*?)\n\.El", manual, re.S)
always, programs = (set(re.findall("[a-z_]+", part)) - {"bits"} for part in figures.groups())
assert set(first) - {"options", "params", "packing", "source", "equal", "not_told"} == always | (programs if sys.argv[4] else set()), first
block = re.search(r"^--params.*?(?=^--|\Z)", text, re.S | re.M)[0].replace(",", "")
numbers = {line.split()[0]: [int(n) for n in re.findall(r"(?<!\S)\d+(?!\S)", line)] for line in block.splitlines()[1:] if line.startswith("    ")}
print(block, numbers, first)
assert numbers["messages"] == [first[name] for name in ("messages", "syncs", "sources", "timestamps", "before_sync")]
assert numbers["wrong"] == [first[name] for name in ("wire_errors", "unknown", "truncated", "extra", "contradictory")]
assert numbers["addresses"] == [first[name] for name in ("addresses", "addresses_implausible", "addresses_outside") if name in first]
assert numbers["rules"] == [first["check_errors"], first["check_warnings"]]
if sys.argv[4]:
    assert numbers["code"] == [first[name] for name in ("instructions", "flow_errors", "gaps")]
    assert first["flow_errors"] and first["gaps"]
assert first["wire_errors"] + first["unknown"] and first["idle_bytes"]
END
done

# Bytes that are not a trace.
complains "random bytes" 1 "random.bin: not an N-Trace stream: it looks like random or compressed bytes" detect "$tmp/random.bin"
complains "text" 1 "README.md: not an N-Trace stream: it looks like text" detect "$top/README.md"
complains "an ELF file" 1 "ntrace: not an N-Trace stream: it looks like an ELF file; a program is given with --elf" detect "$ntrace"
gzip -c "$tmp/four.nex" >"$tmp/four.gz"
complains "gzip" 1 "four.gz: not an N-Trace stream: it looks like a compressed file; decompress it first" detect "$tmp/four.gz"
printf 'PERFILE2%01000d' 0 >"$tmp/perf.data"
complains "a perf.data file" 1 "it looks like a perf.data file; commands take such a file as it is" detect "$tmp/perf.data"
complains "nothing" 1 "standard input: not an N-Trace stream: it looks like an empty file" detect -
head -c 5000 /dev/zero >"$tmp/zeros"
complains "zeros" 1 "zeros: not an N-Trace stream: it looks like zeros alone" detect "$tmp/zeros"
is "$("$ntrace" detect --json "$tmp/random.bin" 2>/dev/null)" \
	"{\"file\":\"$tmp/random.bin\",\"bytes\":20000,\"looks_like\":\"random or compressed bytes\",\"candidates\":[]}" "JSON of random bytes"
complains "no such file" 1 "nothing.nex: No such file or directory" detect "$tmp/nothing.nex"
complains "a directory" 2 "is a directory: recordings contain their parameters" detect "$tmp"
python3 -c 'import sys; sys.stdout.buffer.write(b"\x0c\xff" * (1 << 20))' >"$tmp/long.nex"
script -qec "$ntrace detect $tmp/long.nex" /dev/null </dev/null | tr '\r' '\n' | grep -a 'ntrace: detect:' >"$tmp/progress"
like "progress counts steps, no bytes" '^ntrace: detect: [0-9]+ %, [0-9]+ s' "$(head -n 1 "$tmp/progress")"
complains "two files" 2 "one trace file is needed" detect "$tmp/four.nex" "$tmp/four.nex"
bytes "$tmp/two.nex" 24 0d 00 0b 84 00 07
like "a trace of two messages" "not told +.*xlen, mode" "$("$ntrace" detect "$tmp/two.nex")"

# Commands that read raw traces suggest ntrace detect.
riscv64-linux-gnu-gcc -x assembler -nostdlib -static -Wl,--build-id=none -o "$tmp/prog" - <<<'_start: nop'
for command in dump "decode --elf $tmp/prog" stat check; do
	read -ra words <<<"$command"
	count() { "$ntrace" "${words[@]}" "$@" 2>&1 >/dev/null | grep -c "most of this is not valid N-Trace with these parameters: try 'ntrace detect $file'"; }
	file=$tmp/random.bin
	is "$(count "$file")" 1 "${words[0]}: random bytes"
	file=$tmp/words.nex
	is "$(count --params srcbits=4 "$file")" 1 "${words[0]}: words as bytes"
	file=-
	is "$(count - <"$tmp/random.bin")" 1 "${words[0]}: standard input"
	file=$tmp/lossy.nex
	is "$(count --params srcbits=4 "$file")" 0 "${words[0]}: losses are no reason"
	file=$tmp/four.nex
	is "$(count --params srcbits=4 "$file")" 0 "${words[0]}: nor is a sound trace"
done

# Large files are counted in parts.
python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(3).randbytes(600000))' >"$tmp/large.bin"
for jobs in 1 2; do
	is "$("$ntrace" stat -j $jobs "$tmp/large.bin" 2>&1 >/dev/null | grep -c "try 'ntrace detect $tmp/large.bin'")" 1 "stat -j $jobs: random bytes in parts"
done
ok "a trace of several parts" test "$(stat -c %s "$tmp/plain.nex")" -gt 800000
is "$("$ntrace" stat -j 2 "$tmp/plain.nex" 2>&1 >/dev/null)" "" "stat: a large trace is not suspected"
for at in 1000 400000 700000; do printf '\30\30\2\2\2' | dd of="$tmp/plain.nex" bs=1 seek=$at conv=notrunc 2>/dev/null; done
"$ntrace" stat -j 2 "$tmp/plain.nex" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "3 " "stat: nor one that is damaged in several parts"
like "though its damage is found" "reserved MSEO codes +[1-9]" "$(cat "$tmp/out")"

if [ ! -d "$data" ]; then
	skip "the reference encoder's stream" "no $data (NTRACE_SHARED)"
	done_testing
	exit
fi
is "$(first "$data/xrle.nex")" "--params srcbits=0,xlen=64,mode=htm" "the reference encoder's stream: one address does not tell XLEN"
is "$(first --elf "$data/xrle.elf" "$data/xrle.nex")" "--params srcbits=0,xlen=32,mode=htm" "and with its program"
like "its code is followed" "164,959 instructions, 0 contradictions, 0 gaps" "$("$ntrace" detect --elf "$data/xrle.elf" "$data/xrle.nex")"
for program in "$data"/*.elf; do
	complains "${program##*/}" 1 "looks like an ELF file" detect "$program"
done
done_testing
