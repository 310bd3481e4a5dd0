#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Recordings whose file "data" is missing or empty, and recordings without streams: every command and every format of
# ntrace export says what is missing, and none dies of it.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"

# survives TEXT STATUS ARGUMENT...: ends with a status of the pattern, and by no signal
survives() {
	local text=$1 status=$2 rc=0
	shift 2
	(ulimit -v 4000000 && cd "$tmp/work" && exec timeout 60 "$ntrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null) || rc=$?
	if [[ $rc =~ ^($status)$ ]] && { [ "$rc" = 0 ] || [ -s "$tmp/err" ] || [ -s "$tmp/out" ]; }; then
		pass "$text"
	else
		not_ok "$text"
		diag "status $rc, expected $status: $*"
		diag "$(tail -n 5 "$tmp/err")"
	fi
}

mkdir "$tmp/work"
ok "small recordings" small_recordings "$tmp" 1 || done_testing
cp -r "$tmp/r1" "$tmp/missing"
rm "$tmp/missing/data"
cp -r "$tmp/r1" "$tmp/empty"
: >"$tmp/empty/data"
mkdir "$tmp/streamless"
sed '/^stream /,$d' "$tmp/r1/params" >"$tmp/streamless/params"

commands=$("$ntrace" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
formats=$("$ntrace" export --help | sed -n '/^formats:/,/^All/s/^  \([a-z, -]*[a-z]\)  .*/\1/p' | tr -d ,)
like "the commands" count "$commands"
like "the formats" perf-data "$formats"

for recording in missing empty streamless; do
	status="[0-3]"
	[ $recording = streamless ] && status="1|2"
	for command in $commands; do
		# Commands change recordings: each gets its own.
		rm -rf "$tmp/work" && mkdir "$tmp/work" && cp -r "$tmp/$recording" "$tmp/work/recording"
		case $command in
		# These take no recording; with a command they would need hardware.
		record | trigger | top | collect) survives "$recording: $command" "1|2" "$command" --nonsense recording ;;
		count | merge) survives "$recording: $command" "[0-3]" "$command" -o counts recording ;;
		help) survives "$recording: $command" "[0-3]" "$command" recording ;;
		*) survives "$recording: $command" "$status" "$command" recording ;;
		esac
	done
	rc=0
	# Without --foreground, a shell that forks leaves the command in the background of the terminal, where it stops.
	script -qec "timeout --foreground 60 $ntrace browse $tmp/work/recording" /dev/null >"$tmp/out" 2>&1 </dev/null || rc=$?
	is "$rc" 1 "$recording: browse on a terminal"
	for format in $formats; do
		# No program is known, so no function was executed.
		survives "$recording: export -f $format" 1 export -f "$format" -o "exported.$format" recording
		survives "$recording: export -f $format of firmware" "0|1" export -f "$format" --firmware "$tmp/two_tasks" \
			-o "exported.$format" recording
	done
	for view in --by-thread "--callers leaf" "--annotate leaf" "--html page.html" --json; do
		# shellcheck disable=SC2086 # an option and its argument
		survives "$recording: report $view" 1 report $view recording
	done
done

# says TEXT STATUS PATTERN ARGUMENT...: ends with the status, and a message
says() {
	local text=$1 status=$2 pattern=$3
	shift 3
	survives "$text" "$status" "$@"
	like "$text: says why" "$pattern" "$(cat "$tmp/err")"
}
rm -rf "$tmp/work" && mkdir "$tmp/work" && cp -r "$tmp/r1" "$tmp/work/untimed"
sed -i 's/tsbits=40/tsbits=0/; s/^\(.*tsbits\) 40/\1 0/' "$tmp/work/untimed/params"
says "report --time without tsbits" 1 "no timestamps for --time: the parameter tsbits is 0, and must be 1 to 64" report --time 1,2 untimed
says "report --sort time without tsbits" 1 "tsbits is 0, not 1 to 64" report --sort time untimed
says "encode: timestamps without tsbits" 2 "timestamps need tsbits .* of 1 to 64" \
	encode --mode htm --params tsbits=0 --encoder timestamps=all --pcs "$tmp/first.pcs" --elf "$tmp/two_tasks" -o out.nex

