#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=60
# ntrace gdb with GDB itself, on raw traces: what GDB shows is compared with a run that is known otherwise, and with
# ntrace decode where code is missing; several, killed and rude clients. consumers/gdb.sh has recordings.
set -uo pipefail
# shellcheck source=selftests/tools/demo_common.sh
. "$(dirname "$0")/demo_common.sh"
data=${NTRACE_SHARED:-$top/../shared}/data/refcode
python=$top/selftests/tools/host

make_demo || { done_testing; exit; }
both=$(address both) odd=$(address odd)

# walk TARGET WORD...: what GDB shows, in walked; NAME's lines are in walked.NAME.
walk() {
	local target=$1 name
	shift
	rm -f "$tmp"/walked.*
	TARGET=$target WALK=$* timeout 500 gdb-multiarch -q -nx -batch -x "$python/gdb_walk.py" >"$tmp/walked" 2>"$tmp/walk.err"
	is "$? $(grep -cx "done" "$tmp/walked")" "0 1" "GDB ends well: $*"
	for name in backwards forwards hits history gaps calls threads say; do
		sed -n "s/^$name //p" "$tmp/walked" >"$tmp/walked.$name"
	done
	! grep -qiE 'internal-error|assertion' "$tmp/walk.err" || { not_ok "no assertion of GDB"; diag "$(head -n 5 "$tmp/walk.err")"; }
}
stub="| exec $ntrace gdb - --elf $tmp/demo $tmp/demo.nex"

line=$(grep -n '^both:' "$tmp/demo.S" | cut -d: -f1)
breaks=("*$both" "*$odd" "demo.S:$line" "both odd")
patterns=("$both" "$odd" "$both" "$both|$odd")
export BREAK
BREAK=$(IFS=';' && echo "${breaks[*]}")
walk "$stub" backwards forwards hits history
ok "reverse-stepi visits the whole run from its end" cmp <(tac "$tmp/pcs") "$tmp/walked.backwards"
ok "stepi visits it from its beginning" cmp "$tmp/pcs" "$tmp/walked.forwards"
ok "record instruction-history shows the whole run" cmp "$tmp/pcs" "$tmp/walked.history"
is "$(cat "$tmp/walked.gaps")" 0 "without gaps"
for i in "${!breaks[@]}"; do
	grep -xE "${patterns[i]}" "$tmp/pcs" >"$tmp/expected"
	ok "break ${breaks[i]}: there are stops" test -s "$tmp/expected"
	ok "break ${breaks[i]}: all stops backwards" cmp <(tac "$tmp/expected") <(sed -n "s/^$i back //p" "$tmp/walked.hits")
	ok "break ${breaks[i]}: all stops forwards" cmp "$tmp/expected" <(sed -n "s/^$i on //p" "$tmp/walked.hits")
done

# Memory and registers: what a trace has, and nothing else.
answer=$(address answer) value=$(address value)
SAY="x/wx $answer; x/wx $value; x/wx 0; info registers a0; set var \$pc = 0; set var *(int *)$answer = 1; watch *(int *)$answer" \
	walk "$stub" say
like "read-only data is that of the file" "0x600df00d" "$(sed -n 1p "$tmp/walked.say")"
is "$(sed -n 2p "$tmp/walked.say")" "error: Cannot access memory at address $value" "data that may have changed is not shown"
is "$(sed -n 3p "$tmp/walked.say")" "error: Cannot access memory at address 0x0" "memory that is not known is not 0"
like "registers are unavailable" "^a0 +<unavailable>" "$(sed -n 4p "$tmp/walked.say")"
like "writes are refused with a reason" "ntrace refuses writes" "$(sed -n 5p "$tmp/walked.say")"
like "writes to memory fail" "error: Cannot access memory" "$(sed -n 6p "$tmp/walked.say")"

