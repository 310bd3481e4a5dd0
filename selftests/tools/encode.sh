#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace encode on this machine: its output decodes to its input, in every mode and from every kind of input; bad input
# causes a clear error message.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode

# A test program: calls, returns, a loop, a jump table, an upper immediate and a jump.
cat >"$tmp/demo.S" <<'END'
	.globl _start
_start:	li	s0, 40
loop:	jal	ra, work
	andi	t0, s0, 1
	beqz	t0, even
	auipc	t1, 0
	jalr	zero, 8(t1)
even:	addi	s0, s0, -1
	bnez	s0, loop
	ecall
handler: j	handler
work:	mv	s1, ra
	jal	t0, inner
	mv	ra, s1
	ret
inner:	jr	t0
END
ok "the program is assembled" riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 \
	-Wl,--build-id=none -o "$tmp/demo" "$tmp/demo.S" || { done_testing; exit; }

# The executed instructions, from the program's symbols and the order above.
riscv64-linux-gnu-objdump -d "$tmp/demo" | awk '
	/^[0-9a-f]+ <.*>:$/ { label = substr($2, 2, length($2) - 3); start[label] = count + 0 }
	/^ +[0-9a-f]+:/ { sub(":", "", $1); pc[count++] = "0x" $1 }
	END {
		run("_start", start["loop"])
		for (i = 40; i; i--) {
			run("loop", start["loop"] + 1)
			run("work", start["work"] + 2)
			run("inner", count)
			print pc[start["work"] + 2]
			print pc[start["work"] + 3]
			for (n = start["loop"] + 1; n < start["even"]; n++)
				if (n < start["loop"] + 3 || i % 2)
					print pc[n]
			print pc[start["even"]]
			print pc[start["even"] + 1]
		}
		print pc[start["even"] + 2]
		print pc[start["handler"]]
	}
	function run(from, to, n) { for (n = start[from]; n < to; n++) print pc[n] }
' >"$tmp/pcs"
like "its run is written down" "^0x10000" "$(head -n 1 "$tmp/pcs")"
total=$(wc -l <"$tmp/pcs")

# encodes TEXT OPTION...: encodes a trace, which decodes to the same PCs.
encodes() {
	local text=$1
	shift
	ok "$text: encoded" "$ntrace" encode --elf "$tmp/demo" -o "$tmp/trace" "$@" || return
	cp "$tmp/.ok" "$tmp/summary"
	cp "$tmp/.ok.err" "$tmp/said"
	"$ntrace" decode --level pc --elf "$tmp/demo" ${params:+--params "$params"} "$tmp/trace" >"$tmp/back" 2>"$tmp/err" ||
		diag "$(head -n 3 "$tmp/err")"
	ok "$text: decodes to the same PCs" cmp "$tmp/back" "$tmp/pcs"
}
params=''
encodes "BTM" --pcs "$tmp/pcs" --mode btm
is "$(awk '{ print $1 }' "$tmp/summary" | tr '\n' ' ')" "bytes messages instructions bits " "the figures"
is "$(awk '$1 == "bytes" { print $2 }' "$tmp/summary")" "$(stat -c %s "$tmp/trace")" "bytes are those of the file"
is "$(awk '$1 == "instructions" { print $2 }' "$tmp/summary")" "$total" "instructions are those of the list"
is "$(awk '$1 == "messages" { print $2 }' "$tmp/summary")" "$("$ntrace" dump --json "$tmp/trace" | wc -l)" \
	"messages are those that dump finds"
encodes "HTM" --pcs "$tmp/pcs" --mode htm
encodes "HTM, return stack" --pcs "$tmp/pcs" --mode htm --implicit-return 8
encodes "HTM, repeated history" --pcs "$tmp/pcs" --mode htm --repeated-history
encodes "BTM, RepeatBranch, sequential jumps" --pcs "$tmp/pcs" --mode btm --encoder repeatbranch=1,seqjumps=1
encodes "HTM, sync and small registers" --pcs "$tmp/pcs" --mode htm \
	--encoder icntbits=5,histbits=3,sync=messages