# Files of a recording that block, never end or are no files: none of them is read. A FIFO has no writer here. A link
# that leads out of the recording may lead to any file of this machine; one that stays inside is followed.
# The program is not at its path, or not below the sysroot: each command that reads code fails, and says where it can come from.
mv "$tmp/two_tasks" "$tmp/elsewhere"
# nowhere STATUS ARGUMENT...
nowhere() {
	local text status=$1
	shift
	for options in "" "--sysroot empty"; do
		rm -rf "$tmp/work" && mkdir -p "$tmp/work/empty" && cp -r "$tmp/r1" "$tmp/work/recording"
		text="no program${options:+ below the sysroot}: $*"
		# shellcheck disable=SC2086 # an option and its argument
		survives "$text" "$status" "$@" $options recording
		like "$text: says where from" "--sysroot names the directory .*ntrace archive" "$(cat "$tmp/out" "$tmp/err")"
	done
}
for view in "" --json --by-process --by-thread "--callers leaf" "--annotate leaf" "--html page.html"; do
	# shellcheck disable=SC2086 # an option and its argument
	nowhere 1 report $view
done
for level in block instruction pc; do nowhere 3 decode --level $level; done
for command in archive "count -o counts" gdb; do
	# shellcheck disable=SC2086 # an option and its argument
	nowhere 1 $command
done
nowhere 3 stat
nowhere 0 index
for format in $formats; do nowhere 1 export -f "$format" -o "exported.$format"; done
mv "$tmp/elsewhere" "$tmp/two_tasks"

# An archive that this user cannot read is not one without the program. Root reads it, unless root has no capabilities.
nobody=()
[ "$(id -u)" = 0 ] && nobody=(setpriv --inh-caps=-all --bounding-set=-all)
rm -rf "$tmp/work" && mkdir "$tmp/work" && cp -r "$top/Documentation/tour/words.data" "$tmp/work/locked"
for locked in archive archive/root; do
	chmod 0 "$tmp/work/locked/$locked"
	"${nobody[@]}" "$ntrace" decode --level block "$tmp/work/locked" >"$tmp/out" 2>"$tmp/err"
	like "$locked of mode 0" "locked/archive/root/words: Permission denied; code in it is not decoded"$'\n' "$(cat "$tmp/err")"$'\n'
	chmod 755 "$tmp/work/locked/$locked"
done

# Files of a recording that block, never end or are no files: none of them is read. A FIFO has no writer here.
mkfifo "$tmp/fifo"
for name in params data aux.0 index images/kallsyms images/kernel.start images/kernel.end images/files/9/x; do
	for kind in fifo directory inside /dev/zero ./secret "$tmp/fifo"; do
		rm -rf "$tmp/work" && mkdir "$tmp/work" && cp -r "$tmp/r1" "$tmp/work/recording" && mkdir -p "$tmp/work/recording/images/files/9"
		echo SECRET >"$tmp/work/secret"
		file=$tmp/work/recording/$name text="$name is $(basename "$kind")"
		[ -e "$file" ] && mv "$file" "$tmp/work/recording/kept"
		case $kind in
		fifo) mkfifo "$file" ;;
		directory) mkdir "$file" ;;
		inside) ln -rs "$tmp/work/recording/kept" "$file" ;;
		./secret) ln -rs "$tmp/work/secret" "$file" ;;
		*) ln -s "$kind" "$file" ;;
		esac
		for command in report decode dump stat check index archive "count -o counts"; do
			# shellcheck disable=SC2086 # a command and its options
			case $kind in
			*/*) says "$text: $command" "[12]" "recording: $name: a link that leads out of the recording, .* link the whole directory" $command recording ;;
			*) survives "$text: $command" "[0-3]" $command recording ;;
			esac
			is "$(cat "$tmp/out" "$tmp/err" | grep -ac SECRET)" 0 "$text: $command: nothing of another file"
		done
		case $kind:$name in
		inside:params | inside:data | inside:aux.0) survives "$text" 0 report recording ;;
		fifo:params | fifo:aux.0 | directory:params | directory:aux.0)
			says "$text" 1 "recording(/aux.0 is not a regular file|: .*wrong file format|: not a recording)" report recording
			;;
		fifo:data | directory:data)
			for command in report stat decode archive index "export -f json"; do
				# shellcheck disable=SC2086 # words
				says "$text: $command" 1 "error: .*recording/data is not a regular file" $command recording
			done
			;;
		esac
	done
done
rm -rf "$tmp/work/recording" && cp -r "$tmp/r1" "$tmp/work/recording" && truncate -s 1T "$tmp/work/recording/aux.0"
says "a trace file with a hole of 1 TiB" 1 "aux.0 has parts of a megabyte and more that were never written" report recording
cp -r "$tmp/r1" "$tmp/work/recording2"
cp -r "$tmp/r1" "$tmp/work/idle" && head -c 100000 /dev/zero | tr '\0' '\377' >>"$tmp/work/idle/aux.0"
sed -i "0,/^bytes .*/s//bytes $(stat -c %s "$tmp/work/idle/aux.0")/" "$tmp/work/idle/params"
says "an index without points: a long trace" 1 "error: idle: no points: no message" index idle
says "an index without points: a short trace" 0 "no points: no stream has more than 64 KiB" index recording2
# What a copy without zeros leaves out.
cp -r "$tmp/r1" "$tmp/work/short" && truncate -s +500K "$tmp/work/short/aux.0"
survives "a trace file with a short hole" 0 report short
ln -s "$tmp/r1" "$tmp/work/whole"
survives "the directory itself may be a link" 0 report whole
rm -rf "$tmp/work" && mkdir "$tmp/work" && cp -r "$tmp/r1" "$tmp/work/recording"
for file in /dev/zero "$tmp/fifo"; do
	for option in --elf --raw; do
		survives "decode $option $(basename "$file")" 1 decode "$option" "$file@0x1000" "$tmp/first.nex"
	done
	survives "report --firmware $(basename "$file")" 1 report --firmware "$file@0x1000" recording
