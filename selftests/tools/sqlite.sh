#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace export -f sqlite: the queries of Documentation/sql.md, run by sqlite3. Their numbers are those of ntrace report
# for a recording made without a guest, and those of a database made by hand for preemptions.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
small_recordings "$tmp" 1 || not_ok "a recording"
cd "$tmp" || exit 1

# query DATABASE FUNCTION HEADING: runs the query below a heading of the page
query() {
	awk -v heading="### $3" '/^#/ { found = $0 == heading } found && /^    / { print substr($0, 5) }' "$top/Documentation/sql.md" >query.sql
	[ -s query.sql ] || echo "no query '$3'"
	sqlite3 -bail -cmd '.parameter init' -cmd ".parameter set :function \"'$2'\"" "$1" <query.sql
}

ok "export" "$ntrace" export -f sqlite -o trace.db r1
is "$(sqlite3 trace.db 'PRAGMA integrity_check' 'PRAGMA foreign_key_check')" ok "the database is whole"
"$ntrace" report --json --limit 0 r1 >report.json 2>/dev/null
# name|instructions|calls of each function
python3 - >want <<'END'
import json
functions = {}
for line in json.load(open("report.json"))["functions"]:
    sums = functions.setdefault(line["function"], [0, 0])
    sums[0] += line["instructions"]
    sums[1] += line["calls"]
for name, (instructions, calls) in sorted(functions.items()):
    print(f"{name}|{instructions}|{calls}")
END
query trace.db '' "Functions by instructions" | awk -F '|' -v OFS='|' '{ print $1, $3, $4 }' | LC_ALL=C sort >got
ok "functions are those of the report" cmp want got || diag "$(diff want got)"
is "$(wc -l <want)" 4 "all four"
"$ntrace" report --callers leaf --json r1 >callers.json 2>/dev/null
is "$(query trace.db leaf "Who calls a function, and how often")" "work|4180
first|2000" "callers: work calls leaf twice in each of its 2,090 calls"
is "$(sqlite3 trace.db "SELECT name FROM functions WHERE calls <> (SELECT count(*) FROM calls WHERE function = functions.id AND called = 1)")" "" \
	"each function has its calls in the table of calls"
for function in work leaf; do
	is "$(query trace.db $function "Durations of a function: number, shortest, mean, longest" | cut -d '|' -f 1)" \
		"$(awk -F '|' -v name=$function '$1 == name { print $3 }' want)" "each call of $function has a row"
	is "$(query trace.db $function "The 20 slowest calls of a function" | wc -l)" 20 "20 slowest calls of $function"
	is "$(query trace.db $function "The 20 slowest calls of a function" | cut -d '|' -f 6 | sort -c -n -r 2>&1)" "" "the slowest come first"
done
is "$(sqlite3 trace.db "SELECT DISTINCT end_instruction - first_instruction FROM calls JOIN functions ON functions.id = function WHERE name = 'work'")" 11 \
	"a call of work executes 7 instructions and two leaves"
is "$(sqlite3 trace.db "SELECT name, returned, count(*) FROM calls JOIN functions ON functions.id = function GROUP BY 1, 2 ORDER BY 1")" "|0|1
first|0|1
leaf|1|6180
second|0|1
work|1|2090" \
	"calls in progress at the end of the trace have not returned"
is "$(sqlite3 trace.db "SELECT count(*) FROM calls WHERE parent NOT IN (SELECT id FROM calls)")" 0 "each parent is a call"
is "$(query trace.db '' "Time of each thread on each CPU" | awk -F '|' '{ print $1, $2, $3, $4 }' | sort)" "first 42 42 0
second 50 51 1" "threads"
is "$(query trace.db second "Branches of a function that are hardest to predict" | cut -d '|' -f 2-3)" "89|90" "the loop of second"
is "$(query trace.db '' "Where trace was lost")" "0|0|0||
1|0|0||" "nothing was lost"
is "$(sqlite3 trace.db "SELECT bytes FROM streams" | paste -sd ' ')" "$(stat -c %s r1/aux.0 r1/aux.1 | paste -sd ' ')" "streams"
is "$(sqlite3 trace.db "SELECT count(*), sum(taken) FROM branches")" \
	"$("$ntrace" export -f csv r1 2>/dev/null | awk -F , 'NR > 1 && $1 != "" { n += !seen[$2 $4]++; sum += $8 } END { print n "|" sum }')" "branches are those of the csv export"

# Preemptions, by hand.
gcc -std=c11 -I "$top/lib/include" "$small_host/hand_database.c" -L "$top/build" -lntrace -o hand || not_ok "compiled"
ok "a database by hand" ./hand hand.db
is "$(query hand.db slow "The 20 slowest calls of a function, and what preempted them")" "1|300|other|20|100
1|300|other|30|50
2|20|||" "what preempted the calls"
is "$(query hand.db slow "The 20 slowest calls of a function")" "1|ten|10|2|100|300|exact
2|ten|10|2|500|20|exact" "a call that does not return is not among them"
is "$(sqlite3 hand.db "SELECT start, end, returned FROM calls WHERE id = 3")" "600|600|0" "it has a row"
is "$(query hand.db '' "Time of each thread on each CPU")" "other|40|40|3|1|700|700
ten|10|10|2|2|500|500
other|20|20|2|1|100|100
other|30|30|2|1|50|50" "threads by hand"
is "$(sqlite3 hand.db "SELECT cpu, tid, at FROM losses")" "2|10|650" "a loss"

# Selections, and what is refused.
"$ntrace" export -f sqlite --pid 50 -o part.db r1 2>/dev/null
is "$(sqlite3 part.db "SELECT DISTINCT tid FROM calls")" 51 "--pid"
cp trace.db kept.db
fails "nothing is selected" "the export is empty: " "$ntrace" export -f sqlite --pid 4711 -o trace.db r1
ok "the file of a failed export is the old one" cmp trace.db kept.db
is "$(ls trace.db.* 2>&1)" "ls: cannot access 'trace.db.*': No such file or directory" "nothing is left behind"
fails "without a file" "option --output is needed with sqlite" "$ntrace" export -f sqlite r1
fails "a directory that does not exist" "none/trace.db: No such file" "$ntrace" export -f sqlite -o none/trace.db r1
fails "a counts file" "is a counts file: sqlite needs calls in order" bash -c "'$ntrace' count -o counts r1; '$ntrace' export -f sqlite -o no.db counts"

# The table as text.
"$ntrace" export -f calls r1 >calls.csv 2>err
like "calls: their number is said" '^ntrace: [0-9,]+ calls$' "$(tail -n 1 err)"
is "$(head -n 1 calls.csv)" "call,parent,depth,pid,tid,comm,function,object,start,end,time,first_instruction,end_instruction,called,returned" "calls: columns"
is "$(python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin): print(*(row[name] for name in ("call", "parent", "tid", "comm", "function", "start", "end_instruction", "returned")), sep="|")' <calls.csv | md5sum)" \
	"$(sqlite3 trace.db "SELECT calls.id, parent, tid, comm, name, start, end_instruction, returned FROM calls JOIN functions ON functions.id = function ORDER BY calls.id" | md5sum)" \
	"calls: the rows of the database"
fails "no values" "r1: no values were recorded: ntrace record --values" "$ntrace" export -f calls --values r1
fails "another format" "--values applies to calls and sqlite only" "$ntrace" export -f csv --values r1
fails "the kernel" "values of the kernel are unknown" "$ntrace" export -f calls -k --values r1
fails "a part" "--values needs all of the trace" "$ntrace" export -f calls --offset 0,1K --values r1
done_testing
