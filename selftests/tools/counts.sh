#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace count, merge, and export of counts files, with recordings that were made without a guest:
# exports are those of the recordings, parts merge to the whole byte by byte, and host/counts_file.py
# reads the same from the files without the library.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
reader=$small_host/counts_file.py
small_recordings "$tmp" 3 || not_ok "recordings"
cd "$tmp" || exit 1
all=(r1 r2 r3)

ok "count a recording" "$ntrace" count -o one r3
ok "it is whole" test -s one

# Each export of the file is that of the recording. Only the program is in it, so -b is not needed.
for format in autofdo profgen bolt bolt-bf csv json lcov gcov; do
	"$ntrace" export -f $format -o direct r3 2>/dev/null
	"$ntrace" export -f $format -o counted one 2>err
	is "$? $(cmp direct counted 2>&1)" "0 " "export -f $format: the bytes of the recording's export" || diag "$(cat err)"
done
"$ntrace" export -f csv -u -b two_tasks -o direct r3 2>/dev/null
"$ntrace" export -f csv -u -b two_tasks -o counted one 2>/dev/null
ok "export -u -b: the same" cmp direct counted
"$ntrace" export -f csv -o direct r3 2>/dev/null
python3 "$reader" csv one >found
ok "a reader of its own finds the same traces" cmp direct found
fails "export -k: nothing" "the export is empty: -f csv without --class" "$ntrace" export -f csv -k one

# The functions of a report are those of the recording's, and so are their numbers.
body() { sed -n '/^work of .*entered [1-9]/,$p' | grep -v '^In GDB' | grep . || echo none $BASHPID; }
names() { jq -r '.functions[] | "\(.function) \(.instructions) \(.calls)"' | sort | grep . || echo none $BASHPID; }
for input in r1 r3; do
	"$ntrace" count -q -o counted $input 2>/dev/null
	is "$("$ntrace" report --json -n 0 counted | names | cmp - <("$ntrace" report --json -n 0 $input 2>/dev/null | names) 2>&1)" "" \
		"report of counts: the functions of $input"
	is "$("$ntrace" report --annotate work counted | body | cmp - <("$ntrace" report --annotate work $input 2>/dev/null | body) 2>&1)" "" \
		"report --annotate of counts: $input"
done
like "report of counts: the head" "counts file   onecounts        [0-9,]+ entries, [1-9][0-9,]* executed instructions" "$("$ntrace" report one | tr -d '\n')"
for options in --html=no "--callers main" "--callees main" --by-thread --by-process "-s total" "-p 1" "--time 1,2" "--offset 1,2"; do
	# shellcheck disable=SC2086 # several words
	fails "report $options of counts" "one: is a counts file: .* needs the recording" "$ntrace" report $options one
done
fails "report -k: nothing" "one: no entry is selected" "$ntrace" report -k one
fails "report --class of a recording" "--class applies to counts files" "$ntrace" report --class web r1

# A program without build-id is known by its code: not by its name, and whether it is stripped does not matter.
riscv64-linux-gnu-objcopy --remove-section .note.gnu.build-id two_tasks nameless
"$ntrace" encode --pcs first.pcs --elf nameless --mode htm --params $small_params -o nameless.nex >err 2>&1 || diag "$(cat err)"
"$ntrace" count --elf nameless --params mode=htm,tsbits=40,tshz=1000000 -o nameless.counts nameless.nex 2>err || diag "$(cat err)"
like "no build-id: the functions" "first .nameless." "$("$ntrace" report nameless.counts 2>&1)"
riscv64-linux-gnu-strip nameless
is "$("$ntrace" report nameless.counts 2>&1 | grep -c 'nameless is not here')" 0 "no build-id: the same code, stripped"
sed 's/^first:/first:\tc.nop/' two_tasks.S >other.S
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -g -Wl,-Ttext=0x10000 -Wl,--build-id=none -Wl,-e,first -o nameless other.S || not_ok "another program"
like "no build-id: another program of this name" "/nameless is not here, or another file: its functions have no names.*\[no symbol\] .nameless." \
	"$("$ntrace" report nameless.counts 2>&1 | tr -d '\n')"
fails "no build-id: lines of another program" "/nameless" "$ntrace" export -f lcov -o no nameless.counts