done
# Traces without messages, raw and in a recording.
rm -rf "$tmp/work" && mkdir "$tmp/work"
: >"$tmp/work/empty"
head -c 4000 /dev/zero | tr '\0' '\377' >"$tmp/work/idle"
cp -r "$tmp/r1" "$tmp/work/recording"
for file in "$tmp"/work/recording/aux.*; do head -c 4000 /dev/zero | tr '\0' '\377' >"$file"; done
sed -i 's/^bytes .*/bytes 4000/' "$tmp/work/recording/params"
for trace in empty idle recording; do
	elf=(--elf "$tmp/two_tasks")
	[ $trace = recording ] && elf=()
	says "$trace: stat" 1 "$trace: the trace has no messages" stat $trace
	says "$trace: dump" 1 "$trace: the trace has no messages" dump $trace
	says "$trace: check" 2 "$trace: the trace has no messages" check $trace
	for level in instruction block branch pc; do
		says "$trace: decode -l $level" 1 "$trace: nothing was decoded" decode -l $level "${elf[@]}" $trace
	done
	says "$trace: report" 1 "$trace: no selected code was executed" report "${elf[@]}" $trace
	says "$trace: count" 1 "$trace: no selected code was executed" count -o counts "${elf[@]}" $trace
done
says "empty: index" 1 "empty: the trace is empty" index --elf "$tmp/two_tasks" empty
ok "idle: a lossless dump is whole" "$ntrace" dump --lossless "$tmp/work/idle"

# Too few instructions for a sample are not none, and lines of nothing need no debug information.
rm -rf "$tmp/work/recording" && cp -r "$tmp/r1" "$tmp/work/recording"
for format in perf-data perfscript; do
	says "$format: a long period" 1 "no sample: fewer selected instructions were executed than --period 900000000" \
		export -f $format -o samples --period 900000000 recording
	says "$format: nothing is selected" 1 "no selected code was executed" export -f $format -o samples --kernel recording
done
says "lcov: nothing is selected" 1 "no selected code was executed" export -f lcov --kernel recording

# A timestamp of 2^39 ticks, with one tick a second.
"$ntrace" dump --lossless --params tsbits=40 "$tmp/r1/aux.0" | sed '2s/"bytes":"[^"]*",//; 2s/"TSTAMP":"[^"]*"/"TSTAMP":"0x8000000000"/' |
	"$ntrace" assemble -o "$tmp/work/late" -
says "times after 2^64 ns" "[0-3]" "timestamps reach 54975584[0-9]{4} s, but times end at 2\^64 ns" \
	export -f chrome -o late.json --params tsbits=40,tshz=1 --elf "$tmp/two_tasks" late

