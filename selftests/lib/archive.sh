#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace archive: an archived recording decodes to the same output on a machine without the files of the recorded one.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
examples=$top/Documentation/examples ntrace=$top/build/ntrace
export LD_LIBRARY_PATH=$top/build
machine=$tmp/machine
mkdir -p "$machine/bin" "$tmp/elsewhere"

riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id -g -o "$machine/bin/demo" \
	"$examples/demo.S" || exit 1
for name in encode recording; do
	gcc -std=c11 -I "$top/lib/include" "$examples/$name.c" -L "$top/build" -lntrace -o "$tmp/$name" || exit 1
done
"$tmp/encode" "$tmp/trace" >/dev/null
# record DIRECTORY PROGRAM
record() { "$tmp/recording" "$1" "$2" "$(stat -c %s "$tmp/trace")" && cp "$tmp/trace" "$1/aux.0"; }
# executed DIRECTORY: what was, without the notes
executed() { "$ntrace" decode --level instruction "$1" 2>/dev/null; }

record "$tmp/dir" "$machine/bin/demo"
executed "$tmp/dir" >"$tmp/expected"
is "$(grep -c 'leaf' "$tmp/expected")" 1 "what was executed, where it was recorded"
# A debug file comes along.
mkdir "$machine/bin/.debug"
riscv64-linux-gnu-objcopy --only-keep-debug "$machine/bin/demo" "$machine/bin/.debug/demo.debug"
(cd "$machine/bin/.debug" && riscv64-linux-gnu-objcopy --add-gnu-debuglink=demo.debug ../demo)
# Reading fails, or writing: the message names the file that failed.
cat >"$tmp/io_error.c" <<-'END'
	#include <errno.h>
	#include <fcntl.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static long transfer(int writes, long number, int fd, const void *buffer, size_t size)
	{
		char link[32] = "/proc/self/fd/", path[4096], *digit = link + 14;
		ssize_t length;
		if (fd >= 10)
			*digit++ = '0' + fd / 10 % 10;
		*digit++ = '0' + fd % 10;
		length = readlink(link, path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = 0;
		if (size >= 512 && writes == !strcmp(getenv("FAILING"), "write") && strstr(path, "bin/demo")) {
			errno = EIO;
			return -1;
		}
		return syscall(number, fd, buffer, size);
	}
	ssize_t read(int fd, void *buffer, size_t size) { return transfer(0, SYS_read, fd, buffer, size); }
	ssize_t write(int fd, const void *buffer, size_t size) { return transfer(1, SYS_write, fd, buffer, size); }
END
gcc -shared -fPIC -o "$tmp/io_error.so" "$tmp/io_error.c" || exit 1
fails "a program that cannot be read" "warning: $machine/bin/demo: Input/output error" env FAILING=read LD_PRELOAD="$tmp/io_error.so" "$ntrace" archive "$tmp/dir"
fails "an archive that cannot be written" "warning: $tmp/dir/archive$machine/bin/demo: Input/output error" \
	env FAILING=write LD_PRELOAD="$tmp/io_error.so" "$ntrace" archive "$tmp/dir"
"$ntrace" archive "$tmp/dir" >"$tmp/out" 2>&1
is $? 0 "ntrace archive"
like "says what it did" "2 files, .* in $tmp/dir/archive" "$(cat "$tmp/out")"
ok "the program" cmp "$machine/bin/demo" "$tmp/dir/archive/$machine/bin/demo"
ok "its debug file" cmp "$machine/bin/.debug/demo.debug" "$tmp/dir/archive/$machine/bin/.debug/demo.debug"
fails "not over another one" "archive exists: remove it first" "$ntrace" archive "$tmp/dir"
mv "$tmp/dir" "$tmp/elsewhere/"
mv "$machine" "$tmp/gone"
is "$(executed "$tmp/elsewhere/dir")" "$(cat "$tmp/expected")" "elsewhere: the same instructions"
mv "$tmp/elsewhere/dir/archive" "$tmp/elsewhere/dir/hidden"
is "$(executed "$tmp/elsewhere/dir" | grep -c leaf)" 0 "without the archive nothing is known of them"
ln -s hidden "$tmp/elsewhere/dir/archive"
is "$(executed "$tmp/elsewhere/dir")" "$(cat "$tmp/expected")" "an archive may be a link that stays in the recording"
mv "$tmp/elsewhere/dir/hidden" "$tmp/elsewhere/"
for target in ../hidden "$tmp/elsewhere/hidden"; do
	ln -sfn "$target" "$tmp/elsewhere/dir/archive"
	fails "no other link is followed: it may lead to files of this machine" "dir: archive: a link that leads out of the recording.*--sysroot" \
		"$ntrace" report "$tmp/elsewhere/dir"
done
ok "the directory can be named" "$ntrace" report --sysroot "$tmp/elsewhere/hidden" "$tmp/elsewhere/dir"
rm "$tmp/elsewhere/dir/archive"
# A system that cannot keep paths below a directory opens none there.
cat >"$tmp/no_openat2.c" <<-'END'
	#include <errno.h>
	long syscall(long number, ...) { (void)number; errno = ENOSYS; return -1; }
END
gcc -shared -fPIC -o "$tmp/no_openat2.so" "$tmp/no_openat2.c" || exit 1
for words in "--sysroot $tmp/elsewhere/hidden" ""; do
	[ -n "$words" ] || cp -r "$tmp/elsewhere/hidden" "$tmp/elsewhere/dir/archive"
	# shellcheck disable=SC2086 # an option and its argument
	fails "no openat2()" "dir: this kernel cannot open files below a directory .*Linux 5.6" \
		env LD_PRELOAD="$tmp/no_openat2.so" "$ntrace" report $words "$tmp/elsewhere/dir"
done
rm -r "$tmp/elsewhere/dir/archive"

# What is missing is said; what would leave the archive is left out.
"$ntrace" archive "$tmp/elsewhere/dir" >"$tmp/out" 2>&1
is $? 1 "a program that is gone"
like "is named" "$machine/bin/demo: No such file" "$(cat "$tmp/out")"
mkdir -p "$tmp/a" && cp "$tmp/gone/bin/demo" "$tmp/demo"
record "$tmp/sly" "$tmp/a/../demo"
"$ntrace" archive "$tmp/sly" >"$tmp/out" 2>&1
is $? 1 "a path that leads up"
like "is refused" "/a/../demo: not a path that can be archived" "$(cat "$tmp/out")"
is "$(find "$tmp/sly/archive" -type f)" "" "and nothing is written"
mkdir -p "$tmp/root$tmp" && cp "$tmp/demo" "$tmp/root$tmp/there"
record "$tmp/board" "$tmp/there"
ok "from a sysroot" "$ntrace" archive --sysroot "$tmp/root" "$tmp/board"
ok "with paths of the recorded machine" cmp "$tmp/demo" "$tmp/board/archive$tmp/there"

# A debug file that the build-id leads to, in the sysroot of a board, and one that .gnu_debuglink names. The
# program is stripped: without the debug file no function has a name.
id=$(riscv64-linux-gnu-readelf -n "$tmp/demo" | sed -n 's/.*Build ID: //p')
for key in build-id link; do
	root=$tmp/root-$key
	rm -rf "${tmp:?}/elsewhere" && mkdir -p "$root/opt" "$root/usr/lib/debug/.build-id/${id:0:2}" "$root/usr/lib/debug/opt"
	riscv64-linux-gnu-objcopy --strip-all -R .gnu_debuglink "$tmp/demo" "$root/opt/demo"
	case $key in
	build-id) debug=usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug ;;
	link) debug=usr/lib/debug/opt/other.debug ;;
	esac
	riscv64-linux-gnu-objcopy --only-keep-debug "$tmp/demo" "$root/$debug" 2>/dev/null
	if [ $key = link ]; then
		riscv64-linux-gnu-objcopy -R .note.gnu.build-id --add-gnu-debuglink="$root/$debug" "$root/opt/demo" 2>/dev/null
	fi
	record "$tmp/$key" /opt/demo
	is "$("$ntrace" decode --level instruction --sysroot "$root" "$tmp/$key" | grep -c leaf)" 1 "sysroot: names by $key"
	ok "archive: by $key" "$ntrace" archive --sysroot "$root" "$tmp/$key"
	rm -r "$root"
	is "$(executed "$tmp/$key" | grep -c leaf)" 1 "archive: names by $key"
	is "$("$ntrace" export -f lcov "$tmp/$key" 2>/dev/null | grep -c ^DA: | sed 's/^[1-9].*/lines/')" lines \
		"archive: source lines by $key"