# Monitor commands.
SAY="monitor around both 3; monitor goto 7; monitor window last 5; monitor start; monitor goto 1; monitor end; monitor window all;
monitor goto 0; monitor goto +9; monitor goto -4; monitor goto -99; monitor next-gap; monitor time 1; monitor around nothing; monitor x; monitor programs" walk "$stub" say
third=$(($(grep -nx "$both" "$tmp/pcs" | sed -n 3p | cut -d: -f1) - 1))
like "monitor around: the third call" "^$both both\+0x0 \(demo\) instruction $third of 0 to $((total - 1)), thread 1 " \
	"$(head -n 2 "$tmp/walked.say" | tr '\n' ' ')"
like "monitor goto" "instruction 7 of" "$(sed -n 4p "$tmp/walked.say")"
like "monitor goto: from here" "instruction 9 of.*instruction 5 of.*goto: this instruction is not in the window" "$(tr '\n' ' ' <"$tmp/walked.say")"
like "monitor window last" "window: instructions $((total - 5)) to $((total - 1))" "$(cat "$tmp/walked.say")"
like "monitor goto: outside the window" "goto: this instruction is not in the window" "$(cat "$tmp/walked.say")"
like "monitor next-gap: none" "there is no gap" "$(cat "$tmp/walked.say")"
like "monitor time: no timestamps" "the trace has no timestamps" "$(cat "$tmp/walked.say")"
like "monitor around: no such function" "no file of the trace has a function 'nothing'" "$(cat "$tmp/walked.say")"
like "monitor: no such command" "no monitor command 'x'" "$(cat "$tmp/walked.say")"
like "monitor programs" "demo: moved by 0x0, $total instructions \(the program\)" "$(cat "$tmp/walked.say")"

# Options of the command say the same.
SAY="monitor where" walk "| exec $ntrace gdb - --around both:3 --elf $tmp/demo $tmp/demo.nex" say
like "--around" "instruction $third of" "$(cat "$tmp/walked.say")"
SAY="monitor where" walk "| exec $ntrace gdb - --last 5 --elf $tmp/demo $tmp/demo.nex" say backwards
is "$(wc -l <"$tmp/walked.backwards")" 5 "--last: no more than these instructions"
"$ntrace" gdb --around nothing --elf "$tmp/demo" "$tmp/demo.nex" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 ntrace: error: around: no file of the trace has a function 'nothing'" "--around: no such function"

# Timestamps.
make_timed
"$ntrace" decode --params $params --elf "$tmp/demo" "$tmp/timed.nex" >"$tmp/timed"
SAY="monitor time 100us; monitor time 0.00005,0.00009; monitor start; monitor end; monitor time 1h; monitor time @300" \
	walk "| exec $ntrace gdb - --params $params --elf $tmp/demo $tmp/timed.nex" say
like "monitor time: the last instruction up to it" "time (9[0-9]\.[0-9]+|100\.0*) us" "$(sed -n 2p "$tmp/walked.say")"
like "monitor time: a window" "window: instructions [0-9]+ to [0-9]+" "$(sed -n 5p "$tmp/walked.say")"
like "monitor time: what is no time" "a time is a number of seconds" "$(cat "$tmp/walked.say")"

# A gap: bytes are missing in the middle.
make_gap
"$ntrace" decode --level pc --elf "$tmp/demo" "$tmp/gap.nex" >"$tmp/decoded" 2>/dev/null
is $? 3 "a trace with a gap"
broken="| exec $ntrace gdb - --elf $tmp/demo $tmp/gap.nex"
SAY="monitor start; maintenance flush register-cache; continue; monitor start; monitor next-gap; monitor previous-gap; monitor end; maintenance flush register-cache" \
	walk "$broken" backwards forwards say history
