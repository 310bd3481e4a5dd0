#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=30
# Inputs made to cost time or memory, for each command that reads untrusted bytes: the commands exit
# by themselves, their work grows at most linearly with the bytes, and they report progress. The
# test counts instructions, so it does not depend on the speed of the host.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace

# A program of one instruction, a jump to itself.
printf '\x01\xa0' >"$tmp/loop"
loop=(--raw "$tmp/loop@0x1000")
bytes=8192
mapfile -t kinds < <(python3 "$top/selftests/tools/hostile.py" "$tmp" $bytes)

# run COMMAND FILE: runs a line of the table below; %f is the file, %d a new directory.
words() {
	local word
	argv=()
	for word in $1; do
		word=${word//%f/$2}
		argv+=("${word//%d/$tmp/dir}")
	done
}

# ---- every input to every command ----

mkdir "$tmp/recording"
commands=(
	"dump %f" "dump --json --lossless %f" "dump --params srcbits=12 %f" "dump --framing coresight %f"
	"decode --level itc --params dialect=sifive-v0 %f" "decode --level block --raw $tmp/loop@0x1000 %f"
	"check %f" "check --params dialect=sifive-v0,srcbits=6 %f" "stat %f" "stat --params srcbits=12 %f" "detect %f"
	"split --framing coresight -o %d %f" "split --params srcbits=6 -o %d %f" "assemble -o $tmp/out.nex %f"
	"encode --mode htm --pcs %f --elf $ntrace -o $tmp/out.nex" "encode --mode btm --ingress %f -o $tmp/out.nex"
	"report %f" "export --format perf-script %f" "archive %f" "ctr dump %f" "ctr model %f"
	"report $tmp/recording" "decode $tmp/recording" "dump $tmp/recording" "archive $tmp/recording"
)
for command in "${commands[@]}"; do
	bad=
	for kind in "${kinds[@]}"; do
		# The level that prints all instructions has a test of its own.
		[[ $kind == full && $command == "decode --level block"* ]] && continue
		[ ! -e "$tmp/dir" ] || rm -r "$tmp/dir"
		if [[ $command == *"$tmp/recording"* ]]; then
			tee "$tmp/recording/params" "$tmp/recording/aux.0" <"$tmp/$kind.1" >"$tmp/recording/data"
		fi
		words "$command" "$tmp/$kind.1"
		rc=0
		"$ntrace" "${argv[@]}" >"$tmp/out" 2>"$tmp/err" </dev/null || rc=$?
		((rc <= 3)) || bad+=" $kind:$rc"
	done
	is "$bad" "" "ntrace ${command//$tmp\//}: exits by itself"
done

# ---- work by bytes ----

# Without the symbols, which take valgrind as long as most of the commands.
strip -o "$tmp/ntrace" "$ntrace"

# count COMMAND FILE: prints the number of instructions executed on the host.
count() {
	words "$1" "$2"
	rm -rf "$tmp/dir"
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$tmp/ntrace" "${argv[@]}" 2>&1 >/dev/null </dev/null |
		sed -n 's/.*Collected : *//p'
}

: >"$tmp/empty"
declare -A without=()
# grows KIND MOST COMMAND: twice the bytes take at most 2.2 times the work, and one byte at most
# MOST instructions. The command's work for an empty file is not counted.
grows() {
	local kind=$1 most=$2 command=$3 none once twice
	: "${without[$command]:=$(count "$command" "$tmp/empty")}"
	none=${without[$command]}
	once=$(($(count "$command" "$tmp/$kind.1") - none))
	twice=$(($(count "$command" "$tmp/$kind.2") - none))
	diag "$kind, ntrace ${command//$tmp\//}: $((once / bytes)) instructions a byte, $((once > 0 ? twice * 100 / once : 0)) % with twice the bytes"
	# 2,000,000 instructions more are noise, as for a command that refuses the file.
	ok "$kind: twice the bytes, twice the work" test $((twice * 10)) -le $((once * 22 + 2000000))
	ok "$kind: work of a byte" test $((once / bytes)) -le "$most"
}

grows random 2000 "dump %f"
grows endless 200 "dump %f"
grows endless 2000 "dump --json --lossless %f"
grows idle 200 "dump %f"
grows sources 2000 "stat --params srcbits=12 %f"
grows sources 10000 "check --params srcbits=12 %f"
grows random 10000 "check %f"
grows syncs 20000 "check %f"
grows branch 20000 "decode --level block --raw $tmp/loop@0x1000 %f"
grows random 5000 "decode --level itc --params dialect=sifive-v0 %f"
grows branch 100000 "detect %f"
grows syncs 100000 "detect %f"
grows padding 1000 "dump --framing coresight:1 %f"
grows barriers 1000 "split --framing coresight -o %d %f"
grows sources 2000 "split --params srcbits=6 -o %d %f"
grows json 10000 "assemble -o $tmp/out.nex %f"
grows json-idle 10000 "assemble -o $tmp/out.nex %f"
grows json-line 1000 "assemble -o $tmp/out.nex %f"
grows perf-tiny 20000 "report %f"

# ---- instructions by bytes ----

# An I-CNT of 24 bits, whose code is walked, and one of 36 bits, more than 2^29 parcels for each byte of
# the stream, which the decoder reports without walking it.
head -c 19 "$tmp/full.1" >"$tmp/few"
"$ntrace" stat --json "${loop[@]}" "$tmp/few" >"$tmp/out" 2>"$tmp/err"
instructions=$(grep -o '"instructions":[0-9]*' "$tmp/out" | head -1 | cut -d: -f2)
diag "19 bytes: ${instructions:-no} instructions"
ok "code that the stream can stand for is walked" test "${instructions:-0}" -ge $((8 << 20))
{ cat "$tmp/few"; printf '\x0c\xfc\xfc\xfc\xfc\xfc\xff'; } >"$tmp/excess"
is "$("$ntrace" decode --level block "${loop[@]}" "$tmp/excess" 2>/dev/null | grep -c "more code than the stream can stand for")" 1 "more is an error"

# ---- progress ----

# The clock advances six seconds per reading, so that each progress report is printed.
cat >"$tmp/clock.c" <<'END'
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static time_t seconds;

	(void)clock;
	now->tv_sec = seconds += 6;
	now->tv_nsec = 0;
	return 0;
}
END
cc -shared -fPIC -O2 "$tmp/clock.c" -o "$tmp/clock.so"
# Few bytes that expand to many: the commands report progress for any of them.
size=$((8 << 20))
head -c $size /dev/zero | tr '\0' '\377' | zstd -q >"$tmp/bomb-idle"
head -c $size /dev/zero | zstd -q >"$tmp/bomb-endless"
{ for _ in $(seq 65536); do printf '\x05AAAAAAAAAAAAAA\0'; done; } >"$tmp/frames"
for _ in $(seq 16); do cat "$tmp/frames"; done | zstd -q >"$tmp/bomb-frames"
# reports COMMAND FILE BYTES: prints at least one report per MiB.
reports() {
	local count
	words "$1" "$2"
	rm -rf "$tmp/dir"
	count=$(LD_PRELOAD=$tmp/clock.so "$ntrace" "${argv[@]}" 2>&1 >/dev/null </dev/null | grep -cE '^ntrace: [a-z ]+: .*, [0-9]+ s$')
	diag "ntrace ${1//$tmp\//} of ${2##*/}: $count reports of progress"
	ok "ntrace ${1//$tmp\//}: a report of progress for each MiB of ${2##*/}" test "$count" -ge $(($3 >> 20))
}
for bomb in idle endless; do
	for command in "dump %f" "check %f" "stat %f" "decode --level itc %f" "split --params srcbits=2 -o %d %f"; do
		reports "$command" "$tmp/bomb-$bomb" $size
	done
