#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The series in kernel/patches/perf: each patch applies, what it touches compiles, and checkpatch has no finding. The patched
# perf of this host decodes what the patched perf of the guest has recorded: its instructions are those
# of QEMU's witness and of ntrace, its branches those that ntrace exports.
series=perf
# shellcheck source=selftests/patches/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=selftests/tools/truth_common.sh
. selftests/tools/truth_common.sh
ok "the source: $(git -C "$source" log -1 --format=%s)" fresh || done_testing
export LD_LIBRARY_PATH=$top/build

# ---- builds ----
# Only what the tests need: libelf, libdw, zlib, zstd, liblzma.
plain=(NO_LIBPYTHON=1 NO_LIBTRACEEVENT=1 NO_LIBBPF=1 NO_JEVENTS=1 BUILD_BPF_SKEL=0 NO_JVMTI=1 NO_SLANG=1 NO_CAPSTONE=1 NO_LIBLLVM=1
	NO_LIBNUMA=1 NO_RUST=1 NO_SHELLCHECK=1 NO_BACKTRACE=1 NO_DEMANGLE=1)
mkdir -p "$objects"/{x86,plain,riscv64,lib/x86/lib,lib/riscv64/lib}
for host in x86 riscv64; do
	ln -sfn "$top/lib/include" "$objects/lib/$host/include"