params=tsbits=32
encodes "HTM, time stamps" --pcs "$tmp/pcs" --mode htm --params tsbits=32 --encoder timestamps=all
params=alljumps=1,extaddr=1
encodes "HTM, all jumps" --pcs "$tmp/pcs" --params alljumps=1,extaddr=1,mode=htm
params=''
tr a-f A-F <"$tmp/pcs" | sed 's/^0X/0x/; s/$/\r/' >"$tmp/upper"
encodes "upper case, carriage returns" --pcs "$tmp/upper" --mode htm
encodes "standard input" --pcs - --mode htm <"$tmp/pcs"
"$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm -o - >"$tmp/piped" 2>"$tmp/err"
ok "trace to standard output" cmp "$tmp/piped" "$tmp/trace"
like "figures to standard error" "bytes [0-9]+" "$(cat "$tmp/err")"

# More parcels than a block has at the port: 80000.
for insn in "addi a0, a0, 1" "c.addi a0, 1"; do
	size=4
	[ "${insn%% *}" = addi ] || size=2
	printf '\t.globl _start\n\t.option %s\n_start:\n\t.rept %d\n\t%s\n\t.endr\n' "$([ $size = 2 ] && echo rvc || echo norvc)" \
		$((160000 / size)) "$insn" >"$tmp/line.S"
	ok "$insn: assembled" riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie -Wl,-Ttext=0x10000 \
		-Wl,--build-id=none "$tmp/line.S" -o "$tmp/line"
	seq 65536 $size $((65536 + 159999)) | awk '{ printf "0x%x\n", $1 }' >"$tmp/straight"
	for mode in btm htm; do
		ok "$insn, $mode: straight-line code is encoded" "$ntrace" encode --pcs "$tmp/straight" --elf "$tmp/line" --mode $mode \
			-o "$tmp/long"
		"$ntrace" decode --level pc --elf "$tmp/line" "$tmp/long" 2>"$tmp/err" | cmp - "$tmp/straight"
		is $? 0 "$insn, $mode: it decodes to the same PCs"
	done
done

# Format of QEMU's log: another CPU, a block that did not run, remarks.
awk '{ pc = sprintf("%16s", substr($1, 3)); gsub(" ", "0", pc)
	if (NR % 10 == 0) {
		print "Trace 0: 0x7f10 [00000000/" pc "/00101003/ff021200] f"
		print "Stopped execution of TB chain before 0x7f10 [" pc "] f"
	}
	if (NR % 7 == 0) print "Trace 1: 0x7f11 [00000000/0000000000001000/00101003/ff021200] f"
	if (NR % 50 == 0) print "Servicing hardware INT"
	print "Trace 0: 0x7f10 [00000000/" pc "/00101003/ff021200] f" }' "$tmp/pcs" >"$tmp/log"
encodes "log of QEMU" --exec-log "$tmp/log" --mode htm
like "and parts missing in the trace are reported" "[0-9]+ lines have no instruction of CPU 0" "$(cat "$tmp/summary" "$tmp/said")"

encodes "ingress recorded" --pcs "$tmp/pcs" --mode btm --encoder sync=cycles --record-ingress "$tmp/ingress"
cp "$tmp/trace" "$tmp/first"
ok "ingress replayed" "$ntrace" encode --ingress "$tmp/ingress" --mode btm --encoder sync=cycles -o "$tmp/trace" \
	--record-ingress "$tmp/ingress2"
ok "to the same bytes" cmp "$tmp/trace" "$tmp/first"
ok "and recorded again as the same" cmp "$tmp/ingress2" "$tmp/ingress"
if [ -r "$data/xrle.elf" ]; then
	gzip -dc "$data/xrle.pcseq.txt.gz" >"$tmp/xrle.seq"
	cut -d, -f1 "$tmp/xrle.seq" >"$tmp/xrle"
	"$ntrace" encode --pcs "$tmp/xrle.seq" --elf "$data/xrle.elf" --mode htm --implicit-return 8 -o "$tmp/trace" >"$tmp/summary"
	is "$(head -n 2 "$tmp/summary" | tr '\n' ' ')" "bytes 3374 messages 482 " "xrle: the published bytes and messages"
	ok "xrle: decodes to the same PCs" cmp <("$ntrace" decode --level pc --elf "$data/xrle.elf" "$tmp/trace") \
		<(tr A-F a-f <"$tmp/xrle")
	# Formats of other tools: kinds, comments, blank lines, CR LF line ends.
	{
		printf '# made by hand\n\n  // indented\r\n'
		sed -e '2s/,.*/ # the second/' -e '3s/$/ \/\/ the third/' -e '4s/$/\r/' -e 5G "$tmp/xrle.seq"
	} >"$tmp/commented"
	cp "$tmp/trace" "$tmp/first"
	"$ntrace" encode --pcs "$tmp/commented" --elf "$data/xrle.elf" --mode htm --implicit-return 8 -o "$tmp/trace" >/dev/null
	ok "a list with kinds of instructions, comments and blank lines" cmp "$tmp/trace" "$tmp/first"