done

# Debug files that a stranger's archive has as links: those that lead out of it are not read, in whatever part of
# the path. An absolute link means a file of the recorded machine.
mkdir -p "$tmp/outside" "$tmp/linked-root/opt"
riscv64-linux-gnu-objcopy --only-keep-debug "$tmp/demo" "$tmp/outside/other.debug"
riscv64-linux-gnu-objcopy --strip-all -R .gnu_debuglink "$tmp/demo" "$tmp/linked-root/opt/demo"
riscv64-linux-gnu-objcopy --add-gnu-debuglink="$tmp/outside/other.debug" "$tmp/linked-root/opt/demo"
cp "$tmp/outside/other.debug" "$tmp/outside/${id:2}.debug"
record "$tmp/linked" /opt/demo
ok "archive a stripped program" "$ntrace" archive --sysroot "$tmp/linked-root" "$tmp/linked"
linked=$tmp/linked/archive names=usr/lib/debug/.build-id/${id:0:2}
is "$(executed "$tmp/linked" | grep -c leaf)" 0 "stripped: no names"
for link in "opt/other.debug $tmp/outside/other.debug" "opt/other.debug ../../../outside/other.debug" \
	"opt/.debug $tmp/outside" "usr/lib/debug/opt $tmp/outside" "usr/lib/debug ../../../../outside/debug" \
	"$names/${id:2}.debug $tmp/outside/other.debug" "$names $tmp/outside"; do
	read -r place target <<<"$link"
	rm -rf "${linked:?}/usr" "$linked/opt/.debug" "$linked/opt/other.debug"
	mkdir -p "$tmp/outside/debug/opt" "$(dirname "$linked/$place")" && cp "$tmp/outside/other.debug" "$tmp/outside/debug/opt/"
	ln -s "$target" "$linked/$place"
	is "$("$ntrace" decode --level instruction "$tmp/linked" 2>"$tmp/err" | grep -c leaf)" 0 "archive: $place to $target is not followed"
	like "says why" "a debug file is not read: a link leads to it, out of the archive" "$(cat "$tmp/err")"
	is "$("$ntrace" export -f lcov "$tmp/linked" 2>/dev/null | grep -c ^DA:)" 0 "archive: nor for source lines"
	is "$("$ntrace" decode --level instruction --sysroot "$linked" "$tmp/linked" 2>/dev/null | grep -c leaf)" 1 \
		"a given sysroot may be made of links: the checksum tells"
