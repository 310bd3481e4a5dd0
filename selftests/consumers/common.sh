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

# kept NAME KEY COMMAND...: sets $kept to a directory that COMMAND, called with a new one behind its arguments,
# has filled, now or earlier for the same KEY. Of tests that run at the same time one makes it.
kept() {
	local dir=$top/build/$1 lock new status=0
	kept=$dir/$2
	exec {lock}>"$dir.lock"
	flock "$lock"
	if [ ! -d "$kept" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		new=$(mktemp -d "$dir/.XXXXXX")
		"${@:3}" "$new" && mv -T "$new" "$kept" || status=$?
	fi
	exec {lock}>&-
	return $status
}
# key_of FILE...: for what is made of them in the guest.
key_of() {
	{
		cat "$@" selftests/consumers/common.sh tools/vsoc/run build/guest.env build/riscv64/ntrace build/kernel/ntrace/*.ko
		readlink -f build/qemu
	} | sha256sum | cut -c1-16
}
# guest_files DIR: the files of the guest in DIR, for --sysroot, with the directories for more.
guest_files() {
	mkdir "$1"
	cp -as "$(tools/vsoc/run --print-sysroot)/." "$1/"
	mkdir -p "$1/root" "$1/usr/local/bin"
}

# record_calculator: sets $recorded to a directory with program/calculator.c traced in the guest under
# the eyes of the witness: calculator, recording/, the witness' log as text, maps, and executed (see
# host/executed.py); and $root to the files of the guest, for --sysroot. In $recorded/gcc is the same
# of a program that GCC made of it, with functions inlined. The first test that wants it
# makes the recordings, and again when something has changed that they are made with.
record_calculator() {
	local source=selftests/consumers/program/calculator.c
	kept consumers "$(key_of "$source" selftests/consumers/host/executed.py build/plugin/exec_log.so)" \
		make_recording "$source" || return
	recorded=$kept
	root=$tmp/root
	guest_files "$root"
	cp "$recorded/calculator" "$recorded/gcc/inlined" "$root/root/"
	cp "$recorded/ntrace" "$root/usr/local/bin/"
}
# chrt: the parent does not get the hart in the middle of exec(), which is the harder case for who
# decodes: no switch is between the old program and the new one.
make_recording() {
	local dir=$2
	mkdir "$dir/gcc"
	compile "$1" "$dir/calculator" || return
	# DWARF 4 for create_gcov, too.
	build/riscv64/cc -O2 -g -gdwarf-4 -DNOINLINE= "$1" -o "$dir/gcc/inlined" || return
	cp build/riscv64/ntrace build/plugin/exec_log.so "$dir/"
	tools/vsoc/run --quiet --smp 1 --icount --check-dmesg --modules \
		--put "$dir/calculator:/root/calculator" --put "$dir/gcc/inlined:/root/inlined" \
		--put "$dir/ntrace:/usr/local/bin/ntrace" --plugin "$dir/exec_log.so,out=$dir/log" \
		--get "/tmp/recording:$dir" --get "/tmp/gcc/recording:$dir/gcc" -- sh -c 'mkdir /tmp/gcc &&
		chrt -b 0 ntrace record --privilege u -o /tmp/recording -- /root/calculator 200 &&
		ntrace record --privilege u -o /tmp/gcc/recording -- /root/inlined 200' || return
	witnessed "$dir/calculator" "$dir/log.0" 0 "$dir" && witnessed "$dir/gcc/inlined" "$dir/log.0" 1 "$dir/gcc"
}
# witnessed PROGRAM LOG SECTION DIR: maps, log and executed of the recording in DIR.
witnessed() {
	perf script -i "$4/recording" --show-mmap-events 2>/dev/null | grep MMAP2 >"$4/maps" || return
	build/oracle/log_print "$2" "$3" >"$4/log" || return
	python3 selftests/consumers/host/executed.py "$4/maps" "$1" <"$4/log" >"$4/executed"
}

# record_timed: sets $timed to a directory with program/timed.c traced with time stamps on two harts, in
# user and kernel: timed, recording/, and said, what the program says by the guest's clock; and $timed_root
# to the files of the guest. Kept likewise.
record_timed() {
	kept consumers-timed "$(key_of selftests/consumers/program/timed.c)" make_timed || return
	timed=$kept
	timed_root=$tmp/timed_root
	guest_files "$timed_root"
	cp "$timed/timed" "$timed_root/root/"
	cp "$timed/ntrace" "$timed_root/usr/local/bin/"
}
make_timed() {
	build/riscv64/cc -D_GNU_SOURCE -O2 -g -pthread selftests/consumers/program/timed.c -o "$1/timed" &&
		cp build/riscv64/ntrace "$1/" &&
		tools/vsoc/run --quiet --smp 2 --icount --check-dmesg --modules \
			--put "$1/timed:/root/timed" --put "$1/ntrace:/usr/local/bin/ntrace" --get "/tmp/recording:$1" -- \
			ntrace record --quiet --timestamps any -o /tmp/recording -- /root/timed >"$1/said"
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
