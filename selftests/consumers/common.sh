# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions for tests that pass exports and recordings to the programs that read them.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
cd "$top" || exit 1
# shellcheck disable=SC2034 # for the tests
llvm=/usr/lib/llvm-19/bin
mkdir -p "$tmp/bin"
PATH=$tmp/bin:$PATH

# foreign NAME SUITE PROGRAM PACKAGE: puts the program of another suite into PATH as NAME. Fails without a network, or if the
# mirror lacks the package.
foreign() {
	local path
	path=$(tools/setup/private "$2" "$3" "$4" 2>"$tmp/foreign") || { diag "$(tail -n 3 "$tmp/foreign")"; return 1; }
	# Not a link: LLVM's programs choose their function by the name of the file.
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$path" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
	hash -r
}

# Files of the guest's perf need a perf of the same age: that of Debian 12 rejects the size of perf_event_attr.
perf_for() {
	perf script -i "$1" -F ip >/dev/null 2>&1 && return
	foreign perf trixie usr/bin/perf linux-perf && perf script -i "$1" -F ip >/dev/null
}

# clang FLAGS...: compiles a program of the guest that will be profiled. DWARF 4, because create_llvm_prof ignores DWARF 5.
clang() {
	local library
	library=$(build/riscv64/cc -print-file-name=libc.so)
	clang-19 --target=riscv64-linux-gnu --sysroot="${library%/usr/lib/*}" -march=rv64gc -O2 -g -gdwarf-4 \
		-fdebug-info-for-profiling "$@"
}
# compile SOURCE PROGRAM: linked by GNU ld. If lld puts two segments into one page, perf2bolt 19 uses the wrong one.
compile() { clang -c "$1" -o "$2.o" && build/riscv64/cc "$2.o" -Wl,-q -o "$2"; }

# guest_files DIR: has the files of the guest below DIR, for --sysroot, and creates directories for further files. Links out of
# a sysroot are not followed to files without a build-id, so they are hard links, or copies on another file system.
guest_files() {
	local files
	files=$(tools/vsoc/run --print-sysroot)
	mkdir "$1"
	cp -al "$files/." "$1/" 2>/dev/null || cp -a "$files/." "$1/"
	mkdir -p "$1/root" "$1/usr/local/bin"
	cp "$recordings/ntrace" "$1/usr/local/bin/"
}

# The recordings of the group, made by one boot (make_recordings); RECORDINGS names others. Each function sets one variable
# to the directory of a recording and one to the files of the guest for --sysroot.
find_recordings() { recordings=$(selftests/consumers/make_recordings "${RECORDINGS:-consumers}"); }

# record_calculator: $recorded has program/calculator.c, traced and logged by the witness: calculator, recording/, the
# witness's log as text, maps, and executed (see host/executed.py). $recorded/gcc has the same of a program that GCC
# compiled, with functions inlined. $root.
record_calculator() {
	find_recordings || return
	recorded=$recordings/calculator root=$tmp/root
	guest_files "$root"
	cp "$recorded/calculator" "$recorded/gcc/inlined" "$root/root/"
}
# record_timed: $timed has program/timed.c traced with timestamps, user and kernel: timed, recording/, and said, the
# processor time that the guest's kernel counted. $timed_root.
record_timed() {
	find_recordings || return
	timed=$recordings/timed timed_root=$tmp/timed_root
	guest_files "$timed_root"
	cp "$timed/timed" "$timed_root/root/"
}

# Most of these programs succeed with an empty profile, so the tests check their output and not their exit status.
declare -A found
# judge FORMAT ELF SCRIPT FILE: sets found[...], see host/brstack.py.
judge() {
	local key value
	found=()
	python3 selftests/consumers/host/brstack.py "$@" >"$tmp/found" 2>"$tmp/wrong" || diag "$(cat "$tmp/wrong")"
	# shellcheck disable=SC2034
	while read -r key value; do found[$key]=$value; done <"$tmp/found"
}