else
	skip "xrle" "no ../shared/data/refcode, nor NTRACE_SHARED"
fi

# An interrupt in sequential code, and one after a branch.
printf '0x10000\n0x10014\n0x10016\n0x10000\n' >"$tmp/jumpy"
"$ntrace" encode --pcs "$tmp/jumpy" --elf "$tmp/demo" --mode htm -o "$tmp/trace" >"$tmp/summary"
like "traps are reported" "traps between the PCs [1-9]" "$(cat "$tmp/summary")"
like "and encoded as what the list does not tell apart" "BTYPE=1" "$("$ntrace" dump "$tmp/trace")"

# complains TEXT STATUS PATTERN ARGUMENT...: checks the status, and the only output, a line on stderr.
complains() {
	local text=$1 expected=$2 pattern=$3 rc=0
	shift 3
	timeout 20 "$ntrace" encode "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || rc=$?
	is "$rc $(wc -l <"$tmp/err")" "$expected 1" "$text: status and one line" || diag "$(cat "$tmp/err")"
	like "$text: its message" "$pattern" "$(cat "$tmp/err")"
}
trace=(--elf "$tmp/demo" --mode htm -o "$tmp/trace")
complains "no input" 2 "one of --pcs, --exec-log and --ingress" "${trace[@]}"
complains "two inputs" 2 "one of --pcs, --exec-log and --ingress" --pcs a --ingress b "${trace[@]}"
complains "no program" 2 "--elf FILE" --pcs "$tmp/pcs" --mode htm -o "$tmp/trace"
complains "no mode" 2 "--mode btm or --mode htm" --pcs "$tmp/pcs" --elf "$tmp/demo" -o "$tmp/trace"
complains "no output" 2 "-o TRACE" --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm
complains "bad mode" 2 "'xtm' is neither" --pcs "$tmp/pcs" --mode xtm
complains "an operand" 2 "'more' belongs to no option" --pcs "$tmp/pcs" "${trace[@]}" more
complains "an encoder that cannot be" 2 "invalid encoder options: all jumps .* hides the calls" \
	--pcs "$tmp/pcs" "${trace[@]}" --implicit-return 4 --params alljumps=1
complains "an unknown key" 2 "cannot use 'colour=red'" --pcs "$tmp/pcs" "${trace[@]}" --encoder histbits=3,colour=red
complains "a bad value" 2 "cannot use 'sync=often'" --pcs "$tmp/pcs" "${trace[@]}" --encoder sync=often
complains "a bad range" 2 "cannot use 'range=5'" --pcs "$tmp/pcs" "${trace[@]}" --encoder range=5
complains "a list that does not exist" 1 "/nonexistent: No such file" --pcs /nonexistent "${trace[@]}"
complains "an empty list" 1 "contains no PC" --pcs /dev/null "${trace[@]}"
complains "an output that cannot be" 1 "/nonexistent/x: No such file" --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm \
	-o /nonexistent/x
complains "a full disk" 1 "/dev/full: No space left" --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm -o /dev/full
printf '0x10000\n0x99990\n' >"$tmp/bad"
complains "a PC outside of the program" 1 "bad: line 2: 0x99990: " --pcs "$tmp/bad" "${trace[@]}"
printf '0x10000\n10004\n' >"$tmp/bad"
complains "a line that is no PC" 1 "bad: line 2: not a PC" --pcs "$tmp/bad" "${trace[@]}"
for more in ,X4 ,L44 ,4 ' 0x10008' ,L4x; do
	printf '0x10000\n0x10004%s\n' "$more" >"$tmp/bad"
	complains "more than a PC: '$more'" 1 "bad: line 2: unexpected text after the PC" --pcs "$tmp/bad" "${trace[@]}"