ok "reverse-stepi over the gap" cmp <(tac "$tmp/decoded") "$tmp/walked.backwards"
ok "stepi over the gap" cmp "$tmp/decoded" "$tmp/walked.forwards"
ok "instruction-history around the gap is as ntrace decode says" cmp "$tmp/decoded" <(grep -v gap "$tmp/walked.history")
is "$(grep -c gap "$tmp/walked.history") $(cat "$tmp/walked.gaps")" "1 1" "GDB shows the gap"
like "GDB is told when it passes the gap" "ntrace: code is missing here: error: " "$(cat "$tmp/walk.err" "$tmp/walked")"
after=$(($(grep -nx gap "$tmp/walked.history" | cut -d: -f1) - 1))
grep -A 2 '^gap: error: ' "$tmp/walked.say" >"$tmp/gaps"
like "monitor next-gap: the first instruction after it" "instruction $after of" "$(sed -n 3p "$tmp/gaps")"
like "monitor previous-gap: the last instruction before it" "instruction $((after - 1)) of" "$(sed -n 6p "$tmp/gaps")"

# Ten million instructions open within seconds. What counts is the work for each of them, which does not depend on the host.
if [ "$(uname -m)" = x86_64 ]; then
	for ((i = 0; i < 300; i++)); do cat "$tmp/pcs"; done >"$tmp/long.pcs"
	"$ntrace" encode --pcs "$tmp/long.pcs" --elf "$tmp/demo" --mode btm --encoder sync=messages,syncmax=8 -o "$tmp/long.nex" >/dev/null
	# spent TRACE: with the packets on standard input
	spent() {
		valgrind --tool=callgrind --callgrind-out-file=/dev/null "$ntrace" gdb - --elf "$tmp/demo" "$1" 2>&1 |
			grep -a 'refs:' | sed -n 's/.*refs: *//p' | tr -d ,
	}
	opened=$(spent "$tmp/long.nex" </dev/null)
	cost=$(((opened - $(spent "$tmp/demo.nex" </dev/null)) / (299 * total)))
	diag "$cost instructions of this machine for each instruction of the trace"
	ok "at most 1,200 instructions of this machine for each instruction of the trace" test "$cost" -gt 0 -a "$cost" -le 1200
	# A step must not count from the beginning of the trace.
	for ((i = 0; i < 200; i++)); do printf '\44bs#d5+'; done >"$tmp/packets"
	cost=$((($(spent "$tmp/long.nex" <"$tmp/packets") - opened) / 200))
	diag "$cost instructions of this machine for a step"
	ok "at most 20,000 instructions of this machine for a step" test "$cost" -gt 0 -a "$cost" -le 20000
else
	skip "instructions for each instruction of the trace" "the limit is that of x86_64"
	skip "instructions for a step" "the limit is that of x86_64"
fi

# The program that the reference encoder's stream is of: everything that it executed.
if [ -e "$data/xrle.nex" ]; then
	zcat "$data/xrle.pcseq.txt.gz" | cut -d, -f1 | tr 'A-FX' 'a-fx' >"$tmp/expected"
	BREAK=xrle_compress walk "| exec $ntrace gdb - --elf $data/xrle.elf $data/xrle.nex" hits history
	ok "a real program: instruction-history is the published PC sequence" cmp "$tmp/expected" "$tmp/walked.history"
	stop=$(sed -n 's/^0 on //p' "$tmp/walked.hits" | head -n 1)
	is "$(grep -c "^0 back $stop" "$tmp/walked.hits")" "$(grep -cx "$stop" "$tmp/expected")" \
		"a real program: as many stops at a function as executions"
	walk "| exec $ntrace gdb - --last 1500 --elf $data/xrle.elf $data/xrle.nex" backwards forwards
	tail -n 1500 "$tmp/expected" >"$tmp/part"
	ok "a real program: reverse-stepi to the beginning of a window" cmp <(tac "$tmp/part") "$tmp/walked.backwards"
	ok "a real program: stepi to its end" cmp "$tmp/part" "$tmp/walked.forwards"
else
	skip "a real program" "no $data/xrle.nex"
fi

