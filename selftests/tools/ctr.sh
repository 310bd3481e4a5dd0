#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace ctr: shows rings, compares them, and makes them with the model from an ingress file. The
# numbers come from Control Transfer Records 1.0 and from a ring read in QEMU.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
cd "$tmp" || exit 1

# wrong TEXT STATUS PATTERN ARGUMENT...: checks the status, and the only output, a line on stderr.
wrong() {
	local text=$1 expected=$2 pattern=$3 rc=0
	shift 3
	"$ntrace" ctr "$@" >out 2>err </dev/null || rc=$?
	is "$rc $(wc -l <err) $(wc -c <out)" "$expected 1 0" "$text"
	like "$text: its message" "$pattern" "$(cat err)"
}

cat >ring <<-'END'
	# read in a guest, through sireg, sireg2 and sireg3
	0 0xffffffff01e6b015 0xffffffff01e73088 0xd

	1 ffffffff01e73087 ffffffff01e6b000 8
	2 0x10001 0x20003 0x31238005
	3 0x1 0x8000 0xffff8002
	5 0x4001 0 0x01238003
	4 0x4000 0x5000 0x5
END
is "$("$ntrace" ctr dump ring)" "#   from               to                 type                    cycles  prediction
  0 0xffffffff01e6b014 0xffffffff01e73088 return                        -  predicted
  1 0xffffffff01e73086 0xffffffff01e6b000 indirect call                 -  predicted
  2 0x0000000000010000 0x0000000000020002 taken branch              17548  mispredicted
  3 hidden             0x0000000000008000 interrupt           >=134201344  predicted
  5 0x0000000000004000 hidden             trap return                 291  predicted" \
	"addresses, types, cycles, MISP; hidden modes; V = 0 is left out"
is "$("$ntrace" ctr dump --has none ring | sed -n 4p)" \
	"  2 0x0000000000010000 0x0000000000020002 none                          -  -" \
	"a hart that records addresses alone"
is "$(grep -v '^2' ring | "$ntrace" ctr dump - | awk 'NR > 1 { print $NF }' | sort -u)" "-" \
	"MISP that is 0 everywhere may not be implemented"
"$ntrace" ctr dump --json ring >json
ok "--json is JSON, and says the same" python3 - json <<-'END'
	import json, sys
	records = [json.loads(line) for line in open(sys.argv[1])]
	assert [r["index"] for r in records] == [0, 1, 2, 3, 5]
	assert records[2] == {"index": 2, "from": "0x10000", "to": "0x20002", "type": 5,
	    "type_name": "taken branch", "cycles": 17548, "saturated": False, "mispredicted": True}
	assert records[3]["from"] is None and records[3]["saturated"]
	assert records[4]["to"] is None and "cycles" not in records[0]
END
printf '%s\n' '0 1011 2000 9' '1 501 1000 8' '2 101 400 c' '3 44 1000 9' >stack
is "$("$ntrace" ctr dump --call-stack stack)" "#0   0x0000000000002000 called at 0x0000000000001010
#1   0x0000000000001000 called at 0x0000000000000500
#2   0x0000000000000400 called at 0x0000000000000100" "RASEMU: a call stack"
like "deeper than the ring" "outer calls may be missing" "$(head -n 3 stack | "$ntrace" ctr dump --call-stack -)"
wrong "a ring that RASEMU did not make" 1 "was it recorded with RASEMU" dump --call-stack ring

# Every field of entry 2 changed.
same() { "$ntrace" ctr compare "$@"; }
is "$(same ring ring)" "6 entries, no difference" "equal rings"
while IFS='|' read -r line reason; do
	sed "s/^2 .*/$line/" ring >other
	is "$(same ring other; echo $?)" "$reason