# Without the program, a file of counts is still enough.
mkdir hidden && mv two_tasks hidden/
for format in profgen bolt csv; do
	mv hidden/two_tasks . && "$ntrace" export -f $format -o direct r3 2>/dev/null && mv two_tasks hidden/
	"$ntrace" export -f $format -o counted one 2>/dev/null
	ok "export -f $format without the program" cmp direct counted
done
fails "export -f gcov without the program" "/two_tasks: the file is not here, or is another one: --sysroot" "$ntrace" export -f gcov one
like "report without the program" "/two_tasks is not here, or another file: its functions have no names: --sysroot.*35,264 +[0-9,]+ +0  \[no symbol\]" "$("$ntrace" report one 2>&1 | tr -d '\n')"
mv hidden/two_tasks .

# Counts name programs as the recorded machine did, wherever the archive is: readers say where their files are.
cp -r r3 packed
ok "archive" "$ntrace" archive --sysroot / packed
"$ntrace" export -f lcov -o direct packed 2>/dev/null
mv two_tasks hidden/
ok "count an archived recording" "$ntrace" count -o packed.counts packed
for path in ./packed "$PWD/packed" hidden/../packed; do
	"$ntrace" count -o other "$path" 2>/dev/null
	ok "count ${path##*/tmp}: the same bytes" cmp packed.counts other
done
mkdir elsewhere && mv packed elsewhere/
"$ntrace" count -o other elsewhere/packed 2>/dev/null
ok "count after a move: the same bytes" cmp packed.counts other
for directory in . hidden /; do
	(cd $directory && "$ntrace" export -f lcov --sysroot "$tmp/elsewhere/packed/archive" -o "$tmp/counted" "$tmp/packed.counts") 2>err
	is "$? $(cmp direct counted 2>&1)" "0 " "export -f lcov in $directory: the program of the archive is found" || diag "$(cat err)"
done
"$ntrace" export -f lcov -o counted packed.counts 2>err
is "$?" 1 "export -f lcov without it"
like "says what to do" "/two_tasks: the file is not here, or is another one: --sysroot DIR .*RECORDING/archive" "$(cat err)"
mv hidden/two_tasks .

# Only code that is not executed has lines.
mv two_tasks hidden/ && printf '.text\n.globl other\nother: ret\n' >other.S
(riscv64-linux-gnu-gcc -march=rv64gc -c two_tasks.S && riscv64-linux-gnu-gcc -march=rv64gc -g -c other.S &&
	riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,-e,first -o two_tasks two_tasks.o other.o) || not_ok "linked"
fails "export -f gcov of code without lines" "has a line number: the export is empty: compile all of it with -g" \
	"$ntrace" export -f gcov -o no.gcov r3
mv hidden/two_tasks .

# Sums.
ok "count all recordings" "$ntrace" count -o whole "${all[@]}"
ok "count them in another order" "$ntrace" count -o again r2 r3 r1
ok "the order does not matter" cmp whole again
for r in "${all[@]}"; do "$ntrace" count -o "$r.counts" "$r" 2>/dev/null; done
# is_whole TEXT: the sum, which is removed, so that the next one is not taken for a new one.
is_whole() {
	ok "$1" cmp whole sum
	rm -f sum
}
ok "merge" "$ntrace" merge -o sum r?.counts
is_whole "a file for each recording, merged, is the whole"
python3 "$reader" sum whole >sums
python3 "$reader" sum r?.counts >sums-of-parts
ok "it is the sum" cmp sums sums-of-parts
for parts in 1 2 7; do
	for ((i = 1; i <= parts; i++)); do
		"$ntrace" count --shard $i/$parts -o "part.$i" "${all[@]}" 2>err || diag "$(cat err)"
	done
	"$ntrace" merge -o sum part.* 2>/dev/null
	is_whole "$parts parts are the whole"
	[ $parts -ne 7 ] || is "$(python3 "$reader" sum part.* | cmp - sums 2>&1)" "" "none of 7 parts is counted twice"
	rm part.*
