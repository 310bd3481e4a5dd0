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
	for command in $commands; do
		# Commands change recordings: each gets its own.
		rm -rf "$tmp/work" && mkdir "$tmp/work" && cp -r "$tmp/$recording" "$tmp/work/recording"
		case $command in
		# These take no recording; with a command they would need hardware.
		record | trigger | top | collect) survives "$recording: $command" "1|2" "$command" --nonsense recording ;;
		count | merge) survives "$recording: $command" "[0-3]" "$command" -o counts recording ;;
		*) survives "$recording: $command" "[0-3]" "$command" recording ;;
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
		fifo:data | directory:data) says "$text" 1 "recording/data: wrong file format; programs are unknown" export -f json recording ;;
		esac
	done
done
ln -s "$tmp/r1" "$tmp/work/whole"
survives "the directory itself may be a link" 0 report whole
rm -rf "$tmp/work" && mkdir "$tmp/work" && cp -r "$tmp/r1" "$tmp/work/recording"
for file in /dev/zero "$tmp/fifo"; do
	for option in --elf --raw; do
		survives "decode $option $(basename "$file")" 1 decode "$option" "$file@0x1000" "$tmp/first.nex"
	done
	survives "report --firmware $(basename "$file")" 1 report --firmware "$file@0x1000" recording
done
done_testing