done
for link in "opt/other.debug ../kept/other.debug" "opt/other.debug /kept/other.debug" "opt/.debug /kept" "$names/${id:2}.debug /kept/other.debug"; do
	read -r place target <<<"$link"
	rm -rf "${linked:?}/usr" "$linked/opt/.debug" "$linked/opt/other.debug"
	mkdir -p "$linked/kept" "$(dirname "$linked/$place")" && cp "$tmp/outside/other.debug" "$linked/kept/"
	ln -s "$target" "$linked/$place"
	is "$(executed "$tmp/linked" | grep -c leaf)" 1 "archive: $place to $target is the archive's own"
	is "$("$ntrace" export -f lcov "$tmp/linked" 2>/dev/null | grep -c ^DA: | sed 's/^[1-9].*/lines/')" lines "archive: its lines, too"
done

# Sources: the archive of a recording shows nothing of this machine unless asked; a sysroot's file comes first.
mkdir -p "$tmp/src" "$tmp/there/opt" "$tmp/there$tmp/src"
sed '1i # SECRET OF THIS MACHINE' "$examples/demo.S" >"$tmp/src/demo.S"
sed '1i # TEXT OF THE BOARD' "$examples/demo.S" >"$tmp/there$tmp/src/demo.S"
riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id -g -o "$tmp/there/opt/demo" \
	"$tmp/src/demo.S" || exit 1
record "$tmp/secret" /opt/demo
"$ntrace" archive --sysroot "$tmp/there" "$tmp/secret" >/dev/null
texts() { "$ntrace" report --html "$tmp/page.html" "$@" >/dev/null 2>&1; grep -ao 'SECRET\|TEXT OF' "$tmp/page.html"; rm -f "$tmp/page.html"; }
is "$(texts "$tmp/secret")" "" "archive: no text of this machine"
is "$(texts --sysroot "$tmp/there" "$tmp/secret")" "TEXT OF" "sysroot: its text, not that of this machine"
rm -r "${tmp:?}/there$tmp/src"
is "$(texts --sysroot "$tmp/there" "$tmp/secret")" SECRET "sysroot: else that of this machine"
mkdir -p "$tmp/secret/archive$tmp/src" && ln -s "$tmp/src/demo.S" "$tmp/secret/archive$tmp/src/demo.S"
is "$(texts "$tmp/secret")" "" "archive: nor by a link"