done
printf '0x10000\n# a\0b\n' >"$tmp/bad"
complains "a byte 0 in a comment" 1 "bad: line 2: not a PC" --pcs "$tmp/bad" "${trace[@]}"
printf '0x10000000000000000\n' >"$tmp/bad"
complains "a PC of 65 bits" 1 "bad: line 1: not a PC" --pcs "$tmp/bad" "${trace[@]}"
head -c 100000 /dev/zero >"$tmp/bad"
complains "not a text file" 1 "bad: line 1: too long" --pcs "$tmp/bad" "${trace[@]}"
printf 'Trace 0: 0x7f10 [00000000/00000' >"$tmp/bad"
complains "a log that is cut" 1 "bad: line 1: damaged 'Trace' line" --exec-log "$tmp/bad" "${trace[@]}"
printf 'ntrace-ingress 1 xlen=64 itype=4 groups=1 port=block\nc priv=2\n' >"$tmp/bad"
complains "a bad ingress file" 1 "bad: line 2, column 9 .offset 53.: priv is reserved" --ingress "$tmp/bad" --mode htm \
	-o "$tmp/trace"
# After an error, no new trace exists, and an existing file is unchanged.
mkdir "$tmp/whole"
printf '0x10000\n0x99990\n' >"$tmp/bad"
new=(--elf "$tmp/demo" --mode htm -o "$tmp/whole/new" --record-ingress "$tmp/whole/record")
complains "a bad list" 1 "0x99990" --pcs "$tmp/bad" "${new[@]}"
is "$(ls "$tmp/whole")" "" "no file for a trace that cannot be made"
echo before >"$tmp/whole/new"
chmod 640 "$tmp/whole/new"
complains "a bad list, again" 1 "0x99990" --pcs "$tmp/bad" "${new[@]}"
is "$(cat "$tmp/whole/new")" before "nor is what was there before lost"
ln -s new "$tmp/whole/link"
ok "a good one" "$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm -o "$tmp/whole/link"
is "$(cd "$tmp/whole" && stat -c '%N %a' link new)" "'link' -> 'new' 777
'new' 640" "replaces it behind the link, with its permissions"
ok "it is the trace" test "$(stat -c %s "$tmp/whole/new")" -gt 6
ok "a pipe is written in place" cmp <("$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm -o >(cat) >/dev/null | cat) \
	"$tmp/whole/new"
head -n 20 "$tmp/ingress" >"$tmp/bad"
complains "an ingress file that is cut" 1 "bad: line 20: truncated" --ingress "$tmp/bad" --mode htm -o "$tmp/trace"
complains "an ingress file of another xlen" 1 "the port has xlen=64" --ingress "$tmp/ingress" --mode htm \
	-o "$tmp/trace" --params xlen=32

# The default options make a trace within the limits of the specification. The program executes more parcels without a message
# than the 22 bits of an I-CNT can count.
printf '\t.globl _start\n_start: .rept 4096\n\tnop\n\t.endr\nback: j _start\n' >"$tmp/round.S"
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id=none -o "$tmp/round" "$tmp/round.S"
python3 -c '
for i in range(1100):
    print("\n".join(hex(0x10000 + 2 * n) for n in range(4097)))' >"$tmp/rounds"
for mode in htm btm; do
	ok "default options, --mode $mode: encoded" "$ntrace" encode --elf "$tmp/round" --pcs "$tmp/rounds" --mode $mode -o "$tmp/trace"
	is "$("$ntrace" check "$tmp/trace" | sed 's/^[0-9]* messages/messages/')" "messages: 0 errors, 0 warnings, 0 infos" \
		"--mode $mode: check finds nothing"
	is "$("$ntrace" stat --json --elf "$tmp/round" "$tmp/trace" | grep -o '"instructions":[0-9]*' | head -n 1)" \
		"\"instructions\":$((1100 * 4097))" "--mode $mode: all instructions are in it"
done
done_testing
