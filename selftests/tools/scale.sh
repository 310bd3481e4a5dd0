#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=30
# Recordings with many files, programs, processes and threads, and ELF files with many segments: twice as many take twice the
# work. The test counts instructions, so it does not depend on the speed of the host.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
ok "a program" small_recordings "$tmp" 1 || done_testing
head -n 12 "$tmp/first.pcs" >"$tmp/piece.pcs"
ok "the trace of a piece" "$ntrace" encode --pcs "$tmp/piece.pcs" --elf "$tmp/two_tasks" --mode htm -o "$tmp/piece.nex"
mapfile -t kinds < <(python3 "$top/selftests/tools/scale.py" "$tmp" "$tmp/piece.nex" "$tmp/two_tasks" 1200)
is "${kinds[*]}" "files programs processes threads segments" "the kinds"
printf '\1\240' >"$tmp/loop"
"$ntrace" assemble -o "$tmp/sync.nex" <<<'{"name":"ProgTraceSync","fields":{"SYNC":5,"ICNT":0,"FADDR":32768}}' >"$tmp/err" 2>&1 || diag "$(cat "$tmp/err")"

# Counts of many files that are not here, each called by the next one.
for times in 1 2; do
	ok "counts of $((1200 * times)) files" python3 "$top/selftests/tools/host/counts_file.py" objects $((1200 * times)) "$tmp/counts.$times"
done

# Without the symbols, which take valgrind as long as most of the commands.
strip -o "$tmp/ntrace" "$ntrace"
# count WORD...: prints the number of instructions executed on the host
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$tmp/ntrace" "$@" 2>&1 >/dev/null <"$tmp/input" | sed -n 's/.*Collected : *//p'; }

# grows KIND WORD...: %f in the words is the file
: >"$tmp/input"
grows() {
	local kind=$1 once twice
	shift
	once=$(count "${@//%f/$tmp/$kind.1}")
	twice=$(count "${@//%f/$tmp/$kind.2}")
	diag "$kind, ntrace ${*//$tmp\//}: $((once / 1000000)) million instructions, $((once ? twice * 100 / once : 0)) % with twice as many"
	ok "$kind, ntrace $1: twice as many, twice the work" test "${once:-0}" -gt 1000000 -a "$twice" -le $((once * 23 / 10))
}
grows files report %f
grows files archive %f
grows programs report %f
grows processes report %f
grows processes export -f json -o /dev/null %f
grows threads report %f
grows counts report %f
grows counts export -f csv -o /dev/null %f
grows segments stat --elf %f "$tmp/sync.nex"
# The list of threads, in pieces as GDB asks for it.
packet() {
	local sum=0 i
	for ((i = 0; i < ${#1}; i++)); do
		sum=$((sum + $(printf '%d' "'${1:i:1}")))
	done
	printf '$%s#%02x' "$1" $((sum & 255))
}
packet QStartNoAckMode >"$tmp/input"
packet "qSupported:qXfer:threads:read+" >>"$tmp/input"
for ((i = 0; i < 40; i++)); do packet "qXfer:threads:read::$(printf %x $((i * 4096))),1000" >>"$tmp/input"; done
grows threads gdb - %f
done_testing