done
ok "a part of a recording that has fewer streams" "$ntrace" count --shard 7/7 -o empty r1
cp empty nothing
fails "merge of empty files" "the sum is empty: no input has counts" "$ntrace" merge -o sum empty nothing
rm nothing
"$ntrace" merge -o left r3.counts r2.counts 2>/dev/null && "$ntrace" merge -o right r1.counts 2>/dev/null
"$ntrace" merge -o sum right empty left 2>/dev/null
is_whole "sums of sums are the whole"
printf '%s\r\n' r?.counts | "$ntrace" merge --files-from - -o sum 2>/dev/null
is_whole "--files-from: lines that end with CR LF"
printf '%s\n' r?.counts | "$ntrace" merge --files-from - -o sum 2>/dev/null
is_whole "--files-from"
"$ntrace" merge -o - r?.counts 2>/dev/null | cmp - whole
is "${PIPESTATUS[*]}" "0 0" "-o -: standard output"
"$ntrace" count --memory 100 -o sum "${all[@]}" 2>/dev/null
is_whole "--memory: sorted on disk, the same"

# Threads. A recording has two streams: more threads than streams are none.
for jobs in 1 2 7; do
	"$ntrace" count -j $jobs -o sum "${all[@]}" 2>err || diag "$(cat err)"
	is_whole "count -j $jobs: the same bytes"
	"$ntrace" count -j $jobs --memory 100 -o sum "${all[@]}" 2>/dev/null
	is_whole "count -j $jobs --memory: the same bytes"
	for format in csv profgen lcov; do
		"$ntrace" export -j 1 -f $format -o direct r3 2>/dev/null
		"$ntrace" export -j $jobs -f $format -o counted r3 2>/dev/null
		ok "export -j $jobs -f $format: the same bytes" cmp direct counted
	done
done
# Call stacks and timelines: those of a thread go on in the other stream.
for format in folded callgrind pprof speedscope perfetto chrome; do
	"$ntrace" export -j 1 -f $format -o direct r3 2>/dev/null
	for jobs in 2 7; do
		"$ntrace" export -j $jobs -f $format -o ahead r3 2>/dev/null
		ok "export -j $jobs -f $format: the same bytes" cmp direct ahead
	done
done
for jobs in 1 2 7; do
	"$ntrace" export -j $jobs -f sqlite -o jobs.db r3 2>/dev/null
	sqlite3 jobs.db .dump >"tables.$jobs"
	rm jobs.db
	"$ntrace" report -j $jobs --callers spin r3 >"callers.$jobs" 2>/dev/null
	"$ntrace" report -j $jobs --json r3 >"functions.$jobs" 2>/dev/null
	"$ntrace" report -j $jobs --html page.html r3 >"page.$jobs" 2>/dev/null
	cat page.html >>"page.$jobs"
	for what in tables callers functions page; do
		ok "-j $jobs: $what: the same bytes" cmp $what.1 $what.$jobs
	done
done
ok "tables have rows, and a function has callers" grep -q 'INSERT INTO' tables.1
# The second stream fails: the first one was counted, and its notes come first.
cp -r r3 torn && rm torn/aux.1
for jobs in 1 2; do
	fails "count -j $jobs of a recording that lacks a trace file" "torn: No such file" "$ntrace" count -j $jobs -o no torn
done
mv two_tasks hidden/
for jobs in 1 2; do "$ntrace" count -j $jobs -o nothing r3 2>notes.$jobs; done
mv hidden/two_tasks .
ok "notes do not depend on the number of threads" cmp notes.1 notes.2
rm -f nothing
ok "there are some" grep -q "two_tasks: No such file" notes.2
is "$("$ntrace" count --json -o sum "${all[@]}" 2>/dev/null | python3 -c 'import json, sys; r = json.load(sys.stdin)
print(r["file"], r["streams"], r["entries"] > 10, r["saturated"], r["gaps"], r["lost"])')" "sum 6 True 0 0 0" "count --json"
is "$("$ntrace" merge --json -o sum r?.counts 2>/dev/null | python3 -c 'import json, sys; r = json.load(sys.stdin)
print(r["file"], r["files"], r["entries"] > 10, r["saturated"])')" "sum 3 True 0" "merge --json"