# GDB, too: no source, no script, no debug file of this machine, whatever the archive names.
printf '\004inline\nprintf "SCRIPT OF THE ARCHIVE"\n\0' >"$tmp/script"
riscv64-linux-gnu-objcopy --add-section .debug_gdb_scripts="$tmp/script" "$tmp/secret/archive/opt/demo"
debugged() { (cd "$tmp/src" && "$ntrace" gdb --run "$tmp/secret" -- -nx -batch "$@" 2>&1); }
fails "gdb: a link out of the archive" "/src/demo.S: a link that leads out of the archive" "$ntrace" gdb --run "$tmp/secret" -- -nx -batch
rm "$tmp/secret/archive$tmp/src/demo.S"
debugged -ex 'list 1,3' -ex 'info line' -ex 'show debug-file-directory' -ex 'show debuginfod enabled' >"$tmp/out"
is "$(grep -ac 'SECRET\|SCRIPT\|auto-load' "$tmp/out")" 0 "gdb --run: no text of this machine, and no script of the archive" || diag "$(cat "$tmp/out")"
like "places are known all the same" 'Line [0-9]+ of ".*demo.S"' "$(cat "$tmp/out")"
like "debug files are those of the archive" "$tmp/secret/archive/usr/lib/debug\".*Debuginfod functionality is currently set to \"off\"" "$(tr '\n' ' ' <"$tmp/out")"
like "sources of this machine, if they are asked for" SECRET "$(debugged -ex 'set source open on' -ex 'list 1,3')"

# Nor debug files that programs name, though they are those of the program: by .gnu_debuglink, as a .dwo file that lies where it was
# compiled, as what dwz shares. Without them nothing leads out.
mkdir "$tmp/named" && cd "$tmp/named" || exit 1
cat >one.c <<-'END'
	static __attribute__((noinline)) long leaf(long a) { __asm__ volatile(""); return a * 3 + 1; }
	void _start(void) { long sum = 0; for (long i = 0; i < 5; i++) sum += leaf(i); for (;;) __asm__ volatile("ebreak" ::"r"(sum)); }
END
riscv64-linux-gnu-gcc -march=rv64gc -g -nostdlib -static -Wl,--build-id -o plain one.c
riscv64-linux-gnu-gcc -march=rv64gc -g -gsplit-dwarf -nostdlib -static -Wl,--build-id -o split one.c
(cd / && riscv64-linux-gnu-gcc -march=rv64gc -g -gsplit-dwarf -nostdlib -static -o "$tmp/named/absolute" "$tmp/named/one.c")
cp plain shared && cp plain shared.twin && dwz -m "$tmp/named/common" -M "$tmp/named/common" shared shared.twin
cp plain supplement && cp plain supplement.twin && dwz --dwarf-5 -m "$tmp/named/common-5" -M "$tmp/named/common-5" supplement supplement.twin
cp plain up && cp plain up.twin && dwz -m "$tmp/named/common-up" -M ../../../common-up up up.twin
riscv64-linux-gnu-objcopy --only-keep-debug plain plain.debug
for name in debuglink debuglink-absolute; do
	[ $name = debuglink ] && debug=../../../plain.debug || debug=$tmp/named/plain.debug
	python3 -c 'import struct, sys, zlib; name = sys.argv[1].encode() + b"\0"; name += b"\0" * (-len(name) % 4)
sys.stdout.buffer.write(name + struct.pack("<I", zlib.crc32(open("plain.debug", "rb").read())))' "$debug" >debug.link
	riscv64-linux-gnu-objcopy --strip-all --add-section .gnu_debuglink=debug.link plain $name
done
record "$tmp/named/rec" /opt/demo
for name in debuglink debuglink-absolute split absolute shared supplement up; do
	rm -rf rec/archive && mkdir -p rec/archive/opt && cp "$tmp/secret/archive/opt/demo" rec/archive/opt/ && cp $name rec/archive/opt/
	fails "gdb: $name names a file outside" "/archive/opt/$name names [^ ]*/[^ ]*: GDB would search it outside the archive" \
		"$ntrace" gdb --run rec -- -nx -batch
	case $name in
	split) rm split-one.dwo ;;
	absolute) rm absolute-one.dwo ;;
	shared) rm common ;;
	supplement) rm common-5 ;;
	up) rm common-up ;;
	*) continue ;;
	esac
	ok "gdb: $name, without that file" "$ntrace" gdb --run rec -- -nx -batch
done
cd "$top" || exit 1

fails "no recording" "not a recording|no recording" "$ntrace" archive "$tmp/a"
fails "nothing to archive" "one recording is needed" "$ntrace" archive
done_testing