done
reports "dump --framing coresight:1 %f" "$tmp/bomb-frames" $((16 << 20))
reports "split --framing coresight -o %d %f" "$tmp/bomb-frames" $((16 << 20))
# The same trace inside a recording. check and stat do the work twice: for the messages and for the
# code.
gcc -std=c11 -I "$top/lib/include" "$top/selftests/tools/host/two_tasks.c" -L "$top/build" -Wl,-rpath,"$top/build" -lntrace -o "$tmp/make" ||
	not_ok "the recorder is compiled"
"$tmp/make" "$tmp/packed" /nonexistent $size 0 mode=htm || not_ok "a recording"
sed -i 's/aux\.0/aux.0.zst/' "$tmp/packed/params"
: >"$tmp/packed/aux.1"
for bomb in idle endless; do
	cp "$tmp/bomb-$bomb" "$tmp/packed/aux.0.zst"
	for command in "report" "decode --level block" "export --format csv"; do
		reports "$command $tmp/packed" "aux.0.zst, $bomb" $size
	done
	for command in "check" "stat"; do
		reports "$command $tmp/packed" "aux.0.zst, $bomb" $((2 * size))
	done
done

# ---- files that claim any size ----

# They have holes, so they take no room. Whoever reads them to the end takes memory or hours; what can be read without them, is.
claims() {
	rm -rf "$tmp/claims"
	cp -r "$top/Documentation/tour/words.data" "$tmp/claims"
	rm -f "$tmp/claims/$2"
	truncate -s "$1" "$tmp/claims/$2" || not_ok "a file with holes"
}
claims 1T archive/Documentation/tour/words.c
is "$(timeout 60 "$ntrace" report --annotate count_words "$tmp/claims" 2>/dev/null | grep -c "words.c:[0-9]*  the source file is larger than 32 MiB: it is not read")" \
	"$("$ntrace" report --annotate count_words "$top/Documentation/tour/words.data" 2>/dev/null | grep -c "words.c:[0-9]*  [^ ]* *")" \
	"a source file: report --annotate says it at each line"