# As in Documentation/many-recordings.md.
parallel --will-cite -j 2 "$ntrace" count --shard {}/4 -o part.{} "${all[@]}" ::: 1 2 3 4 2>err || diag "$(cat err)"
"$ntrace" merge -o sum part.? 2>/dev/null
is_whole "GNU parallel: four parts are the whole"
parallel --will-cite -j 2 "$ntrace" count -o {}.part {} ::: "${all[@]}" 2>err || diag "$(cat err)"
printf '%s\n' r?.part | "$ntrace" merge --files-from - -o sum 2>/dev/null
is_whole "GNU parallel: a job for each recording"

"$ntrace" count -o sum r1 2>loud
"$ntrace" count -q -o sum r1 2>quiet
is "$(grep -c 'entries in' loud) $(diff loud quiet | grep -c '^<')" "1 1" "count --quiet leaves out the summary alone"

# Streams of recordings: none counts twice, and the sum says which parts are missing.
is "$(python3 "$reader" sources whole r1.counts | xargs)" "6 2" "a counts file knows its streams"
for i in 1 2 3 4 5; do "$ntrace" count --shard $i/5 -o part.$i "${all[@]}" 2>/dev/null; done
is "$(python3 "$reader" sources part.2 part.5)" "$(printf '2 1/5 3/5 4/5\n0 1/5 2/5 3/5 4/5')" "a part knows those of the others"
"$ntrace" merge -o some part.[134] 2>err
is $? 3 "merge without two parts: exit status"
like "merge: says which parts are missing" "some: parts of .ntrace count --shard. are missing: 2/5; 2 streams of recordings are not counted" "$(cat err)"
"$ntrace" export -f csv -o counted some 2>err
like "export: says it, too" "some: parts of .* are missing: 2/5;" "$(cat err)"
ok "the missing part completes it" "$ntrace" merge -o sum part.2 some
is_whole "a sum of parts and the missing one are the whole"
for options in -u "-p 1" "--class web"; do
	# shellcheck disable=SC2086 # several words
	"$ntrace" count --shard 2/5 $options -o other "${all[@]}" 2>/dev/null
	fails "merge: a part with $options" "other: is a part of the same run as some, and selects other code or has another label" \
		"$ntrace" merge -o no some other
done
rm other
cp r2.counts copy && cp -r r2 r2.copy && "$ntrace" count -o r2.again r2.copy 2>/dev/null
cp whole earlier
for files in "r2.counts r2.counts" "r2.counts copy" "r2.counts r2.again" "r1.counts earlier" "part.1 some" "r1.counts ./r1.counts" "many.1 many.1"; do
	python3 "$reader" many 100 2 many
	# shellcheck disable=SC2086 # two files
	fails "merge $files: would count twice" "is given twice|counts a stream of a recording that .* counts, too" "$ntrace" merge -o no $files
done
seq 40 | sed 's/^/r.c./' >list && while read -r name; do ln -sf many.1 "$name"; done <list
fails "merge --files-from: would count twice" "is given twice" "$ntrace" merge -o no --files-from list
fails "count a recording twice" "r1: its stream 0 has the trace of r1, stream 0: it would count twice" "$ntrace" count -o no r1 r2 r1
# A copy has the same trace, however it is packed, and whatever the rest of its params says.
cp -r r3 words && sed -i 's/^release .*/release other/; s/^command .*/command other/; s/^stop_ns .*/stop_ns 7/' words/params
cp -r r3 squeezed && zstd -q --rm squeezed/aux.1 && sed -i 's/^file aux.1$/file aux.1.zst/' squeezed/params
cp -r squeezed smaller && zstd -dq --rm smaller/aux.1.zst && zstd -q -19 --rm smaller/aux.1
for copy in words squeezed smaller; do
	fails "count r3 and $copy" "$copy: its stream [01] has the trace of r3, stream [01]: it would count twice" "$ntrace" count -o no r3 $copy
	fails "count --shard of r3 and $copy" "$copy: its stream [01] has the trace of r3" "$ntrace" count --shard 2/2 -o no r3 $copy
	"$ntrace" count -q -o $copy.counts $copy 2>/dev/null
	fails "merge of their counts" "$copy.counts: counts a stream of a recording that r3.counts counts, too" "$ntrace" merge -o no r3.counts $copy.counts