# Files params that contradict themselves or the trace.
# contradicts TEXT PATTERN SED: of the recording r1, changed
contradicts() {
	rm -rf "$tmp/work/recording" && cp -r "$tmp/r1" "$tmp/work/recording"
	sed -i "$3" "$tmp/work/recording/params"
	says "$1" 1 "$2" report recording
}
contradicts "a stream number twice" "line [0-9]+: stream 0 where stream 1 is next" 's/^stream 1/stream 0/'
contradicts "two streams of one file" "streams 0 and 1 are the same trace, aux.0" 's/^file aux.1/file aux.0/'
contradicts "no number of bytes" "line [0-9]+: bad value of bytes" 's/^bytes .*/bytes 18446744073709551615/'
contradicts "more bytes than a file can hold" "cannot be the 1125899906842624 bytes" 's/^bytes .*/bytes 1125899906842624/'
rm -rf "$tmp/work/recording" && cp -r "$tmp/r1" "$tmp/work/recording"
stanza=$(sed -n '/^stream 1$/,$p' "$tmp/r1/params")
for ((i = 2; i < 300; i++)); do echo "${stanza//1$'\n'file aux.1/$i$'\n'file aux.$i}"; done >>"$tmp/work/recording/params"
(ulimit -v 400000 && cd "$tmp/work" && exec "$ntrace" report recording) >"$tmp/out" 2>"$tmp/err"
is $? 1 "300 streams without files"
like "300 streams without files take little memory" "recording: No such file or directory" "$(tail -n 1 "$tmp/err")"


# A part in which nothing is: every command that takes one, and every format, names the option and fails. No output is left.
cp -r "$top/Documentation/tour/words.data" "$tmp/work/words"
while read -r command option; do
	case $command:$option in
	record:* | trigger:* | index:*) continue ;; # which trace nothing that exists
	browse:*) continue ;;                       # browse.sh: it needs a terminal
	*:--around) parts=(nothing) ;;
	*:--offset) parts=("100M,200M" "4000000,") ;;
	gdb:*) parts=("1,2" "@1,@2" "100,200" 1) ;;
	*) parts=("1,2" "100000000000," ",100") ;;
	esac
	for part in "${parts[@]}"; do
		case $command in
		export)
			for format in $formats; do
				says "$command -f $format $option $part" 1 "${option/--time/--offset, --time and --around select less}|--around: 'nothing" \
					export -f "$format" -o part "$option" "$part" words
			done
			;;
		report)
			for kind in "" --json --by-thread "--html part" "--annotate work" "--callers run"; do
				# shellcheck disable=SC2086 # words
				says "$command $kind $option $part" 1 "--offset, --time and --around|--around: 'nothing" report $kind "$option" "$part" words
			done
			;;
		gdb) says "$command $option $part" 1 "${option#--}: nothing was executed|no file of the trace has a function" gdb --json "$option" "$part" words ;;
		*) says "$command $option $part" 1 "option $option|$option: 'nothing" "$command" "$option" "$part" words ;;
		esac
	done
done < <(for command in $commands; do "$ntrace" "$command" --help | grep -o -- ' --\(time\|offset\|around\) ' | sort -u | sed "s/^/$command/"; done)
ok "no output is left" test ! -e "$tmp/work/part"
says "gdb --time: the place in the trace" 1 "nothing was executed from @1 to @2: the trace goes from @2[0-9]+ to @[0-9]+, [0-9.]+ ms" gdb --json --time @1,@2 words