# --run starts GDB on the right program.
"$ntrace" gdb --run --elf "$tmp/demo" "$tmp/demo.nex" -- -nx -batch -ex "info symbol \$pc" -ex 'ntrace around both 2' \
	-ex "info symbol \$pc" >"$tmp/out" 2>"$tmp/err"
is $? 0 "--run: exit status"
like "--run: the program is loaded" "next.* in section .text" "$(cat "$tmp/out")"
like "--run: the command ntrace moves GDB" "both in section .text" "$(cat "$tmp/out")"
ok "--run: GDB reads the program itself" test -z "$(grep -i 'from remote target' "$tmp/out" "$tmp/err")"
like "--run: a watchpoint in a trace without values" "The trace has no values" \
	"$("$ntrace" gdb --run --elf "$tmp/demo" "$tmp/demo.nex" -- -nx -batch -ex 'watch *(int *)0' 2>&1)"
like "--run: GDB waits for what takes long" "target to respond is 300" \
	"$("$ntrace" gdb --run --elf "$tmp/demo" "$tmp/demo.nex" -- -nx -batch -ex 'show remotetimeout' 2>&1)"
"$ntrace" gdb --run --gdb /nonexistent/gdb --elf "$tmp/demo" "$tmp/demo.nex" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "1 ntrace: error: /nonexistent/gdb: No such file or directory" "--run: no such GDB"
PATH=/nonexistent "$ntrace" gdb --run --elf "$tmp/demo" "$tmp/demo.nex" >"$tmp/out" 2>"$tmp/err"
like "--run: GDB is not installed" "gdb-multiarch: No such file or directory: install it" "$(cat "$tmp/err")"

# What an IDE asks for.
timeout 300 python3 "$python/gdb_mi.py" "$top/Documentation/debuggers.md" "$ntrace" "$tmp/demo" "$tmp/demo.nex" "$tmp/pcs" \
	>"$tmp/mi" 2>"$tmp/mi.err"
rc=$?
while read -r result text; do
	if [ "$result" = ok ]; then pass "$text"; else not_ok "$result $text"; fi
done <"$tmp/mi"
is "$rc $(grep -c '^ok ' "$tmp/mi")" "0 16" "all tests of the machine interface ran" || diag "$(tail -n 5 "$tmp/mi.err")"

# Clients that share a server, are killed, or say anything.
timeout 300 python3 "$python/gdb_clients.py" "$ntrace" "$tmp/demo" "$tmp/demo.nex" "$total" "${SEED:-1}" >"$tmp/clients" 2>"$tmp/clients.err"
rc=$?
while read -r result text; do
	if [ "$result" = ok ]; then pass "$text"; else not_ok "$result $text"; fi
done <"$tmp/clients"
like "a client too many is turned away with a message" "turned away: no more than 16" "$(cat "$tmp/clients.err")"
is "$rc $(grep -c '^ok ' "$tmp/clients")" "0 13" "all tests of clients ran"
# A packed trace in frames: the last bytes of the file hold more of the stream than the cursor takes at once.
framed=$tmp/framed.data
cp -r "$top/Documentation/tour/words.data" "$framed"
zstd -qd --rm "$framed/aux.1.zst"
python3 "$top/selftests/tools/frames.py" "$framed/aux.1.zst" 1 0 2="$framed/aux.1"
sed -i "/^stream 1/,\$ { s/^bytes .*/bytes $(stat -c %s "$framed/aux.1.zst")/; s/^params .*/&,atid=2/ }" "$framed/params"
zstd -qf "$framed/aux.1.zst" -o "$framed/aux.1" && mv "$framed/aux.1" "$framed/aux.1.zst"
for recording in "$top/Documentation/tour/words.data" "$framed"; do
	SAY="monitor end" walk "| exec $ntrace gdb - --cpu 1 $recording" say
	like "${recording##*/}: the last instruction" "_start.* 12899869 of .* time 31.279 ms" "$(tr '\n' ' ' <"$tmp/walked.say")"
done
done_testing