done
# Streams of one recording. Their lengths in params differ.
for packed in "" .zst; do
	cp -r squeezed twice$packed && zstd -q -c r3/aux.0 >twice$packed/aux.1.zst
	[ -n "$packed" ] || { zstd -dq --rm twice/aux.1.zst && sed -i 's/^file aux.1.zst$/file aux.1/' twice/params; }
	fails "count a stream and its copy" "stream 1 has the trace of .*, stream 0: it would|two of its streams have the same trace" "$ntrace" count -o no twice$packed
	for command in report "export -f csv -o direct"; do
		# shellcheck disable=SC2086 # words
		like "$command says it" "streams 0 and 1 have the same trace, twice$packed/aux.0 and twice$packed/aux.1$packed: one is a copy" \
			"$("$ntrace" $command twice$packed 2>&1)"
	done
done
# Long ones are not read in full, and their lengths are part of what identifies them.
python3 - <<'END'
import os
for name, sizes in (("long.1", (300000, 300001)), ("long.2", (300000, 300000)), ("long.3", (300001, 299999))):
    os.mkdir(name)
    text = open("r3/params").read().split("stream ")
    for index, size in enumerate(sizes):
        lines = [f"bytes {size}" if line.startswith("bytes ") else line for line in text[index + 1].split("\n")]
        text[index + 1] = "\n".join(lines)
        open(f"{name}/aux.{index}", "wb").write(open("r3/aux.0", "rb").read() * (size // os.path.getsize("r3/aux.0") + 1))
        os.truncate(f"{name}/aux.{index}", size)
    open(f"{name}/params", "w").write("stream ".join(text))
    os.system(f"cp -r r3/data r3/images {name}")
END
"$ntrace" count -q -o long.1.counts long.1 2>/dev/null
is $? 0 "streams that begin the same way"
fails "two that are the same to the end" "long.2: its stream 1 has the trace of long.2, stream 0" "$ntrace" count -o no long.2
fails "one of them in another recording, another number" "long.3: its stream 0 has the trace of long.1, stream 1" "$ntrace" count -o no long.1 long.3
# Without timestamps, what is the same may have been executed twice.
cp -r twice clockless && sed -i 's/tsbits=40,tshz=1000000/tsbits=0/' clockless/params
cp -r clockless clockless.2 && printf 'x' >>clockless.2/data
"$ntrace" count -o counted clockless clockless.2 2>err
is "$? $(grep -c 'two harts that did the same, or one is a copy' err)" "0 2" "without timestamps, harts and runs may have the same trace" || diag "$(cat err)"
fails "a copy has the same sideband, too" "words: its stream 0 has" "$ntrace" count -o no clockless clockless.2 r3 words
rm -rf long.? clockless*
ok "no output of these" test ! -e no
rm -f part.? r.c.* many.?

# More files than are merged at once, several levels of them.
python3 "$reader" many 100 70 many
ok "merge 70 files" "$ntrace" merge -o sum many.*
python3 "$reader" sum many.* >want
python3 "$reader" sum sum >got
ok "the sum of 70 files" cmp want got
seq 70 -1 1 | sed s/^/many./ | "$ntrace" merge --files-from - -o other 2>/dev/null
ok "in another order: the same bytes" cmp sum other

# Classes.
"$ntrace" count --class web -o web r1 2>/dev/null && "$ntrace" count --class db -o db r2 2>/dev/null
"$ntrace" merge -o both web db 2>/dev/null
for class in web:r1 db:r2; do
	"$ntrace" export -f csv -o direct "${class#*:}" 2>/dev/null
	"$ntrace" export -f csv --class "${class%:*}" -o counted both 2>/dev/null
	ok "--class ${class%:*}" cmp direct counted
done
"$ntrace" merge -o sum r1.counts r2.counts 2>/dev/null
"$ntrace" export -f csv -o direct sum 2>/dev/null && "$ntrace" export -f csv -o counted both 2>/dev/null
ok "all classes" cmp direct counted
fails "a class that does not exist" "the export is empty" "$ntrace" export -f csv --class mail both

# Saturation.
python3 "$reader" scale 9000000000000000000 one huge
cp huge huge.2 && cp huge huge.3 && "$ntrace" merge -o sum huge huge.2 huge.3 2>err
like "counts that reach the limit are reported" "sum: [0-9,]+ counts reached the largest number, 18446744073709551615" "$(cat err)"
is "$(python3 "$reader" sum huge huge.2 huge.3 | cmp - <(python3 "$reader" sum sum) 2>&1)" "" "they stay at the limit"
"$ntrace" export -f csv -o counted sum 2>err
like "export reports them, too" "counts reached the largest number" "$(cat err)"
# Counts that only add up past the largest number: with a third of it, a wrapped sum would be less than one count.
third=6148914691236517206
python3 "$reader" scale $third one huge
for format in csv json autofdo profgen bolt bolt-bf lcov; do
	"$ntrace" export -f $format -o counted huge 2>err
	case $format in
	csv) cut -d, -f8 counted ;;
	json) grep -o '"count": *[0-9]*' counted ;;
	lcov) grep '^DA\|^FNDA\|^BRDA' counted | sed 's/^FNDA:\([0-9]*\),.*/ \1/' ;;
	bolt*) grep -oE ' [0-9]+( 0)?$' counted | sed 's/ 0$//' ;;
	*) grep -o ':[0-9]*$' counted ;;
	esac | grep -oE '[0-9]+$' >numbers
	ok "export -f $format: there are counts" test "$(awk '$1 != 0' numbers | wc -l)" -gt 5
	is "$(python3 -c 'import sys; print(sum(0 < int(line) < int(sys.argv[1]) for line in sys.stdin))' $third <numbers)" 0 \
		"export -f $format: no sum is less than its parts" || diag "$(sort -n numbers | head -3)"
