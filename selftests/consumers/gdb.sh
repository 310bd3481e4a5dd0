#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Recordings in GDB: a program with libraries, compared with the witness's log; two threads; the kernel with gaps, compared
# with ntrace decode. tools/gdb.sh has raw traces.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ntrace=$top/build/ntrace
ok "trace a program, and one of two threads" eval 'record_calculator && record_timed' || done_testing

# walk TARGET WORD...: what GDB shows, see tools/host/gdb_walk.py; NAME's lines are in walked.NAME.
walk() {
	local target=$1 name
	shift
	TARGET=$target WALK=$* timeout 550 gdb-multiarch -q -nx -batch -x selftests/tools/host/gdb_walk.py >"$tmp/walked" 2>"$tmp/walk.err"
	is "$? $(grep -cx "done" "$tmp/walked")" "0 1" "GDB ends well: $*"
	for name in backwards forwards hits history gaps calls threads say; do
		sed -n "s/^$name //p" "$tmp/walked" >"$tmp/walked.$name"
	done
	! grep -qiE 'internal-error|assertion' "$tmp/walk.err" || { not_ok "no assertion of GDB"; diag "$(head -n 5 "$tmp/walk.err")"; }
}
python3 selftests/consumers/host/own_code.py "$recorded/maps" calculator <"$recorded/log" >"$tmp/witnessed"

# A dynamically linked program: its last instructions, and the calls of one of its functions.
count=3000
nm "$recorded/calculator" >"$tmp/symbols"
SAY="info sharedlibrary; info symbol \$pc; monitor programs" \
	walk "| exec $ntrace gdb - --last $count --sysroot $root $recorded/recording" say threads history
