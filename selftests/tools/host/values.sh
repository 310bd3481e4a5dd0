# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # of recording_common.sh
# The samples of guest/values.sh, and that nothing else changes with them.
for way in all task user; do
	is "$(selftests/tools/host/values.py "--$way" "$results/$way.data" 2>&1)" "" "$way: a sample for each call, with its registers"
done
for way in all task; do
	is "$(grep -cE 'raw_syscalls:sys_exit|sched:sched_process_exec|bpf-output' "$results/$way.script")" "$(<"$results/$way.samples")" \
		"$way: perf script and perf report see the same samples"
	is "$(selftests/tools/host/values.py --count "$results/$way.data")" "$(<"$results/$way.samples")" "$way: and the test does"
done
for values in "" --values; do
	"$ntrace" report --sysroot "$sysroot" --json --limit 0 "$results/counted$values.data" >"$tmp/counted$values.json"
	is "$(query "$tmp/counted$values.json" "sorted((f['function'], f['calls'], f['instructions']) for f in report['functions']
		if f['object'].endswith('/counted') and f['function'] in ('counted', 'tail', 'recursive', 'twice')), report['gaps'], report['notes']")" \
		"([('counted', 1750, 15750), ('recursive', 101, 802), ('tail', 250, 250), ('twice', 301, 2111)], 0, [])" \
		"counted$values: report"
	"$ntrace" archive --sysroot "$sysroot" "$results/counted$values.data" 2>&1 | sed 's/ in .*//' >"$tmp/archived$values"
done
is "$(<"$tmp/archived--values")" "$(<"$tmp/archived")" "archive: the same files, those with code"
ratio() { awk -v a="$(<"$results/work--values.$1")" -v b="$(<"$results/work.$1")" 'BEGIN { printf "%.3f", a / b }'; }
diag "values: bash at work: $(ratio us) times the time (guest instructions), $(ratio bytes) times the size"
ok "values: at most 1.3 times the time" test "$(ratio us | tr -d .)" -le 1300
ok "values: at most 2 times the size" test "$(ratio bytes | tr -d .)" -le 2000
# What GDB reads is what the program says of itself. GDB prints each stop, too.
in_gdb() { "$@" | grep -E '^(ok|not ok|# |1\.\.)'; }
relay ledger in_gdb env TRUTH="$results/ledger.out" TARGET="| exec $ntrace gdb -u --sysroot $sysroot - $results/ledger.data" \
	gdb-multiarch -q -nx -batch -x selftests/tools/host/values_gdb.py
# Arguments and results of calls, as text and in a database: what the program says of itself.
"$ntrace" export --sysroot "$sysroot" -f calls --values -o "$tmp/ledger.csv" "$results/ledger.data" 2>/dev/null
"$ntrace" export --sysroot "$sysroot" -f sqlite --values -o "$tmp/ledger.db" "$results/ledger.data" 2>/dev/null
relay calls selftests/tools/host/values_calls.py "$tmp/ledger.csv" "$tmp/ledger.db" "$results/ledger.out" "$results/ledger.data" "$sysroot"
relay browse selftests/tools/host/values_browse.py "$ntrace" "$results/ledger.data" "$results/ledger.out" \
	"$(awk -F, '$7 == "\"enter\"" { print $5; exit }' "$tmp/ledger.csv")" --sysroot "$sysroot"
# Programs of Debian that read files: the branches of the path are compared with what is known.
while read -r program bar; do
	gdb-multiarch -q -nx -batch -ex "target remote | exec $ntrace gdb -u --sysroot $sysroot - $results/$program.data" \
		-ex 'monitor values' 2>&1 | grep -E ' registers, | are wrong$' >"$tmp/$program.values"
	known=$(awk '/user mode read/ { print int(1000 * $9 / $7) }' "$tmp/$program.values")
	diag "$program: ${known:-0} of 1000 registers that it reads are known"
	ok "$program: at least $bar of 1000" test "${known:-0}" -ge "$bar"
	like "$program: nothing contradicts the trace" ' 0 are wrong$' "$(tail -n 1 "$tmp/$program.values")"
done <<END
ls 997
sort 999
bash 999
END
# From the crash back to the wrong store. Memory of a process with two threads is never certain, so that of the race is not found.
while read -r bug function; do
	is "$(TARGET="| exec $ntrace gdb -u --sysroot $sysroot - $results/bug.$bug.data" \
		gdb-multiarch -q -nx -batch -x selftests/tools/host/bugs_gdb.py 2>/dev/null | grep '^stored by')" \
		"stored by $function" "$bug: the function with the wrong store"
done <<END
use_after_free fill_buffer
overflow set_name
wild_pointer put_sample
wrong_length copy_bytes
race None
stale_cache count_hit
integer_overflow add_item
double_free take_block
uninitialised use_memory
off_by_one number_row
END
# The same from a core dump alone, in a recording without values.
is "$(TARGET="| exec $ntrace gdb -u --sysroot $sysroot --core $results/crash.core - $results/crash.data" \
	gdb-multiarch -q -nx -batch -x selftests/tools/host/bugs_gdb.py 2>/dev/null | grep '^stored by')" \
	"stored by fill_buffer" "a core dump without values: the function with the wrong store"
# What follows from a core dump is compared with the recorded values of the same run. Of 1000 registers that are read in the last
# 100000 instructions, and in the last million, so many are known, are known or likely, and so many of the likely ones are right.
while read -r program known shown right; do
	gdb-multiarch -q -nx -batch -ex 'set remotetimeout 300' \
		-ex "target remote | exec $ntrace gdb -u --sysroot $sysroot --core $results/$program.core - $results/$program.data" \
		-ex 'monitor values' 2>&1 | grep -E 'from the core dump|were compared with recorded' |
		awk '/from the core/ { read = $6; known = $12; likely = $18 }
			/were compared/ { compared = $1; likely_compared = $6; wrong = $(NF - 4); likely_wrong = $(NF - 2)
				print int(1000 * known / (read + !read)), int(1000 * (known + likely) / (read + !read)),
					int(1000 * (likely_compared - likely_wrong + !likely_compared) / (likely_compared + !likely_compared)),
					compared, wrong }' >"$tmp/core.$program"
	diag "$program: $(tr '\n' ';' <"$tmp/core.$program") (known, shown, right of 1000; compared, wrong)"
	is "$(awk '{ print ($4 > 1000), $5 }' "$tmp/core.$program" | uniq)" "1 0" "$program: what is known from the core dump is right"
	# shellcheck disable=SC2016 # of awk
	ok "$program: at least $known known, $shown shown, $right right" \
		awk -v known="$known" -v shown="$shown" -v right="$right" '$1 < known || $2 < shown || $3 < right { exit 1 }' "$tmp/core.$program"
done <<END
dead.use_after_free 900 1000 990
dead.stale_cache 900 1000 990
dead.off_by_one 900 1000 990
shell 300 340 950
sql 330 360 970
END
fails "a core dump of another process" "$results/shell.core: the core dump is not of this recording: thread [0-9]+ of process [0-9]+: the recording has no user code of it" \
	"$ntrace" gdb --sysroot "$sysroot" --json --core "$results/shell.core" "$results/crash.data"