done
python3 "$reader" scale 922337203685477 one huge
"$ntrace" export -f lcov -o counted huge 2>err
like "sums that reach it are reported" "huge: the executed instructions are more than 18446744073709551615: sums are this or larger" "$(cat err)"
is "$(grep -c "counts reached" err)" 0 "although no count does"

# Temporary files have no names: the error names their directory, and how to choose another one.
(ulimit -f 1 && exec "$ntrace" count -o no "$top/Documentation/tour/words.data") 2>err
is $? 1 "count: temporary files are too large"
like "it says where they are" "${TMPDIR:-/tmp}: File too large: temporary files are made there; TMPDIR chooses another place" "$(cat err)"

# Losses: each stream of the copies lost trace, of r2 at least so much. One of r3 has a gap, too.
for r in r2 r3; do cp -r $r lossy.$r && sed -i 's/^lost 0$/lost 1200/' lossy.$r/params; done
sed -i 's/^lost_exact 1$/lost_exact 0/' lossy.r2/params
printf '\2' | dd of=lossy.r3/aux.0 bs=1 seek=$(($(stat -c %s lossy.r3/aux.0) / 2)) conv=notrunc status=none
"$ntrace" count -o lossy lossy.r2 lossy.r3 2>err
like "count: losses are reported" "lossy: code executed in lost trace is not counted: at least 4,800 bytes, [1-9][0-9]* gaps and errors" "$(cat err)"
read -r lost more gaps unknown < <(python3 "$reader" losses lossy)
is "$lost $more $unknown" "4800 2 0" "count: losses are in the file"
ok "count: gaps, too" test "$gaps" -gt 0
for i in 1 2 3; do "$ntrace" count --shard $i/3 -o "lossy.$i" lossy.r2 lossy.r3 2>/dev/null; done
"$ntrace" merge --json -o sum lossy.? >json 2>err
ok "merge: losses of parts add up" cmp lossy sum
like "merge: reports them" "sum: code executed in lost trace is not counted: at least 4,800 bytes, $gaps gaps" "$(cat err)"
is "$(python3 -c 'import json; r = json.load(open("json")); print(r["lost"], r["gaps"])')" "4800 $gaps" "merge --json"
"$ntrace" export -f csv -o counted lossy 2>err
like "export: reports them" "lossy: code executed in lost trace is not counted: at least 4,800 bytes, $gaps gaps" "$(cat err)"
sed -i 's/^file aux.1$/file aux.0/; /^hartid 1$/,$ s/^src 0$/src 1/' lossy.r2/params
"$ntrace" count -o sum lossy.r2 2>/dev/null
is "$(python3 "$reader" losses sum | cut -d ' ' -f 1-2)" "1200 1" "a sink of two harts loses its trace once"
# Numbers of another writer; and a file of version 1 has no losses.
python3 "$reader" lossy 5 0 7 1 one two && cp two two.2 && "$ntrace" merge -o sum two r1.counts lossy two.2 2>err
is "$(python3 "$reader" losses sum)" "4810 2 $((gaps + 14)) 2" "merge: the sum of losses"
like "merge: unknown losses are reported" "losses of trace are not known of 2 counts files of an earlier version" "$(cat err)"
python3 "$reader" version1 one old && cp old old.2 && "$ntrace" merge -o sum old one old.2 2>err
is "$? $(python3 "$reader" losses one old sum | tr '\n' ' ')" "0 0 0 0 0 0 0 0 1 0 0 0 2 " "merge: files of version 1 are read, their losses are unknown"
is "$(python3 "$reader" sum old one old | cmp - <(python3 "$reader" sum sum) 2>&1)" "" "merge: their counts are those of version 2"
"$ntrace" export -f csv -o direct one 2>/dev/null && "$ntrace" export -f csv -o counted old 2>err
ok "export: a file of version 1" cmp direct counted
like "export: its losses are unknown" "old: losses of trace are not known of 1 counts files" "$(cat err)"

