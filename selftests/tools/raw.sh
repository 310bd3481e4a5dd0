#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A raw trace with its program as a recording: report, export, count and index, compared with the PC sequence of the
# reference tool.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
data=${NTRACE_SHARED:-$top/../shared}/data/refcode
elf=$data/xrle.elf
[ -e "$data/xrle.nex" ] || skip_all "no $data/xrle.nex"
cp "$data/xrle.nex" "$tmp/one.nex"
zcat "$data/xrle.pcseq.txt.gz" | cut -d, -f1 >"$tmp/pcs"

# expect PCS...: the number of executions of each PC, and of each function by the symbol table.
expect() {
	cat "$@" | python3 -c '
import bisect, collections, json, subprocess, sys
counts = collections.Counter(int(line, 16) for line in sys.stdin)
symbols = sorted((int(f[0], 16), f[2]) for f in map(str.split, subprocess.run(
    ["nm", sys.argv[1]], capture_output=True, text=True).stdout.splitlines()) if len(f) == 3 and f[1] in "tT" and f[2][0] != "$")
functions = collections.Counter()
for pc, count in counts.items():
    functions[symbols[bisect.bisect_right(symbols, (pc, "~")) - 1][1]] += count
json.dump({"pcs": {hex(p): c for p, c in sorted(counts.items())}, "functions": dict(sorted(functions.items()))}, sys.stdout, indent=1)' "$elf"
}
# got NAME TRACE OPTION...: the same of the report and of the runs in an export; PCs of a run are those of the program.
got() {
	local trace=$1
	shift
	"$ntrace" report --json --limit 0 --elf "$elf" "$@" "$trace" >"$tmp/report" 2>"$tmp/err" &&
		"$ntrace" export -f csv --elf "$elf" "$@" "$trace" >"$tmp/runs" 2>>"$tmp/err" &&
		python3 -c '
import bisect, collections, csv, json, sys
pcs = sorted({int(line.split(",")[0], 16) for line in open(sys.argv[3])})
counts = collections.Counter()
for row in csv.DictReader(open(sys.argv[2])):
    if row["instructions"] == "0":
        continue
    first, last = (bisect.bisect_left(pcs, int(row[key], 16)) for key in ("start", "end"))
    for pc in pcs[first:last + 1]:
        counts[pc] += int(row["count"])
functions = {f["function"]: f["instructions"] for f in json.load(open(sys.argv[1]))["functions"] if f["instructions"]}
json.dump({"pcs": {hex(p): c for p, c in sorted(counts.items())}, "functions": dict(sorted(functions.items()))}, sys.stdout, indent=1)' \
			"$tmp/report" "$tmp/runs" "$data/xrle.pcinfo.txt"
}

expect "$tmp/pcs" >"$tmp/expected"
got "$tmp/one.nex" >"$tmp/got"
is "$? $(grep -v ' traces, executed ' "$tmp/err")" "0 " "report and export take a raw trace"
ok "each function and each PC counts as often as the reference has it" diff "$tmp/expected" "$tmp/got"
zstd -q "$tmp/one.nex"
ok "compressed by zstd: the same" diff "$tmp/expected" <(got "$tmp/one.nex.zst")
ok "on standard input: the same functions" diff "$tmp/report" \
	<("$ntrace" report --json --limit 0 --elf "$elf" - <"$tmp/one.nex" | sed 's/^{"recording":"-"/{"recording":"'"${tmp//\//\\/}"'\/one.nex.zst"/')
raw=()
while read -r offset address size; do
	dd if="$elf" of="$tmp/raw.$address" bs=1 skip=$((offset)) count=$((size)) status=none
	raw+=(--raw "$tmp/raw.$address@$address")
done < <(readelf -lW "$elf" | awk '$1 == "LOAD" && $5 != "0x00000" { print $2, $3, $5 }')
is "$("$ntrace" report --json --params xlen=32 "${raw[@]}" "$tmp/one.nex" | grep -o '"all":[0-9]*' | head -n 1)" \
	"\"all\":$(grep -c . "$tmp/pcs")" "--raw FILE@ADDR in place of --elf"

