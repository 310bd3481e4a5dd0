# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests that give our files to the programs they are meant for.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
cd "$top" || exit 1
# shellcheck disable=SC2034 # for the tests
llvm=/usr/lib/llvm-19/bin
mkdir -p "$tmp/bin"
PATH=$tmp/bin:$PATH

# foreign NAME SUITE PROGRAM PACKAGE: puts the program of another suite into PATH
# as NAME. Without a network, or a mirror that has it, false.
foreign() {
	local path
	path=$(tools/setup/private "$2" "$3" "$4" 2>"$tmp/foreign") || { diag "$(tail -n 3 "$tmp/foreign")"; return 1; }
	# Not a link: LLVM's programs go by the name they are called with.
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$path" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
	hash -r
}

# A file of the guest's perf needs a perf of that age: that of Debian 12 stops at
# the size of perf_event_attr.
perf_for() {
	perf script -i "$1" -F ip >/dev/null 2>&1 && return
	foreign perf trixie usr/bin/perf linux-perf && perf script -i "$1" -F ip >/dev/null
}

# clang FLAGS...: as for a program of the guest that will be profiled. DWARF 4, because
# create_llvm_prof takes 5 for nothing.
clang() {
	local library
	library=$(build/riscv64/cc -print-file-name=libc.so)
	clang-19 --target=riscv64-linux-gnu --sysroot="${library%/usr/lib/*}" -march=rv64gc -O2 -g -gdwarf-4 \
		-fdebug-info-for-profiling "$@"
}
# compile SOURCE PROGRAM: linked by GNU ld. Where lld puts two segments into one
# page, perf2bolt 19 takes the wrong one.
compile() { clang -c "$1" -o "$2.o" && build/riscv64/cc "$2.o" -Wl,-q -o "$2"; }

# guest_files DIR: the files of the guest in DIR, for --sysroot, with the directories for more.
guest_files() {
	mkdir "$1"
	cp -as "$(tools/vsoc/run --print-sysroot)/." "$1/"
	mkdir -p "$1/root" "$1/usr/local/bin"
	cp "$recordings/ntrace" "$1/usr/local/bin/"
}

# The recordings of the group, made by one boot (make_recordings); RECORDINGS names others. Each function sets a variable
# to a directory and another one to the files of the guest for --sysroot.
find_recordings() { recordings=$(selftests/consumers/make_recordings "${RECORDINGS:-consumers}"); }

# record_calculator: $recorded has program/calculator.c traced under the eyes of the witness:
# calculator, recording/, the witness's log as text, maps, and executed (see host/executed.py).
# $recorded/gcc has the same of a program that GCC made of it, with functions inlined. $root.
record_calculator() {
	find_recordings || return
	recorded=$recordings/calculator root=$tmp/root
	guest_files "$root"
	cp "$recorded/calculator" "$recorded/gcc/inlined" "$root/root/"
}
# record_timed: $timed has program/timed.c traced with timestamps, user and kernel: timed,
# recording/, and said, the processor time that the guest's kernel counted. $timed_root.
record_timed() {
	find_recordings || return
	timed=$recordings/timed timed_root=$tmp/timed_root
	guest_files "$timed_root"
	cp "$timed/timed" "$timed_root/root/"
}

# A profile of nothing is no error to most of these programs, so what they wrote is
# judged, and not how they ended.
declare -A found
# judge FORMAT ELF SCRIPT FILE: sets found[...], see host/brstack.py.
judge() {
	local key value
	found=()
	python3 selftests/consumers/host/brstack.py "$@" >"$tmp/found" 2>"$tmp/wrong" || diag "$(cat "$tmp/wrong")"
	# shellcheck disable=SC2034
	while read -r key value; do found[$key]=$value; done <"$tmp/found"
}
