#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace stat: its figures, compared with published ones, and with counts over the output of ntrace dump.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode

hex() { printf '%b' "$(sed -E 's/([0-9A-Fa-f]{2}) */\\x\1/g' <<<"$*")"; }

# recount PARAMS TRACE: fails if `stat --json` differs from counts over dump's messages.
recount() {
	local rc=0
	"$ntrace" stat --json --params "$1" "$2" >"$tmp/stat.json" || rc=$?
	"$ntrace" dump --json --params "$1" "$2" >"$tmp/dump.json" 2>/dev/null
	python3 - "$tmp/stat.json" "$tmp/dump.json" "$1" "$(stat -c %s "$2")" <<-'END' && [[ $rc = [03] ]]
		import collections, json, sys
		stat = json.load(open(sys.argv[1]))
		lines = [json.loads(line) for line in open(sys.argv[2])]
		src_bits = int(dict(p.split("=") for p in sys.argv[3].split(",")).get("srcbits", 0))
		fixed = dict(SRC=src_bits, SYNC=4, BTYPE=2, ETYPE=4, EVCODE=4, CDF=2, RCODE=4)
		messages = [m for m in lines if m["type"] == "message"]
		types, size, bits = collections.Counter(), collections.Counter(), collections.Counter()
		state, distances = {}, {"messages": [], "bytes": []}
		lost = 0
		for m in lines:
		    if m["type"] == "error":
		        for s in state.values(): s.update(sync=None, lost=True)
		        continue
		    if m["type"] != "message": continue
		    f = m["fields"]
		    types[m["tcode"]] += 1
		    size[m["tcode"]] += m["length"]
		    used = 6
		    for name, value in f.items():
		        width = fixed.get(name) or max(1, int(str(value), 0).bit_length())
		        bits[name] += width
		        used += width
		    bits["other" if m.get("flags") else "padding"] += 6 * m["length"] - used
		    s = state.setdefault(f.get("SRC", 0), dict(n=0, b=0, sync=None, lost=True))
		    if "SYNC" in f:
		        if s["sync"]:
		            distances["messages"].append(s["n"] - s["sync"][0])
		            distances["bytes"].append(s["b"] - s["sync"][1])
		        s.update(sync=(s["n"], s["b"]), lost=False)
		    s["n"] += 1
		    s["b"] += m["length"]
		    if m["name"] == "Error": s.update(sync=None, lost=True)
		    elif s["lost"]: lost += m["length"]
		def same(what, got, expected):
		    if got != expected: sys.exit(f"{what}: {got}, counted {expected}")
		same("bytes", stat["bytes"], int(sys.argv[4]))
		same("messages", stat["messages"], len(messages))
		same("types", {t["tcode"]: (t["messages"], t["bytes"]) for t in stat["types"]},
		     {t: (types[t], size[t]) for t in types})
		total = sum(size.values())
		same("bits", {k: v for k, v in stat["bits"].items() if v and k not in ("MSEO", "TCODE", "idle", "no_message")},
		     {k: v for k, v in bits.items() if v})
		same("all bits", sum(stat["bits"].values()), 8 * stat["bytes"])
		same("framing", (stat["bits"]["MSEO"], stat["bits"]["TCODE"]), (2 * total, 6 * len(messages)))
		same("undecodable", stat["loss"]["undecodable_bytes"], lost)
		same("sources", sum(s["messages"] for s in stat["sources"]), len(messages) if src_bits else 0)
		for unit, values in distances.items():
		    values.sort()
		    d = stat["sync_distance"][unit]
		    same(unit, (d["count"], d["min"], d["max"]), (len(values), min(values, default=0), max(values, default=0)))
		    for name, percent in ("median", 50), ("p95", 95):
		        if not values: continue
		        exact = values[max(0, len(values) - len(values) * (100 - percent) // 100 - 1)]
		        if not exact * 31 / 32 - 1 <= d[name] <= exact: sys.exit(f"{unit} {name}: {d[name]}, exact {exact}")
	END
}

{
	hex 24 0D 08 E0 7F 10 71 D8 7B 70 D0 1D 1D F8 FF FF 08 C8 3B 0C 90 07 20 00 05 D0 20 07
	hex 6C 48 05 58 0B 78 27 84 40 25 17 2C C9 00 13 30 08 15 00 13 74 10 21 20 09 0B
	hex E0 00 00 04 FF B0 17 24 0F 10 21 80 01 02 03 0C 0F FF FF 24 15
} >"$tmp/all.nex"
ok "a message of each kind, a reserved code, a cut end: every figure" recount xlen=64 "$tmp/all.nex"
like "losses are reported" '"error_messages":1,"reserved_mseo":1,"skipped_bytes":6,"cut_bytes":2' "$(cat "$tmp/stat.json")"
is "$("$ntrace" stat "$tmp/all.nex" >/dev/null; echo $?)" 3 "loss: status 3"
hex 24 15 00 0B 0C 0F >"$tmp/good.nex"
is "$("$ntrace" stat "$tmp/good.nex" >/dev/null; echo $?)" 0 "no loss: status 0"
is "$("$ntrace" stat --json - <"$tmp/all.nex")" "$("$ntrace" stat --json "$tmp/all.nex")" "- is standard input"
"$ntrace" stat "$tmp/all.nex" >"$tmp/out"
is "$(sed -n '/^TCODE message/,/^$/p' "$tmp/out" | grep -v '^$' | awk '{ print length }' | sort -u | wc -l)" 1 "the columns line up"
: >"$tmp/empty.nex"
fails "an empty input" "empty.nex: the trace has no messages" "$ntrace" stat "$tmp/empty.nex"

if [ -e "$data/xrle.nex" ]; then
	ok "the reference encoder's stream: every figure" recount xlen=32 "$data/xrle.nex"
	"$ntrace" stat --json --elf "$data/xrle.elf" "$data/xrle.nex" | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert (s["bytes"], s["messages"], s["instructions"]) == (2604, 367, 164959), s
assert abs(s["bits_per_instruction"] - 2604 * 8 / 164959) < 1e-6
assert abs(sum(t["bits_per_instruction"] for t in s["types"]) - s["bits_per_instruction"]) < 1e-5'
	is $? 0 "bytes, messages and bits per instruction as published"
	zcat "$data/xrle.pcseq.txt.gz" | cut -d, -f1 >"$tmp/pcs"
	for src in 1 2; do
		"$ntrace" encode --pcs "$tmp/pcs" --elf "$data/xrle.elf" --mode btm --params srcbits=2 --src $src \
			--encoder sync=messages,syncmax=2 -o "$tmp/src$src.nex" >"$tmp/err" 2>&1 || diag "$(cat "$tmp/err")"
	done
	cat "$tmp/src1.nex" "$tmp/src2.nex" >"$tmp/two.nex"
	ok "two SRC and periodic sync: every figure" recount srcbits=2,xlen=32 "$tmp/two.nex"
	"$ntrace" stat --json --params srcbits=2 --elf "$data/xrle.elf" "$tmp/two.nex" | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert [(x["src"], x["instructions"], x["gaps"]) for x in s["sources"]] == [(1, 164959, 0), (2, 164959, 0)], s["sources"]
d = s["sync_distance"]
assert d["messages"]["median"] == 64 + 1 and d["instructions"]["count"] == d["messages"]["count"] > 100
assert d["instructions"]["min"] <= d["instructions"]["median"] <= d["instructions"]["p95"] <= d["instructions"]["max"]'
	is $? 0 "instructions of each SRC, and between syncs"
	# Parts of a file in threads: whole, damaged, with parts that no thread could guess the begin of.
	parts=tsbits=40,tshz=1000000
	for mode in btm htm; do
		"$ntrace" encode --pcs "$tmp/pcs" --elf "$data/xrle.elf" --mode $mode --params $parts \
			--encoder sync=messages,syncmax=3,timestamps=sync -o "$tmp/one.nex" >/dev/null
		for _ in $(seq $((3000000 / $(stat -c %s "$tmp/one.nex")))); do cat "$tmp/one.nex"; done >"$tmp/whole.nex"
		python3 - "$tmp/whole.nex" "$tmp/damaged.nex" <<-'END'
			import random, sys
			data, choose = bytearray(open(sys.argv[1], "rb").read()), random.Random(1)
			for i in range(60): data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
			# A message with a reserved TCODE: a flow warns of it once.
			data[400000:400000] = bytes([17 << 2, 3])
			open(sys.argv[2], "wb").write(data)
		END
		for file in whole damaged; do
			for jobs in 1 2 7; do
				"$ntrace" stat -j $jobs --json --params $parts --elf "$data/xrle.elf" "$tmp/$file.nex" >"$tmp/$jobs.json" 2>"$tmp/$jobs.err"
				echo $? >>"$tmp/$jobs.json"
			done
			is "$(cmp "$tmp/1.json" "$tmp/2.json" 2>&1)$(cmp "$tmp/1.json" "$tmp/7.json" 2>&1)$(cat "$tmp"/[127].err)" "" \
				"$mode, $file: the same figures with 1, 2 and 7 threads"
		done
	done
	like "the damage is found" '"flow_errors":[1-9]' "$(cat "$tmp/1.json")"
	riscv64-linux-gnu-gcc -x assembler -nostdlib -static -Wl,--build-id=none -o "$tmp/other" - <<<'_start: nop'
	for jobs in 1 3; do
		"$ntrace" stat -j $jobs --json --params $parts --elf "$tmp/other" "$tmp/whole.nex" >"$tmp/$jobs.json" 2>"$tmp/$jobs.err"
	done
	like "another program: the times in unknown code" '"unreadable":[1-9]' "$(<"$tmp/1.json")"
	ok "the same with 3 threads" cmp "$tmp/1.json" "$tmp/3.json"
	# Without timestamps, repeated messages are counted and not decoded again. A pipe is decoded as a whole.
	for mode in btm htm; do
		"$ntrace" encode --pcs "$tmp/pcs" --elf "$data/xrle.elf" --mode $mode --encoder sync=messages,syncmax=4 -o "$tmp/one.nex" >/dev/null
		copies=$((600000 / $(stat -c %s "$tmp/one.nex") + 1))
		for _ in $(seq $copies); do cat "$tmp/one.nex"; done >"$tmp/whole.nex"
		cp "$tmp/whole.nex" "$tmp/damaged.nex"
		printf '\7\7' | dd of="$tmp/damaged.nex" bs=1 seek=290000 conv=notrunc 2>/dev/null
		for file in whole damaged; do
			"$ntrace" stat --json --elf "$data/xrle.elf" - <"$tmp/$file.nex" >"$tmp/1.json" 2>/dev/null
			for jobs in 1 2 3; do
				"$ntrace" stat -j $jobs --json --elf "$data/xrle.elf" "$tmp/$file.nex" >"$tmp/2.json" 2>/dev/null
				ok "$mode without timestamps, $file, -j $jobs: the figures of a pipe" cmp "$tmp/1.json" "$tmp/2.json"
			done
			[ $file = damaged ] || like "$mode without timestamps: the instructions of $copies copies" \
				"\"instructions\":$((copies * $(wc -l <"$tmp/pcs")))," "$(<"$tmp/2.json")"
		done
	done
	# 100 MB through a pipe.
	cat "$tmp/src1.nex" "$tmp/src1.nex" "$tmp/src1.nex" "$tmp/src1.nex" >"$tmp/four.nex"
	for _ in $(seq 100); do cat "$tmp/four.nex"; done >"$tmp/many.nex"
	for _ in $(seq 20); do cat "$tmp/many.nex"; done | (ulimit -v 65536 && "$ntrace" stat --json --params srcbits=2 -) >"$tmp/out"
	is "$? $(python3 -c 'import json; print(json.load(open("'"$tmp/out"'"))["bytes"])')" \
		"0 $((20 * $(stat -c %s "$tmp/many.nex")))" "memory does not grow with the trace"
else
	skip "published figures" "no $data"
fi
# Ends of the trace: those with 4 follow a store of the driver, the others are the hardware's own.
for code in 4 1 1 0; do
	echo '{"name":"ProgTraceSync","SYNC":5,"ICNT":0,"FADDR":"0x10000"}'
	echo '{"name":"ProgTraceCorrelation","EVCODE":'$code',"CDF":0,"ICNT":2}'
done | "$ntrace" assemble -o "$tmp/ends" - || not_ok "a trace with ends is made"
like "stat: ends of the trace" $'trace ends +count\n 0 debug entry +1\n 1 low power +2\n 4 trace disable +1\n' "$("$ntrace" stat "$tmp/ends")"
like "stat --json: ends of the trace" '"ends":\{"0":1,"1":2,"4":1\}' "$("$ntrace" stat --json "$tmp/ends")"
done_testing