# pprof.
"$ntrace" export -f pprof -o whole.pb.gz whole 2>/dev/null && "$ntrace" export -f pprof -o sum.pb.gz again 2>/dev/null
ok "export -f pprof: the same bytes for the same counts" cmp <(gunzip -c whole.pb.gz | tr -d '\0-\37' | sed 's/whole//') <(gunzip -c sum.pb.gz | tr -d '\0-\37' | sed 's/again//')

# Two programs of one path without build-id, of which one was replaced.
mkdir apart && gcc -std=c11 -DINODE=3 -I "$top/lib/include" "$small_host/two_tasks.c" -L "$top/build" -lntrace -o make_apart &&
	riscv64-linux-gnu-objcopy --remove-section .note.gnu.build-id two_tasks apart/two_tasks &&
	./make_apart r_apart "$tmp/apart/two_tasks" "$(stat -c %s r3/aux.0)" "$(stat -c %s r3/aux.1)" "$small_params" && cp r3/aux.* r_apart &&
	mkdir -p r_apart/images/files/0-0-{3,4}-0 && cp apart/two_tasks r_apart/images/files/0-0-3-0 && printf '.globl last\nlast: ret\n' >last.S &&
	riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000,-e,first,--build-id=none -o r_apart/images/files/0-0-4-0/two_tasks two_tasks.S last.S
for pid in 42 50; do "$ntrace" count -q --pid $pid -o sum.$pid r_apart 2>/dev/null; done
ok "count: two programs of one path" "$ntrace" count -o sum r_apart 2>err
for name in sum.42 sum.50 sum; do
	"$ntrace" export -f csv $name 2>/dev/null | tail -n +2 | grep -c two_tasks
done >lines
is "$(tail -n 1 lines)" "$(($(head -n 2 lines | paste -s -d +)))" "are not added up"
is "$("$ntrace" export -f csv sum 2>/dev/null | cut -d, -f3 | grep two_tasks | sort -u)" "\"$tmp/apart/two_tasks\"" "both have the path that they had"
fails "export of one of them" "'two_tasks' is ambiguous" "$ntrace" export -f profgen -b two_tasks -o no sum
"$ntrace" export -f csv -u -b two_tasks -o no r_apart 2>err
is "$(grep "^  " err | sort)" "$(printf '  %s\n' r_apart/images/files/0-0-{3,4}-0/two_tasks | sort)" "only these are named, with what tells them apart"
for inode in 3 4; do ok "and can be chosen" "$ntrace" export -f csv -u -b r_apart/images/files/0-0-$inode-0/two_tasks -o $inode r_apart; done

# In a counts file, a hash tells them apart, and their names are those of the copies.
rm apart/two_tasks
"$ntrace" export -f csv -u -b two_tasks -o no sum 2>err
is "$(grep -cE "^  $tmp/apart/two_tasks@[0-9a-f]{16}$" err)" 2 "counts: a hash tells them apart"
sed -n 's/.*@//p' err >versions
while read -r version; do "$ntrace" export -f csv -u -b "two_tasks@$version" -o "$version" sum; done <versions
is "$(sort versions | xargs cat | sort | cmp - <(sort 3 4) 2>&1)" "" "and each can be chosen"
cp -r r_apart archived && mkdir archived/archive
for sysroot in r_apart archived/archive; do
	is "$("$ntrace" report -n 0 --sysroot $sysroot sum 2>&1 | grep -cE '(first|second) .two_tasks.$')" 2 "counts: names of what the recorder copied, --sysroot $sysroot"
	"$ntrace" export -f csv -u -b two_tasks --sysroot $sysroot -o no sum 2>err
	is "$(grep -c "^  ${sysroot%/archive}.*/images/files/0-0-[34]-0/two_tasks" err)" 2 "export, too"