like "the program and its libraries are found" "libc\.so\.6.*ld-linux-riscv64|ld-linux-riscv64.*libc\.so\.6" "$(tr '\n' ' ' <"$tmp/walked.say")"
like "the program is position-independent" "/calculator: moved by 0x[1-9a-f][0-9a-f]*, [0-9]+ instructions \(the program\)" "$(cat "$tmp/walked.say")"
like "its thread has its name" "^[0-9]+ calculator$" "$(cat "$tmp/walked.threads")"
is "$(wc -l <"$tmp/walked.history")" "$count" "as many instructions as asked for"
ok "the last instructions are those of the witness" cmp <(tail -n "$count" "$tmp/witnessed") "$tmp/walked.history"
bias=$(sed -n 's/.*\/calculator: moved by 0x\([0-9a-f]*\),.*/\1/p' "$tmp/walked.say" | head -n 1)
main=$(printf '0x%x' $((16#$bias + 16#$(awk '$3 == "main" { print $1 }' "$tmp/symbols"))))
calls=0
while read -r offset kind name; do
	[[ $kind = [tT] && ! $name =~ ^[_$]|main|register|frame_dummy|\. ]] || continue
	function=$name entry=$(printf '0x%x' $((16#$bias + 16#$offset)))
	calls=$(grep -cx "$entry" "$tmp/witnessed")
	[ "$calls" -eq 0 ] || [ "$calls" -ge 60 ] || break
done <"$tmp/symbols"
export BREAK="*$entry;*$main"
SAY="monitor around $function $calls; monitor around $function $((calls + 1))" \
	walk "| exec $ntrace gdb - --sysroot $root $recorded/recording" hits say
ok "there is a function with a few calls ($function: $calls)" test "$calls" -gt 0
is "$(grep -c '^0 back' "$tmp/walked.hits") $(grep -c '^0 on' "$tmp/walked.hits")" "$calls $calls" \
	"a breakpoint stops at every call that the witness saw, in both directions"
is "$(grep -c '^1 back' "$tmp/walked.hits") $(grep -c '^1 on' "$tmp/walked.hits")" "1 1" "once at main"
like "monitor around finds the last call" "$function\+0x0 \(calculator\)" "$(head -n 1 "$tmp/walked.say")"
like "monitor around: and no further one" "executes '$function' less than $((calls + 1)) times" "$(cat "$tmp/walked.say")"

# Forwards and backwards over the end of the run, and breakpoints at a line.
line=$(grep -n "$function" selftests/consumers/program/calculator.c | head -n 1 | cut -d: -f1)
walk "| exec $ntrace gdb - --last 1000 --sysroot $root $recorded/recording" backwards forwards
tail -n 1000 "$tmp/witnessed" >"$tmp/part"
ok "reverse-stepi to the beginning of a window visits what the witness saw" cmp <(tac "$tmp/part") "$tmp/walked.backwards"
ok "stepi to its end visits the same" cmp "$tmp/part" "$tmp/walked.forwards"
BREAK="calculator.c:$line" walk "| exec $ntrace gdb - --sysroot $root $recorded/recording" hits
is "$(grep -c '^0 back' "$tmp/walked.hits") $(grep -c '^0 on' "$tmp/walked.hits")" "$calls $calls" \
	"a breakpoint at the line of the function ($line) stops as often, in both directions"

# Two threads, which GDB switches between; each has its own place. GDB numbers them in the order of their ids. The fourth call
# of short_work has others before it, and after the last call of both no breakpoint is left.
SAY="thread 2; monitor around short_work 4; maintenance flush register-cache; break short_work; break long_work; reverse-continue; monitor where;
reverse-continue; monitor where; monitor end; maintenance flush register-cache; reverse-continue; monitor where; info threads; continue; monitor where" \
	walk "| exec $ntrace gdb - --user --sysroot $timed_root $timed/recording" threads say
is "$(awk '{ print $2 }' "$tmp/walked.threads" | sort | tr '\n' ' ')" "long_work short_work timed " "the threads of a process have their names"
# --around chooses the thread; GDB asks for it with qC.
for name in short_work long_work; do
	is "$(printf '\44qC#b4' | "$ntrace" gdb - --around "$name" --sysroot "$timed_root" "$timed/recording" 2>&1 | grep -ao 'QC[0-9a-f]*')" \
		"QC$(awk -v name=$name '$2 == name { printf "%x", $1 }' "$tmp/walked.threads")" "--around $name shows the thread that executes it"
done
stops=$(grep -cE '^0x.* (short|long)_work\+0x[0-9a-f]+ \(timed\)$' "$tmp/walked.say")
is "$stops" 4 "breakpoints stop in the threads that have them"
like "with their time" "_work\+0x[0-9a-f]+ \(timed\) instruction [0-9]+ of 0 to [0-9]+, thread [0-9]+ \((short|long)_work\), CPU 0, time [0-9.]+ ms \(@[0-9]+\)" \
	"$(tr '\n' ' ' <"$tmp/walked.say")"
# The threads take turns: stopping one of them takes the others back to the same time.
ends=$(TARGET="| exec $ntrace gdb - --user --sysroot $timed_root $timed/recording" WALK=say SAY="info threads" \
	gdb-multiarch -q -nx -batch -x selftests/tools/host/gdb_walk.py 2>/dev/null | grep -c '_exit')
is "$ends $(grep -c 'Thread.*_exit' "$tmp/walked.say")" "1 0" "reverse-continue takes all threads back"

# The kernel and all tasks of a CPU.
decoded() { "$ntrace" decode --level pc --sysroot "$timed_root" "$1" 2>/dev/null; }
decoded "$timed/recording" | tail -n 20000 >"$tmp/decoded"
walk "| exec $ntrace gdb - --cpu 0 --last 20000 --sysroot $timed_root $timed/recording" history
ok "the kernel: instruction-history is as ntrace decode says" cmp "$tmp/decoded" <(grep -v gap "$tmp/walked.history")
is "$(grep -c gap "$tmp/walked.history")" "$(cat "$tmp/walked.gaps")" "GDB counts its gaps"
done_testing