# Two harts: messages of two SRC alternate.
for src in 1 2; do
	head -n $((160000 / src)) "$tmp/pcs" >"$tmp/pcs.$src"
	"$ntrace" encode --pcs "$tmp/pcs.$src" --elf "$elf" --mode htm --params srcbits=2 --src "$src" -o "$tmp/src$src.nex" \
		>"$tmp/err" 2>&1 || diag "$(cat "$tmp/err")"
	"$ntrace" dump --json --params srcbits=2,xlen=32 "$tmp/src$src.nex" >"$tmp/src$src.json"
done
python3 - "$tmp/src1.json" "$tmp/src2.json" >"$tmp/two.nex" <<-'END'
	import itertools, json, sys
	lists = [[bytes.fromhex(json.loads(line)["bytes"]) for line in open(path)] for path in sys.argv[1:]]
	for pair in itertools.zip_longest(*lists, fillvalue=b""):
	    sys.stdout.buffer.write(b"".join(pair))
END
expect "$tmp/pcs.1" "$tmp/pcs.2" >"$tmp/expected"
got "$tmp/two.nex" --params srcbits=2 >"$tmp/got"
ok "two SRC: the sum of both" diff "$tmp/expected" "$tmp/got"
is "$("$ntrace" report --by-thread --json --elf "$elf" --params srcbits=2 "$tmp/two.nex" | grep -o '"cpu":[0-9]*,.*"instructions":[0-9]*' |
	sed 's/"cpu":\([0-9]*\).*:/\1 /' | sort | xargs)" "0 160000 1 80000" "and each is a CPU"

# Coverage of lines, directly and through a counts file; an index knows its program.
"$ntrace" export -f lcov --elf "$elf" --params srcbits=2 -o "$tmp/a.info" "$tmp/two.nex" 2>"$tmp/err"
"$ntrace" count --elf "$elf" --params srcbits=2 -o "$tmp/two.counts" "$tmp/two.nex" 2>>"$tmp/err"
"$ntrace" export -f lcov -o "$tmp/b.info" "$tmp/two.counts" 2>>"$tmp/err"
ok "lcov: the counts file gives the same" cmp "$tmp/a.info" "$tmp/b.info"
(cd "$tmp" && cp "$elf" here.elf && "$ntrace" count -q --elf here.elf --params srcbits=2 -o here.counts two.nex) 2>"$tmp/err"
"$ntrace" export -f lcov -o "$tmp/c.info" "$tmp/here.counts" 2>>"$tmp/err"
is "$? $(grep -v ' lines, ' "$tmp/err")" "0 " "and a program that was named without a directory is found from elsewhere"
is "$(grep -c '^DA:' "$tmp/a.info" | sed 's/^[1-9].*/lines/')" "lines" "and there are some"
"$ntrace" report --html "$tmp/page.html" --elf "$elf" --params srcbits=2 "$tmp/two.nex" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c '</html>' "$tmp/page.html")" "0 1" "--html writes a page"
cp "$elf" "$tmp/program.elf"
# Another file takes the name of one that is made again.
index() { "$ntrace" index --elf "$tmp/program.elf" --params srcbits=2 "$tmp/two.nex" >/dev/null 2>&1; stat -c %i "$tmp/two.nex.index"; }
first=$(index)
is "$(index)" "$first" "index: made once"
touch -d '2001-01-01' "$tmp/program.elf"
ok "and again for another program" test "$(index)" != "$first"

# fails PATTERN WHAT COMMAND...
fails() {
	local pattern=$1 what=$2
	shift 2
	"$ntrace" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -cE "$pattern" "$tmp/err")" "1 1" "$what" || diag "$(cat "$tmp/err")"
}
cp "$tmp/one.nex.zst" "$tmp/unnamed"
fails 'raw trace needs its program: --elf FILE' "without a program: says what to do" report "$tmp/two.nex"
fails 'must end in \.zst' "compressed, under another name: refused" report --elf "$elf" "$tmp/unnamed"
fails 'not a regular file' "a device: refused" report --elf "$elf" /dev/null
fails 'ntrace detect' "another program: names ntrace detect" report --elf "$data/coremark.elf" "$tmp/one.nex"
"$ntrace" report --elf "$elf" "$top/Documentation/tour/words.data" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'apply to raw traces only' "$tmp/err")" "2 1" "a recording has its programs: wrong use"
"$ntrace" report --elf "$elf" --sysroot / "$tmp/two.nex" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'apply to recordings only' "$tmp/err")" "2 1" "--sysroot with a raw trace: wrong use"
done_testing