done

# Two versions with build-ids.
gcc -std=c11 -DINODE=3 -DBUILD_ID_BYTES=20 -I "$top/lib/include" "$small_host/two_tasks.c" -L "$top/build" -lntrace -o make_versions &&
	./make_versions r_versions "$tmp/apart/two_tasks" "$(stat -c %s r3/aux.0)" "$(stat -c %s r3/aux.1)" "$small_params" && cp r3/aux.* r_versions
for byte in 3 4; do
	id=$(printf "0$byte%.0s" {1..20})
	mkdir -p "r_versions/images/files/$id"
	{ printf '\4\0\0\0\24\0\0\0\3\0\0\0GNU\0' && printf "\\$byte%.0s" {1..20}; } >note
	riscv64-linux-gnu-objcopy --update-section .note.gnu.build-id=note two_tasks "r_versions/images/files/$id/two_tasks"
done
"$ntrace" count -q -o versions r_versions 2>/dev/null
for input in r_versions versions; do
	"$ntrace" export -f csv -u -b two_tasks -o no $input 2>err
	is "$? $(grep "^  " err | sort)" "1 $(printf "  $tmp/apart/two_tasks@%s\n" 0303030303030303 0404040404040404)" "$input: a version is named by its build-id" || diag "$(cat err)"
	for id in 03 0404040404040404; do
		ok "$input: and chosen" "$ntrace" export -f csv -u -b two_tasks@$id -o $input.$id $input
	done
	fails "$input: another build-id" "no code of 'two_tasks@05' was executed" "$ntrace" export -f csv -b two_tasks@05 -o no $input
done
ok "the versions differ" test "$(cmp -s versions.03 versions.0404040404040404; echo $?)" = 1
is "$(cmp versions.03 r_versions.03 2>&1)" "" "counts of a version are those of the recording"

# What counts files cannot give, and what is not a counts file.
for format in folded callgrind perfetto perf-data perfscript; do
	fails "export -f $format of counts" "is a counts file: $format needs .*, which only the recording has" "$ntrace" export -f $format -o no one
done
fails "export --pid of counts" "it has neither processes nor times" "$ntrace" export -f csv --pid 42 one
fails "export --class of a recording" "--class applies to counts files" "$ntrace" export -f csv --class web r1
fails "merge a recording" "r1: Is a directory" "$ntrace" merge -o no r1
fails "merge another file" "code: offset 0: not a counts file" "$ntrace" merge -o no one code
head -c 200 one >short
fails "merge a cut file" "short: offset 200: the file ends too early" "$ntrace" merge -o no one short
fails "export a cut file" "short: offset 200: the file ends too early" "$ntrace" export -f csv -o no short
cp one damaged && printf '\1' | dd of=damaged bs=1 seek=$(($(stat -c %s one) - 100)) conv=notrunc status=none
fails "merge a damaged file" "damaged: offset [0-9]+: " "$ntrace" merge -o no one damaged
ok "no output of a failed merge" test ! -e no
fails "merge a missing file" "nothing: No such file" "$ntrace" merge -o no one nothing
fails "count nothing" "the counts are empty: 'ntrace report --by-process' shows" "$ntrace" count --pid 4711 -o no r1
for usage in "count r1" "count -o no" "count -o no --shard 0/2 r1" "count -o no --shard 3/2 r1" "count -o no --shard 1 r1" "count -o no -j 0 r1" "merge -o no" "merge one" \
	"merge --json -o - one" "count --json -o - r1" "count -o no --class $(printf '%0300d' 0) r1"; do
	# shellcheck disable=SC2086 # words
	"$ntrace" $usage >/dev/null 2>err
	is "$? $(grep -c "see 'ntrace" err)" "2 1" "usage: ${usage:0:40}"
done
done_testing