claims 1T images/kallsyms
truncate -s 1T "$tmp/claims/images/kallsyms.end"
is "$(timeout 60 "$ntrace" report "$tmp/claims" 2>/dev/null | grep -c "images/kallsyms.*: File too large; kernel functions .*have no names")" 2 "kallsyms: report says it"
claims 1T images/vdso
like "a program: report names it, and reads the rest" "images/vdso: [A-Z].*; code in it is not decoded.* print_words" \
	"$(timeout 60 "$ntrace" report "$tmp/claims" 2>/dev/null | sort -k1.1,1.1r | tr '\n' ' ')"
claims 1T aux.1.zst
for command in stat dump check; do
	timeout 60 "$ntrace" $command "$tmp/claims" >/dev/null 2>"$tmp/err"
	is "$? $(grep -c "aux.1.zst: zstd has not compressed it, as its name says" "$tmp/err")" "$([ $command = check ] && echo 2 || echo 1) 1" "a trace file, not compressed: $command"
done
timeout 60 "$ntrace" report "$tmp/claims" >"$tmp/out" 2>&1
is "$(grep -c "aux.1.zst: zstd has not compressed it, as its name says" "$tmp/out") $(grep -c print_words "$tmp/out")" "1 1" "report names it, and decodes the other CPU's"
cp "$tmp/claims/aux.1.zst" "$tmp/raw.zst"
like "and a raw trace" "raw.zst: zstd has not compressed it, as its name says" "$(timeout 60 "$ntrace" report --raw "$tmp/claims/params@0x1000" "$tmp/raw.zst" 2>&1)"
# A plain one: what was written of it is trace, but it claims to be all.
for file in aux.0 aux.1; do
	claims 1T $file
	rm "$tmp/claims/$file.zst"
	sed -i "s/$file.zst/$file/" "$tmp/claims/params"
	for command in stat dump check report decode; do
		timeout 60 "$ntrace" $command "$tmp/claims" >/dev/null 2>"$tmp/err"
		is "$? $(grep -c "$file has parts of a megabyte and more that were never written: this is no trace" "$tmp/err")" \
			"$([ $command = check ] && echo 2 || echo 1) 1" "a trace file, plain, $file: $command"
	done
done

cp -r "$top/Documentation/tour/words.data" "$tmp/cut" && truncate -s 100 "$tmp/cut/aux.1.zst"
like "a compressed trace that was cut: report says what is left of it" "aux.1.zst has 0 bytes, unpacked, 3204736 were recorded" \
	"$("$ntrace" report "$tmp/cut" 2>/dev/null)"
# A bad byte late in one trace: what came before it, and the other trace, are decoded.
cp -r "$top/Documentation/tour/words.data" "$tmp/flipped"
flipped=$tmp/flipped/aux.0.zst
python3 - "$flipped" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    data = bytearray(file.read())
    data[-len(data) // 8] ^= 0x55
    file.seek(0)
    file.write(data)
END
for command in report "count -q -o $tmp/flipped.counts" "export -f csv -o $tmp/flipped.csv"; do
	# shellcheck disable=SC2086 # several words
	like "a damaged byte in a compressed trace: ${command%% *}" "^0 .*aux.0.zst.* what zstd compressed is damaged after [1-9][0-9]* bytes: the rest is not decoded" \
		"$("$ntrace" $command "$tmp/flipped" >"$tmp/out" 2>&1; echo "$? $(tr '\n' ' ' <"$tmp/out")")"
done
done_testing
