#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace encode --encoder: every key does what the manual says, and every wrong value is refused. tools/encode.sh has the kinds
# of input.
set -uo pipefail
# shellcheck source=selftests/tools/demo_common.sh
. "$(dirname "$0")/demo_common.sh"
make_demo || { done_testing; exit; }

# traced OPTION...: makes $tmp/trace, its summary in $tmp/summary and its messages in $tmp/messages
traced() {
	rm -f "$tmp/trace"
	"$ntrace" encode --pcs "$tmp/${list:-pcs}" --elf "$tmp/demo" --mode htm -o "$tmp/trace" "$@" >"$tmp/summary" 2>"$tmp/err"
	local rc=$?
	[ ! -e "$tmp/trace" ] || "$ntrace" dump --json ${params:+--params "$params"} "$tmp/trace" >"$tmp/messages"
	return $rc
}
# figure NAME: of the summary
figure() { sed -n "s/^$1 \([0-9]*\)$/\1/p" "$tmp/summary"; }
# fields NAME: values of this field in all messages
fields() { grep -o "\"$1\":[0-9]\+" "$tmp/messages" | cut -d: -f2 | paste -sd ' '; }
# back: whether the trace decodes to the run
back() { "$ntrace" decode --level pc --elf "$tmp/demo" ${params:+--params "$params"} "$tmp/trace" 2>/dev/null | cmp -s - "$tmp/pcs"; }
params=''

# Wrong values. A key may not be shortened or extended.
while read -r pair; do
	traced --encoder "$pair"
	is "$? $(cat "$tmp/err")" "2 ntrace encode: option --encoder: cannot use '${pair##*,}' (see 'ntrace encode --help')" "--encoder $pair is refused"
done <<'END'
icntbits
icntbits=
icntbits=x
icntbits=-1
icntbits=+1
icntbits=5x
icntbits=4294967296
icntbits=99999999999999999999
icnt=5
icntbitsx=5
=5
stall=2
stall=yes
sync=often
sync=1
timestamps=some
drain=x
drain=-1
drain=1.5x
drain=.5
range
range=5
range=5-
range=-5
range=+5-6
range=-5-6
range=5-+6
range=x-5
range=1-x
range=1-2x
range=1-99999999999999999999
range=1-2,range=1-2,range=1-2,range=1-2,range=3-4
histbits=3,colour=red
histbits=3,
END

traced --encoder start=5,stop=4
is "$? $(fields SYNC | cut -d ' ' -f 1) $(fields EVCODE)" "0 5 4" "start and stop: the first SYNC and the last EVCODE"
traced
is "$(fields SYNC | cut -d ' ' -f 1) $(fields EVCODE)" "1 0" "their defaults"
usual=$(figure messages)
for pair in sync=messages,syncmax=0 sync=parcels,syncmax=0 sync=cycles,syncmax=0; do
	traced --encoder "$pair"
	many=$(fields SYNC | wc -w)
	traced --encoder "${pair%0}2"
	few=$(fields SYNC | wc -w)
	ok "$pair: more syncs than with syncmax=2" test "$many" -gt "$few"
	ok "$pair: decodes to the run" back
done
traced --encoder sync=off
is "$(fields SYNC | wc -w)" 1 "sync=off: only the first one"
traced --encoder histbits=3
ok "histbits=3: decodes to the run" back
traced --encoder icntbits=3
ok "icntbits=3: more messages" test "$(figure messages)" -gt "$usual"
ok "icntbits=3: decodes to the run" back
params=srcbits=2
traced --params srcbits=2
whole=$(figure bytes)
traced --params srcbits=2 --encoder emptyfields=1
ok "emptyfields=1: less bytes" test "$(figure bytes)" -lt "$whole"
ok "emptyfields=1: decodes to the run" back
params=''
ok "IndirectBranch where HIST is empty" grep -q '"name":"IndirectBranch"' "$tmp/messages"
traced --encoder emptyhist=1
ok "emptyhist=1: no IndirectBranch" test "$(grep -c '"name":"IndirectBranch"' "$tmp/messages")" = 0
ok "emptyhist=1: decodes to the run" back
traced --encoder icntbits=0x16,histbits=31,hrepeatbits=18,bcntbits=18,retbits=63,privmask=0xff
is "$(figure messages)" "$usual" "the defaults that the help tells, also in hexadecimal"

params=tsbits=32
for kind in none sync branch all; do
	traced --params tsbits=32 --encoder "timestamps=$kind,sync=messages"
	counts+="$(grep -c TSTAMP "$tmp/messages") "
	ok "timestamps=$kind: decodes to the run" back
done
read -r none sync branch all <<<"$counts"
ok "timestamps: none, with syncs, with branches, with all ($counts)" \
	test "$none" = 0 -a "$sync" -gt 0 -a "$branch" -ge "$sync" -a "$all" -gt "$branch" -a "$all" = "$(figure messages)"
params=''