1" "compare: $reason"
done <<-'END'
	2 0x10005 0x20003 0x31238005|entry 2: from 0x10000 in A, 0x10004 in B
	2 0x10001 0x20007 0x31238005|entry 2: to 0x20002 in A, 0x20006 in B
	2 0x10001 0x20002 0x31238005|entry 2: mispredicted in A alone
	2 0x10001 0x20003 0x3123800d|entry 2: type: taken branch in A, return in B
	2 0x10001 0x20003 0x01238005|entry 2: cycles: 17548 in A, 291 in B
	2 0x10001 0x20003 0x31230005|entry 2: cycles: 17548 in A, unknown in B
	2 0x10000 0x20003 0x31238005|entry 2: valid in A alone
END
sed '/^5/d' ring >short
is "$(same short ring; echo $?)" "entry 5: in B alone
1" "compare: rings of different size"
sed 's/^4 .*/4 0 0 0/; s/^1 ffffffff01e73087 ffffffff01e6b000 8/1 ffffffff01e73087 ffffffff01e6b000 7a7a7008/' ring >other
ok "invalid records and reserved bits do not count" same ring other
sed 's/^2 .*/2 0x10001 0x20002 0x5/' ring >other
ok "--has type: cycles and MISP do not count" same --has type ring other
is "$(same --has type,cycles ring other)" "entry 2: cycles: 17548 in A, unknown in B" "--has is a list"

# A hand-written example for the trace ingress port: a call, a branch not taken, one taken.
cat >e1 <<-'END'
	ntrace-ingress 1 xlen=64 itype=4 groups=1 port=block
	c priv=3 0x1000,7,8
	c 0x940,3,4
	c 0x946,1,5
	c 0x988,4,0,1
	end
END
"$ntrace" ctr model --control 0x1000000007 e1 >made
is "$(grep -v '^#' made | head -n 4)" "0 0x947 0x988 0x18005
1 0x945 0x946 0x18004
2 0x100d 0x940 0x8
3 0x0 0x0 0x0" "trace ingress: c.jalr, c.beqz and c.bnez with their cycles"
like "and the registers" "mctrctl 0x1000000007 .* depth 16 sctrstatus 0x3" "$(head -n 1 made)"
is "$("$ntrace" ctr model e1 | grep -c '^[0-9]* 0x[1-9a-f]')" 2 "without NTBREN no branch that is not taken"
is "$("$ntrace" ctr model --depth 64 e1 | grep -vc '^#')" 64 "--depth"
"$ntrace" ctr model --control 0x1000000004 e1 | "$ntrace" ctr compare made - >out
is $? 0 "M is bit 2"
is "$("$ntrace" ctr model --draft --control 0x4 e1 | grep -c '^[0-9]* 0x[1-9a-f]')" 0 "which is U in the draft"
is "$("$ntrace" ctr model --draft --depth 32 --control 0x1000000001 e1 | grep -v '^#' | head -n 16)" \
	"$(grep -v '^#' made)" "whose M is bit 0"
sed 's/0x988.*/0x988,2,13,1/; s/^end/overrun\n&/' e1 >lost
like "a transfer without a target is reported" "warning: lost: 1 transfers are missing" "$("$ntrace" ctr model lost 2>&1 >/dev/null)"