done
cp build/libntrace.a "$objects/lib/x86/lib/"
cp build/riscv64/libntrace.a "$objects/lib/riscv64/lib/"
# gcc 12 calls functions for atomic operations on small words.
cross=$objects/riscv64-cc
printf '#!/bin/sh\nexec %q "$@" -l:libatomic.a\n' "$(tools/setup/cross)" >"$cross"
chmod +x "$cross"
# A single object has no library built before it, whose headers it may need. What the compiler and the libraries can do is tested
# once, not for each object; the result does not contain libntrace.
pmake() {
	local features=$objects/$1/FEATURE-DUMP
	[[ $1 = plain* && -e $features ]] || features=''
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$work/tools/perf" O="$objects/$1" -j"${JOBS:-$(nproc)}" "${plain[@]}" \
		${features:+FEATURES_DUMP="$features"} EXTRA_CFLAGS="-I$work/tools/lib" "${@:2}"
}
forget_features() { rm -f "$objects"/*/FEATURE-DUMP; }
of_host() { pmake x86 LIBNTRACE=1 LIBNTRACE_DIR="$objects/lib/x86" "$@"; }
of_guest() { pmake riscv64 LIBNTRACE=1 LIBNTRACE_DIR="$objects/lib/riscv64" ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- CC="$cross" HOSTCC=gcc "$@"; }

# The objects of the C files that the last patch touches; a header stands for all of the series.
compiles() {
	local file object bad=0
	while read -r file; do
		object=${file#tools/perf/}
		[[ $file = tools/perf/*.c ]] || continue
		case $file in
		# The rule for a name in the tree takes some folders only.
		*/arch/riscv/*) of_guest_plain "$objects/plain-riscv64/${object%.c}.o" ;;
		*/util/ntrace.c) of_host "${object%.c}.o" ;;
		*) pmake plain "${object%.c}.o" ;;
		esac || bad=1
	done < <(git -C "$work" diff --name-only HEAD~1)
	return "$bad"
}
# Before the patch that adds the option, make does not know it.
of_guest_plain() { pmake plain-riscv64 ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- CC="$cross" HOSTCC=gcc "$@"; }
mkdir -p "$objects/plain-riscv64"
forget_features
for patch in "${patches[@]}"; do
	name=${patch##*/}
	ok "$name applies" apply "$patch" || done_testing
	git -C "$work" diff --quiet HEAD~1 -- tools/build tools/perf/Makefile.config || forget_features
	ok "$name compiles" compiles
	ok "$name: checkpatch --strict" "$work/scripts/checkpatch.pl" --strict --quiet --no-tree "$top/$patch"
done
ok "perf of this host" of_host || done_testing
ok "perf of the guest" of_guest || done_testing
perf=$objects/x86/perf
like "it names its decoder" 'libntrace: \[ on' "$("$perf" version --build-options)"

# ---- other drivers ----
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id -o "$tmp/demo" Documentation/examples/demo.S
for name in encode recording; do
	gcc -std=c11 -I lib/include "Documentation/examples/$name.c" -L build -lntrace -o "$tmp/$name"
done
"$tmp/encode" "$tmp/once" >/dev/null
size=$(stat -c %s "$tmp/once")
for ((i = 0; i < 200; i++)); do cat "$tmp/once"; done >"$tmp/trace"
"$tmp/recording" "$tmp/dir" "$tmp/demo" $((200 * size)) && cp "$tmp/trace" "$tmp/dir/aux.0"
made() { python3 selftests/lib/aux_file.py "$tmp/dir" "$tmp/file" "$@" event=42; }
pcs() { "$perf" script -f --itrace=i1i -F ip "$@" 2>"$tmp/messages" | sed 's/^ */0x/'; }
build/ntrace decode --level pc "$tmp/dir" 2>/dev/null | grep ^0x >"$tmp/expected"
same() {
	made "${@:2}"
	pcs -i "$tmp/file" >"$tmp/got"
	ok "$1: $(wc -l <"$tmp/expected") instructions" cmp "$tmp/expected" "$tmp/got" || diag "$(tail -n 3 "$tmp/messages")"
}
same "the proposed block" bytes task=42 piece=100 half=lower
same "the number of harts in the lower half" bytes task=42 piece=100
same "with parameters of a later version" bytes task=42 params=20
same "rvtrace" rvtrace task=42 piece=100
same "rvtrace: the trace of a thread, wherever it runs" rvtrace task=42 cpu=no piece=37
same "SpacemiT: frames" spacemit task=42 piece=100 sync=yes
# The same messages with SRC and timestamps, of which such a file says nothing: perfconfig does.
dialect=srcbits=2,dialect=sifive-v0,tsbits=40
build/ntrace dump --lossless "$tmp/once" | python3 -c '
import json, sys
for time, line in enumerate(sys.stdin):
    message = json.loads(line)
    if message["type"] == "message":
        print(json.dumps({"tcode": message["tcode"], "SRC": 2, "TSTAMP": 5 * time, **message["fields"]}))' >"$tmp/v0.json"
build/ntrace assemble --params "$dialect" -o "$tmp/v0" "$tmp/v0.json"
for ((i = 0; i < 200; i++)); do cat "$tmp/v0"; done >"$tmp/dir/aux.0"
printf '[ntrace]\n\tparams = "%s"\n' "$dialect" >"$tmp/perfconfig"
PERF_CONFIG=$tmp/perfconfig same "SiFive's series on rvtrace" rvtrace task=42 piece=100
pcs -i "$tmp/file" >"$tmp/got"
fails "SiFive's series on rvtrace: without perfconfig it is another trace" differ cmp "$tmp/expected" "$tmp/got"
cp "$tmp/trace" "$tmp/dir/aux.0"
errors() { "$perf" script -i "$tmp/file" --itrace="$1" 2>/dev/null | grep -c 'Lost trace data'; }
made bytes task=42 piece=100 flags=3:1
is "$(errors e) $(errors e-l)" "1 0" "a piece that is truncated is one error, which e-l leaves out"
made bytes task=42 piece=100 hole=3
is "$(errors e)" 1 "so are bytes that the file does not have"
# refused TEXT PATTERN OPTION...: perf's status is that of the kernel, -errno
refused() {
	made bytes task=42 "${@:3}"
	like "$1 is refused" "$2" "$("$perf" script -i "$tmp/file" --itrace=i1i 2>&1 >/dev/null && echo accepted)"
}
refused "E-Trace" 'only N-Trace' format=2
refused "a SRC of 99 bits" 'parameters out of range' src=99:0
refused "half a block" 'invalid AUXTRACE_INFO' words=1,2
made bytes task=42
like "the block and the messages are printed" 'SRC bits .*ProgTraceSync' "$("$perf" script -D -i "$tmp/file" 2>/dev/null | tr '\n' ' ')"
warned() { "$perf" report --stdio -i "$tmp/file" --itrace=i1i 2>&1 | grep -c 'No instruction was decoded'; }
made bytes task=42
is "$(warned)" 0 "no warning if there are instructions"
head -c $((200 * size)) /dev/zero | tr '\0' '\377' >"$tmp/dir/aux.0"
made bytes task=42
is "$(warned)" 1 "a profile that is empty is not silent: a trace of nothing but marks of gaps"

# ---- recordings ----
guest_job task patches/perf.sh task
truth_boot one --icount --smp 1 --put "$objects/riscv64/perf:/root/perf"
log=$tmp/log.0
guest_ran task || done_testing
data=$results/task/p.data
build/oracle/log_print "$log" 0- | awk '$3 == "U" { print "0x" $1 }' >"$tmp/witness"
pcs --symfs "$sysroot" -i "$data" >"$tmp/task"
build/ntrace decode --level pc --sysroot "$sysroot" "$data" 2>/dev/null | grep ^0x >"$tmp/ours"
ok "task: $(wc -l <"$tmp/task") instructions, as ntrace decodes them" cmp "$tmp/ours" "$tmp/task"
ok "task: they are many" test "$(wc -l <"$tmp/task")" -gt 1000000
# perf.data does not have the code of the vDSO.
"$perf" script -i "$data" --show-mmap-events --show-task-events 2>/dev/null | grep PERF_RECORD >"$tmp/maps"
vdso() {
	python3 -c '
import re, sys
vdso = set()
for line in open(sys.argv[1]):
    found = re.search(r"\[(0x\w+)\((0x\w+)\) .*\[vdso\]", line)
    if found:
        vdso.add(int(found.group(1), 16) >> 12)
for line in sys.stdin:
    if int(line, 16) >> 12 not in vdso:
        sys.stdout.write(line)' "$tmp/maps"
}
ok "task: all that the witness has seen but the vDSO" cmp <(vdso <"$tmp/witness") "$tmp/task"
diag "$(($(wc -l <"$tmp/witness") - $(wc -l <"$tmp/task"))) others in the vDSO"
sed '1000d' "$tmp/task" >"$tmp/falsified"
fails "task: an instruction less is found" differ cmp <(vdso <"$tmp/witness") "$tmp/falsified"

edges() { python3 selftests/patches/host/edges.py "$tmp/maps" "$tmp/csv" truth_load "$1"; }
build/ntrace export -f csv -u -b truth_load --sysroot "$sysroot" -o "$tmp/csv" "$data" 2>/dev/null
branches() { "$perf" script --symfs "$sysroot" -i "$data" --itrace=b -F pid,ip,addr 2>/dev/null | edges branches; }
ok "task: branches as often as ntrace export counts them" branches && diag "$(<"$tmp/.ok")"
for file in root/selftests/tools/truth_load lib/riscv64-linux-gnu/libc.so.6 lib/ld-linux-riscv64-lp64d.so.1; do
	"$perf" --buildid-dir "$tmp/ids" buildid-cache -a "$(readlink -f "$sysroot/$file")" >/dev/null 2>&1
done
ok "perf inject" "$perf" --buildid-dir "$tmp/ids" inject -i "$data" -o "$tmp/injected" --itrace=i100il --strip
stacks() { "$perf" --buildid-dir "$tmp/ids" script -i "$tmp/injected" -F pid,brstack 2>/dev/null | edges stacks; }
ok "perf inject: its branch stacks have the branches of ntrace export" stacks
# Between the branches of a stack, each instruction was executed.
insns() { "$perf" --buildid-dir "$tmp/ids" script -i "$tmp/injected" -F brstackinsn,brstackinsnlen 2>/dev/null; }
insns >"$tmp/insns"
# An ecall is the source of a branch, but does not retire, so that the list has none.
awk '/insn: / && !/insn: 73 00 00 00/ { print "0x" $1 }' "$tmp/insns" | sed 's/0x0*/0x/' | sort -u >"$tmp/printed"
ok "brstackinsn: $(wc -l <"$tmp/printed") places of $(grep -c 'insn: ' "$tmp/insns") instructions" test "$(wc -l <"$tmp/printed")" -ge 1000
is "$(comm -23 "$tmp/printed" <(sort -u "$tmp/task") | wc -l) $(grep -c mismatch "$tmp/insns")" "0 0" \
	"brstackinsn: all of them were executed, and each block ends at its branch"
is "$(awk '/insn: / { for (i = 3; $i ~ /^[0-9a-f][0-9a-f]$/; i++); if ($i != "ilen:" || $(i + 1) != i - 3) print }' "$tmp/insns" | wc -l)" 0 \
	"brstackinsnlen: the length of the bytes"
report() { "$perf" report --symfs "$sysroot" -i "$data" --itrace="$1" --stdio --no-children -s sym 2>/dev/null | tr '\n' ' '; }
like "perf report" '[0-9]+\.[0-9]+% +\[\.\] compute' "$(report i1000i)"
like "perf report with call chains" 'compute.*main' "$(report i1000ig)"
is "$("$perf" script --symfs "$sysroot" -i "$data" --insn-trace 2>/dev/null | grep -c 'insn: ')" "$(wc -l <"$tmp/task")" \
	"perf script --insn-trace has each instruction with its bytes"

# ---- options of --itrace ----
# events OPTIONS [FIELDS [OPTION...]]: what perf script prints
events() { "$perf" script --symfs "$sysroot" -i "$data" --itrace="$1" -F "${2:-ip}" "${@:3}" 2>/dev/null; }
all=$(wc -l <"$tmp/task")
is "$(events i1000i | wc -l)" $((all / 1000)) "i1000i: every 1000th instruction"
is "$(events i1is10 | wc -l)" $((all - 10)) "s: the first events are left out"
is "$(events x | wc -l)" 0 "x: there are no transactions"
is "$(events i1us | wc -l)" $((all / 1000)) "i1us: an instruction is a nanosecond"
is "$(events i1000iywpoIqAZGL | wc -l)" $((all / 1000)) "y, w, p, o, I, q, A, Z, G, L: no effect"
"$perf" script -D -i "$data" 2>/dev/null | awk '/: PERF_RECORD_AUX / { print $2 }' | sort -u >"$tmp/times"
events i1000i time --ns | tr -d ' .:' | sed 's/^0*//' | sort -u >"$tmp/got"
is "$(comm -13 "$tmp/times" "$tmp/got" | wc -l)" 0 "times: $(wc -l <"$tmp/got"), all those of PERF_RECORD_AUX"
ok "times: they are many" test "$(wc -l <"$tmp/got")" -ge 10
events b flags,ip,addr >"$tmp/branches"
is "$(events c | wc -l) $(events r | wc -l)" \
	"$(grep -cE 'call|int|tr end' "$tmp/branches") $(grep -cE 'ret|tr strt' "$tmp/branches")" "c, r: calls and returns among the branches"
traced() { "$perf" script --symfs "$sysroot" -i "$data" "$1" 2>/dev/null | grep -vc 'instruction trace error'; }
is "$(traced --call-trace)" "$(events c | wc -l)" "--call-trace: the events of c"
is "$(traced --call-ret-trace)" "$(events cr | wc -l)" "--call-ret-trace: the events of cr"
program=$top/build/riscv64/selftests/tools/truth_load
is "$(events c ip,addr,sym | grep -cE '=> +[0-9a-f]+ +by_value')" "$(python3 selftests/patches/host/calls.py "$tmp/csv" "$program" by_value)" \
	"c: a function is called as often as ntrace export counts"
is "$(events i1000il brstack | grep -c 0x)" $((all / 1000)) "l: each sample has a branch stack"

# ---- consumers ----
# The profile of sampled branch stacks, and that of all of the trace, as the same program reads them.
llvm=/usr/lib/llvm-19/bin
export_as() { build/ntrace export -f "$1" -u -b truth_load --sysroot "$sysroot" -o "$tmp/$1" "$data" 2>/dev/null; }
agree() { python3 selftests/patches/host/profiles.py "$@"; }
"$perf" --buildid-dir "$tmp/ids" inject -i "$data" -o "$tmp/sampled" --itrace=i1000il --strip 2>/dev/null
export_as profgen
"$perf" --buildid-dir "$tmp/ids" script -i "$tmp/sampled" -F ip,brstack --show-mmap-events 2>/dev/null >"$tmp/sampled.script"
# llvm_profgen NAME COMMAND
llvm_profgen() {
	"$2" --format=text --unsymbolized-profile="$tmp/profgen" --binary="$program" --output="$tmp/$1.all" >/dev/null 2>&1
	"$2" --format=text --perfscript="$tmp/sampled.script" --binary="$program" --output="$tmp/$1.sampled" >/dev/null 2>&1
	ok "$1: the same of perf inject as of ntrace export" agree "$tmp/$1.all" "$tmp/$1.sampled" && diag "$(<"$tmp/.ok")"
	sed '/^by_value/,$d' "$tmp/$1.sampled" >"$tmp/falsified"
	fails "$1: a function less is found" 'missing' agree "$tmp/$1.all" "$tmp/falsified"
}
llvm_profgen llvm-profgen-19 "$llvm/llvm-profgen"
if newest=$(tools/setup/private forky usr/lib/llvm-22/bin/llvm-profgen llvm-22 2>"$tmp/private"); then
	llvm_profgen llvm-profgen-22 "$newest"
else
	diag "$(tail -n 3 "$tmp/private")"
	skip "llvm-profgen 22" "no llvm-22 of Debian forky in reach"
fi
# create_llvm_prof ignores DWARF 5.
mkdir "$tmp/dwarf4"
build/riscv64/cc -std=c11 -D_GNU_SOURCE -O2 -g -gdwarf-4 -I selftests/lib -I selftests/include -I lib/include selftests/tools/guest/truth_load.c \
	-o "$tmp/dwarf4/truth_load"
code() { riscv64-linux-gnu-objcopy -O binary -j .text "$1" /dev/stdout; }
ok "the program with DWARF 4 has the same code" cmp <(code "$program") <(code "$tmp/dwarf4/truth_load")
# Packages newer than that of Debian 12 are built without LLVM.
if autofdo=$(tools/setup/private bookworm usr/bin/create_llvm_prof autofdo 2>"$tmp/private"); then
	export_as autofdo
	llvm_prof() { setarch -R "$autofdo" --format=text --binary="$tmp/dwarf4/truth_load" "$@" >"$tmp/llvm_prof" 2>&1; }
	llvm_prof --profiler=text --profile="$tmp/autofdo" --out="$tmp/autofdo.all"
	ok "create_llvm_prof reads the file of perf inject" llvm_prof --profile="$tmp/sampled" --out="$tmp/autofdo.sampled" ||
		diag "$(tail -n 5 "$tmp/llvm_prof")"
	ok "create_llvm_prof: the same of perf inject as of ntrace export" agree "$tmp/autofdo.all" "$tmp/autofdo.sampled" &&
		diag "$(<"$tmp/.ok")"
	LC_ALL=C sed '/^by_value/,$d' "$tmp/autofdo.sampled" >"$tmp/falsified"
	fails "create_llvm_prof: a function less is found" '[1-9][0-9]* differ' agree "$tmp/autofdo.all" "$tmp/falsified"
else
	diag "$(tail -n 3 "$tmp/private")"
	skip "create_llvm_prof" "no autofdo of Debian 12 in reach"
fi
for name in range lost thread snapshot cpus refused shell; do
	guest_job $name patches/perf.sh $name
done
tmp_one=$tmp
guest_boot two --tools --modules --smp 2 --put "$objects/riscv64/perf:/root/perf" --put "$work/tools/perf/tests/shell/test_ntrace.sh:/root/test_ntrace.sh"
tmp=$tmp_one
# The command prints one AUX area after the other, perf the pieces of all areas by their times.
by_area() {
	local cpu only
	: >"$tmp/messages.all"
	for cpu in $("$perf" script -D -i "$data" 2>/dev/null | awk '/: PERF_RECORD_AUXTRACE / && !seen[$NF]++ { print $NF }'); do
		only=(-C "$cpu")
		[ "$cpu" -ge 0 ] || only=()
		pcs --symfs "$sysroot" "${only[@]}" -i "$data"
		cat "$tmp/messages" >>"$tmp/messages.all"
	done
}
for name in range thread lost; do
	guest_ran $name || continue
	data=$results/$name/p.data
	build/ntrace decode --level pc --sysroot "$sysroot" "$data" 2>/dev/null | grep ^0x >"$tmp/ours"
	by_area >"$tmp/got"
	ok "$name: $(wc -l <"$tmp/got") instructions, as ntrace decodes them" cmp "$tmp/ours" "$tmp/got"
	ok "$name: they are many" test "$(wc -l <"$tmp/got")" -gt 10000
done
if guest_ran range; then
	is "$("$perf" script --symfs "$sysroot" -f -i "$results/range/p.data" --itrace=i1i -F ip,sym 2>/dev/null | awk '{ print $2 }' | sort -u)" \
		by_value "range: nothing but the function"
fi
if guest_ran lost; then
	like "lost: perf says so" 'AUX data had gaps in it [0-9]+ times? out of [0-9]+' "$(<"$tmp/messages.all")"
	ok "lost: the errors say so" test "$("$perf" script --symfs "$sysroot" -i "$results/lost/p.data" --itrace=e 2>/dev/null | grep -c 'Lost trace data')" -ge 1
fi
if guest_ran snapshot; then
	pcs --symfs "$sysroot" -i "$results/snapshot/p.data" >"$tmp/got"
	ok "snapshot: instructions of the last trace" test "$(wc -l <"$tmp/got")" -gt 10000
	# A slow host may be late to drain the sink: the kernel marks that.
	"$perf" script -D -i "$results/snapshot/p.data" 2>/dev/null | grep -oE 'PERF_RECORD_AUX offset.*\[.*\]' >"$tmp/pieces"
	ok "snapshot: the pieces are of an area that is overwritten" grep -q '\[.*O.*\]' "$tmp/pieces"
	is "$(grep -c '\[.*T.*\]' "$tmp/pieces")" 0 "snapshot: nothing was truncated"
	ok "snapshot: what is overwritten is no error" \
		test "$("$perf" script --symfs "$sysroot" -i "$results/snapshot/p.data" --itrace=e 2>/dev/null | grep -c 'Lost trace data')" -le "$(grep -c '\[.*P.*\]' "$tmp/pieces")"
fi
if guest_ran cpus; then
	"$perf" script -f --symfs "$sysroot" -i "$results/cpus/p.data" --itrace=i1000i -F comm,ip,sym 2>/dev/null >"$tmp/got"
	ok "cpus: user space and kernel of the program, and idle" \
		test "$(grep -cE 'truth_load +[0-9a-f]+ +(compute|by_value)' "$tmp/got")" -ge 10 -a "$(grep -c '^ *swapper' "$tmp/got")" -ge 1
fi
done_testing