# Trace files that have less or more than params says: both numbers are named. Of a packed one, no more than that is read: a few
# bytes may stand for many. what NAME COMMAND: changes the long stream of a copy
what() {
	local name=$1
	rm -rf "$tmp/work/$name" && cp -r "$top/Documentation/tour/words.data" "$tmp/work/$name"
	(cd "$tmp/work/$name" && eval "$2")
	"$ntrace" report --json "$tmp/work/$name" >"$tmp/$name.json" 2>"$tmp/err" || diag "$(cat "$tmp/err")"
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(*r["notes"], sep="\n")' "$tmp/$name.json" >"$tmp/notes"
}
# shown NAME: how much trace there is and was recorded, in text and JSON
shown() {
	"$ntrace" report "$tmp/work/$1" 2>/dev/null | sed -n 's/^trace  *\(.*\) from [0-9] CPU.*/\1/p'
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["bytes"], r["recorded_bytes"])' "$tmp/$1.json"
}
# same NAME: the report has the functions of the whole recording
same() { python3 -c 'import json, sys; a, b = (json.load(open(name)) for name in sys.argv[1:]); sys.exit(a["functions"] != b["functions"])' "$tmp/whole.json" "$tmp/$1.json"; }
what whole :
is "$(cat "$tmp/notes")" "" "the whole recording has no notes"
is "$(shown whole)" "3.1 MiB
3270528 3270528" "the whole recording: how much trace there is"
what short "truncate -s 100 aux.1.zst"
like "a short packed file" "short/aux.1.zst has [0-9]+ bytes, unpacked, 3204736 were recorded" "$(cat "$tmp/notes")"
is "$(shown short)" "64.2 KiB of the 3.1 MiB that were recorded
65792 3270528" "a short packed file: how much trace there is"
what unpacked "zstd -qd --rm aux.1.zst && truncate -s 1000000 aux.1 && sed -i s/aux.1.zst/aux.1/ params"
like "a short file" "unpacked/aux.1 has 1000000 bytes, 3204736 were recorded" "$(cat "$tmp/notes")"
is "$(shown unpacked)" "1.0 MiB of the 3.1 MiB that were recorded
1065792 3270528" "a short file: how much trace there is"
what end "truncate -s -1 aux.1.zst"
like "a packed file without its last byte" "end/aux.1.zst: the file lacks its end, after the 3204736 bytes that were recorded" "$(cat "$tmp/notes")"
ok "a packed file without its last byte: all is there" same end
what lost "truncate -s 100000 aux.1.zst; sed -i \"/^stream 1/,\\$ { s/^lost .*/lost 1000000/; s/^bytes .*/bytes \$(zstd -dc aux.1.zst 2>no | wc -c)/ }\" params"
is "$(cat "$tmp/notes")" "CPU 1: 1000000 bytes of trace lost while recording" "a recorder cut the file of a full disk: the loss is said, and nothing else"
what twice "cat aux.1.zst aux.1.zst >aux && mv aux aux.1.zst"
like "a packed file that goes on" "twice/aux.1.zst has more than the 3204736 bytes, unpacked, that were recorded: the rest is not decoded" "$(cat "$tmp/notes")"
ok "a packed file that goes on: what was recorded is decoded" same twice
what longer "zstd -qd --rm aux.1.zst && cat aux.1 aux.1 >aux && mv aux aux.1 && sed -i s/aux.1.zst/aux.1/ params"
is "$(sed "s:$tmp/work/::" "$tmp/notes")" "longer/aux.1 has 6409472 bytes, 3204736 were recorded: the rest is not decoded" "a file that goes on"
ok "a file that goes on: what was recorded is decoded" same longer
for name in twice longer; do
	for command in stat dump; do
		"$ntrace" $command "$tmp/work/whole" 2>/dev/null | sed 's/^# .*//' >"$tmp/out"
		"$ntrace" $command "$tmp/work/$name" 2>/dev/null | sed 's/^# .*//' | cmp -s "$tmp/out"
		is $? 0 "$name: $command reads what was recorded"
	done
done
# shellcheck disable=SC2016 # what is in single quotes is for another shell
# The frames of a formatter, with more of them than recorded: they hold the whole stream, and what follows is not part of it.
what framed 'zstd -qd --rm aux.1.zst && python3 "$top/selftests/tools/frames.py" frames 0 0 16=aux.1 && size=$(stat -c %s frames) &&
	cat frames frames | zstd -q >aux.1.zst && sed -i "/^stream 1/,\$ { s/^params .*/&,atid=16/; s/^bytes .*/bytes $size/ }" params'
like "frames that go on" "framed/aux.1.zst has more than the [0-9]+ bytes, unpacked, that were recorded" "$(cat "$tmp/notes")"
ok "frames that go on: what was recorded is decoded" same framed
what few "sed -i 's/bytes 3204736/bytes 32/' params"
like "fewer bytes in params" "few/aux.1.zst has more than the 32 bytes, unpacked, that were recorded: the rest is not decoded" "$(cat "$tmp/notes")"
what bomb "head -c 3000000000 /dev/zero | zstd -q >aux.1.zst"
like "a packed file that stands for 3 GB" "bomb/aux.1.zst has more than the 3204736 bytes, unpacked, that were recorded" "$(cat "$tmp/notes")"
# The limits stop what reads more: seconds of the processor, and 50 MB of a temporary file.
for command in "gdb -" "decode --level block" "count -o $tmp/no" "export -f csv" stat check dump; do
	# shellcheck disable=SC2086 # words
	(ulimit -t 20 && ulimit -f 50000 && timeout --foreground 60 "$ntrace" $command "$tmp/work/bomb" >/dev/null 2>"$tmp/err" </dev/null)
	like "$command: the same" '^[0-3]$' $?
	[[ $command =~ ^(stat|check|dump)$ ]] || continue
	is "$(grep -c "bomb/aux.1.zst has more than the 3204736 bytes" "$tmp/err")" 1 "$command: says it once"
done
rm -rf "$tmp/work/bomb"
done_testing