# Filters. Addresses are inclusive.
first=$(address odd) last=$(grep -A 100 -x "$first" "$tmp/pcs" | grep -x -B 100 -m 1 "$(address both)" | tail -n 2 | head -n 1)
within() { awk -v first="$1" -v last="$2" '{ pc = $1 } length(pc) == length(first) && pc >= first && pc <= last' "$tmp/pcs"; }
for range in "$first-$last" "$((first))-$((last))" "0-1,range=$first-$last"; do
	traced --encoder "range=$range"
	ok "range=$range: only these addresses" cmp <("$ntrace" decode --level pc --elf "$tmp/demo" "$tmp/trace" 2>/dev/null) <(within "$first" "$last")
done
traced --encoder "range=1-2,range=3-4,range=5-6,range=0-0xffffffffffffffff"
ok "four ranges" back
traced --encoder privmask=0
is "$(figure instructions) $("$ntrace" decode --level pc --elf "$tmp/demo" "$tmp/trace" 2>/dev/null | wc -l)" "$total 0" "privmask=0: nothing is traced"

# The queue of messages: full, it drops them or stops the hart.
for ((i = 0; i < 20; i++)); do cat "$tmp/pcs"; done >"$tmp/long"
list=long
traced
usual=$(figure messages)
traced --encoder fifo=256,drain=0.001,sync=messages
ok "fifo, drain: messages are lost" test "$(figure 'messages lost')" -gt 0
ok "fifo, drain: the trace says so" grep -q '"name":"Error"' "$tmp/messages"
ok "its ECODE says that instructions are lost" test "$(grep -o '"ECODE":[^}]*' "$tmp/messages" | sort -u)" = '"ECODE":"0x4"'
traced --encoder fifo=256,drain=0.001,sync=messages,noecode=1
ok "noecode=1: ECODE 0" test "$(grep -o '"ECODE":[^}]*' "$tmp/messages" | sort -u)" = '"ECODE":"0x0"'
traced --encoder fifo=256,drain=0.001,sync=messages,stall=1
is "$? $(figure 'messages lost')" "0 " "stall=1: no message is lost"
ok "stall=1: the hart stands still" test "$(figure 'cycles stalled')" -gt 100
slow=$(figure 'cycles stalled')
traced --encoder fifo=256,drain=0.01,sync=messages,stall=1
ok "a faster drain: not so long" test "$(figure 'cycles stalled')" -lt "$slow"
traced --encoder fifo=256,drain=0.00000001,sync=messages
ok "a drain that is almost nothing loses messages" test "$(figure 'messages lost')" -gt 0
for drain in 1000 99999999; do
	traced --encoder "fifo=4096,drain=$drain"
	is "$? $(figure messages) $(figure 'messages lost')$(figure 'cycles stalled')" "0 $usual " "drain=$drain: nothing is lost"
done

list=pcs

# A log of QEMU: instructions that were stopped did not execute.
line() { printf 'Trace %s: 0x7f10 [00000000/%016x/00101003/ff021200] f\n' "$1" "$2"; }
stopped() { printf 'Stopped execution of TB chain before 0x7f10 [%016x] f\n' "$1"; }
mapfile -t pcs <"$tmp/pcs"
{
	line 0 "${pcs[0]}"; stopped "${pcs[0]}"; line 0 "${pcs[0]}"; stopped 4; line 1 "${pcs[2]}"; stopped "${pcs[0]}"
	for pc in "${pcs[@]:1}"; do line 0 "$pc"; done
} >"$tmp/log"
"$ntrace" encode --exec-log "$tmp/log" --elf "$tmp/demo" --mode htm -o "$tmp/trace" >"$tmp/summary" 2>&1
ok "a log with stopped instructions" back
{ cat "$tmp/log"; line 0 "${pcs[0]}"; stopped "${pcs[0]}"; } >"$tmp/log2"
"$ntrace" encode --exec-log "$tmp/log2" --elf "$tmp/demo" --mode htm -o "$tmp/trace" >"$tmp/summary" 2>&1
ok "a log whose last instruction was stopped" back
sed 's/^Trace 0/Trace 3/; s/^Trace 1/Trace 0/' "$tmp/log" >"$tmp/log2"
"$ntrace" encode --cpu 3 --exec-log "$tmp/log2" --elf "$tmp/demo" --mode htm -o "$tmp/trace" >"$tmp/summary" 2>&1
ok "--cpu: a log of another CPU" back
for wrong in "Stopped execution of TB chain before 0x7f10 [" "Stopped execution of TB chain before 0x7f10 [zz] f"; do
	{ line 0 "${pcs[0]}"; echo "$wrong"; } >"$tmp/log2"
	fails "a line that is cut: '$wrong'" "log2: line 2: damaged 'Stopped' line" \
		"$ntrace" encode --exec-log "$tmp/log2" --elf "$tmp/demo" --mode htm -o "$tmp/none"
done
fails "--cpu: no number" "option --cpu: 'x' is not a number" "$ntrace" encode --cpu x --exec-log "$tmp/log" --elf "$tmp/demo" --mode htm -o "$tmp/none"
fails "an ingress file has the instructions" "an ingress file needs no --elf" "$ntrace" encode --ingress "$tmp/log" --elf "$tmp/demo" --mode htm -o "$tmp/none"
fails "an ISA that cannot be" "isa=" "$ntrace" encode --pcs "$tmp/pcs" --elf "$tmp/demo" --mode htm -o "$tmp/none" --params isa=rv64zz
ok "no trace is left" test ! -e "$tmp/none"
done_testing