# A real program: its instructions in order, with the kinds that the reference decoder prints.
data=${NTRACE_SHARED:-$top/../shared}/data/refcode
if [ -e "$data/xrle.elf" ]; then
	zcat "$data/xrle.pcseq.txt.gz" >pcseq
	cut -d, -f1 pcseq >pcs
	"$ntrace" encode --pcs pcs --elf "$data/xrle.elf" --mode htm --record-ingress xrle.ingress -o xrle.nex >out 2>&1
	# expected NTBREN CONTROL: prints the last 256 pairs of instructions of which the first is a
	# transfer.
	expected() {
		python3 - "$data/xrle.pcinfo.txt" pcseq "$1" <<-'END'
			import sys
			kinds = {l.split(",")[0].lower(): l.strip().split(",")[1] for l in open(sys.argv[1]) if "," in l}
			types = {"BD": 5, "JD": 11, "JI": 10, "CD": 9, "CI": 8, "RI": 13, "R2": 13, "R4": 13}
			steps = [l.strip().split(",") for l in open(sys.argv[2])]
			ring = []
			for (pc, kind), (to, _) in zip(steps, steps[1:]):
			    if kind[0] == "L": continue
			    type = 4 if kind.startswith("BN") else types[kinds[pc.lower()][:2]]
			    if type != 4 or sys.argv[3] == "1": ring.append((int(pc, 16) | 1, int(to, 16), type))
			for i, entry in enumerate(ring[:-257:-1]): print("%d %x %x %x" % (i, *entry))
		END
	}
	expected 1 >reference
	is "$(wc -l <reference)" 256 "the reference has as many transfers as the ring holds"
	"$ntrace" ctr model --control 0x1000000007 --depth 256 xrle.ingress >made
	is "$("$ntrace" ctr compare --has type reference made)" "256 entries, no difference" "every transfer of a program, NTBREN"
	expected 0 >reference
	"$ntrace" ctr model --depth 256 xrle.ingress >made
	is "$("$ntrace" ctr compare --has type reference made)" "256 entries, no difference" "the same without NTBREN"
	sed 's/^200 \([0-9a-f]*\)[13579bdf] /200 \1e /' reference >other
	is "$("$ntrace" ctr compare --has type other made)" "entry 200: valid in B alone" "and a difference is seen"
else
	skip "a real program" "no $data"
fi

wrong "no verb" 2 "dump, compare, model or trace is needed"
wrong "an unknown verb" 2 "'show' is not one of" show ring
wrong "no file" 2 "dump needs one file" dump
wrong "one file to compare" 2 "compare needs two files" compare ring
wrong "an option of another verb" 2 "--depth is not for dump" dump --depth 16 ring
wrong "two forms" 2 "exclude each other" dump --json --call-stack ring
wrong "a depth that is none" 2 "17 is not one of" model --depth 17 e1
wrong "a feature that is none" 2 "'type,colour' is not a list|'colour' is not a list" dump --has type,colour ring
wrong "control that is no number" 2 "'user' is not a hex" model --control user e1
wrong "a bit that is no field" 2 "0x8 is no field of mctrctl" model --control 0xf e1
wrong "M of a guest" 2 "0x4 is no field of vsctrctl" model --vs-control 4 e1
wrong "a file that does not exist" 1 "nonexistent: No such file" dump /nonexistent
wrong "compare: cannot be read" 2 "nonexistent: No such file" compare ring /nonexistent
wrong "compare: twice standard input" 2 "one of the two only" compare - -
wrong "no ring" 1 "standard input: no entry" dump -
wrong "model: no ingress file" 1 "ring: .*not an ingress file: it does not begin with 'ntrace-ingress'" model ring
# bad TEXT PATTERN LINE: LINE is the third line of a ring.
bad() {
	printf '# remark\n0 1 2 3\n%s\n' "$3" >bad
	wrong "$1" 1 "bad: line 3: .*$2" dump bad
}
bad "no index" "no index" "x 1 2 3"
bad "an index above 255" "at most 256" "256 1 2 3"
bad "three words" "are wanted" "1 2 3"
bad "no hex number" "are wanted" "1 2 3 z"
bad "more than 64 bits" "are wanted" "1 2 3 10000000000000000"
bad "a minus" "are wanted" "1 2 -3 4"
bad "five words" "something follows" "1 2 3 4 5"
bad "an entry twice" "there before" "0 2 3 4"
bad "a long line" "too long" "1 2 3 4$(printf '%300s' '')"
sed 's/itype=4/itype=3/' e1 | sed 's/,8$/,6/' >narrow
wrong "model: 3 bits of itype" 1 "3 bits of itype" model narrow
sed '/^end/d' e1 >short.ingress
wrong "model: a file that is cut" 1 "truncated: 'end' is missing" model short.ingress
done_testing
