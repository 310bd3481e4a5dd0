#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Forms of DWARF, by GCC and clang: versions 4 and 5, .dwo and .dwp files, what dwz shares, compressed sections, LTO. Each is read by
# the libdw of this machine and by that of the other Debian suite (bookworm has 0.188, trixie 0.192). The lines and functions are
# those of the plain form, or the library says what it could not read; it never ends in silence or with a signal.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
gcc -std=c11 -I "$top/lib/include" "$top/selftests/tools/host/print_lines.c" -L "$top/build" -lntrace -o "$tmp/print_lines" || exit 1

# The other suite's libdw: a newer one needs its own C library, an older one runs with this machine's.
other=trixie
grep -qx VERSION_CODENAME=bookworm /etc/os-release || other=bookworm
if ! reader=$("$top/tools/setup/private" $other usr/bin/eu-readelf elfutils 2>"$tmp/said"); then
	not_ok "the libdw of Debian $other" "$(tail -n 3 "$tmp/said")"
	done_testing
fi
root=${reader%/command/*}
library=$(cd "$root" && find -L usr/lib -maxdepth 2 -name libdw.so.1 -print -quit)
library=$root/${library%/*}
mkdir "$tmp/older"
ln -s "$library"/lib{dw,elf}.so.1 "$tmp/older/"
# with here|other COMMAND...: runs it with that libdw.
with() {
	if [ "$1" = here ]; then
		LD_LIBRARY_PATH=$top/build timeout 60 "${@:2}"
	elif [ $other = bookworm ]; then
		LD_LIBRARY_PATH=$tmp/older:$top/build timeout 60 "${@:2}"
	else
		timeout 60 "$(find -L "$root/lib" -maxdepth 2 -name 'ld-linux*.so.*' -print -quit)" \
			--library-path "$library:$root/lib/${library##*/}:$top/build" "${@:2}"
	fi
}

mkdir "$tmp/work"
cd "$tmp/work" || exit 1
cat >shared.h <<'END'
static inline __attribute__((always_inline)) long inl(long a)
{
	if (a % 3 == 0)
		__asm__ volatile("nop");
	return a + 1;
}
END
cat >first.c <<'END'
#include "shared.h"
static __attribute__((noinline)) long leaf(long a) { __asm__ volatile(""); return a * 3 + 1; }
long other(long a);
void _start(void)
{
	long sum = 0;
	for (long i = 0; i < 5; i++)
		sum += inl(i) + leaf(i) + other(i);
	__asm__ volatile("ebreak" ::"r"(sum));
	for (;;)
		;
}
END
cat >second.c <<'END'
#include "shared.h"
struct pair { long a, b; };
long other(long a)
{
	struct pair pair = { a, a };
	return pair.a & 1 ? inl(pair.b) : inl(a + 2) * 3;
}
END
# with_gcc PROGRAM FLAGS..., with_clang PROGRAM FLAGS...: compiles it, with -g. The linker does not shorten code: it cannot correct
# ranges of addresses in .dwo files, which GCC 14 writes as distances.
with_gcc() {
	riscv64-linux-gnu-gcc -march=rv64gc -O2 -g -ffreestanding -nostdlib -static -Wl,--build-id,--no-relax "${@:2}" first.c second.c -o "$1"
}
with_clang() {
	local name
	for name in first second; do
		clang --target=riscv64-linux-gnu -march=rv64gc -O2 -g -ffreestanding "${@:2}" -c "$name.c" -o "$name.o" || return
	done
	riscv64-linux-gnu-ld --build-id first.o second.o -o "$1"
}
# compress FROM TO: with zstd, as newer toolchains do by default
compress() { llvm-objcopy-19 --compress-debug-sections=zstd "$1" "$2"; }
# share FROM TO FILE OPTION...: moves what two copies of a program have in common to FILE
share() { cp "$1" "$2" && cp "$1" "$2.twin" && dwz "${@:4}" -m "$3" -M "$PWD/$3" "$2" "$2.twin"; }
# dwp PROGRAM: puts its .dwo files into a .dwp file
dwp() { llvm-dwp-19 -e "$1" -o "$1.dwp" && rm "$1"-*.dwo; }

# reads TEXT PROGRAM PLAIN LIBDW: has the lines and functions of PLAIN, or a reason of the library why not.
reads() {
	local text="$1, libdw: $4" version
	with "$4" "$tmp/print_lines" "$2" >"$tmp/got" 2>&1
	if [ $? -gt 1 ]; then
		not_ok "$text" "$(<"$tmp/got")"
	elif [ "$4" = "$newer" ] || ! grep -q '^missing: ' "$tmp/got"; then
		ok "$text" cmp "$tmp/got" "$tmp/$3.lines"
	else
		version=$(sed -nE 's/^missing: .*libdw (0\.[0-9]*) (does not read|finds no unit) .*/\1/p' "$tmp/got")
		ok "$text: says that version '$version' does not read it" test -n "$version"
	fi
}
newer=other
[ $other = trixie ] || newer=here

for version in 4 5; do
	for compiler in gcc clang; do
		plain=$compiler$version
		ok "$compiler -gdwarf-$version" "with_$compiler" $plain -gdwarf-$version
		with here "$tmp/print_lines" $plain >"$tmp/$plain.lines"
		# The declaration of each function, in whatever unit it is.
		is "$(grep -o ' [a-z_]* [a-z.]*:[0-9]*' "$tmp/$plain.lines" | sort -u | tr '\n' ';')" \
			" _start first.c:4; inl shared.h:1; leaf first.c:2; other second.c:3;" "its functions"
		compress $plain $plain.zstd || not_ok "compression"
		for libdw in here other; do
			reads "$plain, plain" $plain $plain $libdw
			reads "$plain, zstd" $plain.zstd $plain $libdw
		done
	done
	plain=gcc$version
	# dwz does not know all sections of clang.
	share $plain $plain.dwz shared$plain >"$tmp/said" 2>&1 || not_ok "dwz" "$(<"$tmp/said")"
	with_gcc $plain.zlib -gdwarf-$version -gz=zlib
	with_gcc $plain.split -gdwarf-$version -gsplit-dwarf
	with_gcc $plain.package -gdwarf-$version -gsplit-dwarf
	dwp $plain.package || not_ok "llvm-dwp-19"
	with_gcc $plain.lto -gdwarf-$version -flto
	for libdw in here other; do
		reads "$plain, dwz" $plain.dwz $plain $libdw
		reads "$plain, zlib" $plain.zlib $plain $libdw
		reads "$plain, .dwo" $plain.split $plain $libdw
		reads "$plain, .dwp" $plain.package $plain $libdw
		with $libdw "$tmp/print_lines" $plain.lto >"$tmp/got"
		is "$(grep -o ' [a-z_]* [a-z.]*:[0-9]*' "$tmp/got" | sort -u | tr '\n' ';')" \
			" _start first.c:4; inl shared.h:1; leaf first.c:2; other second.c:3;" "$plain, LTO, libdw: $libdw: its functions"
	done
done

# DWARF 5 has a section of its own for what dwz shares, .debug_sup. And files of others: types before the unit, sections that
# only a newer libdw unpacks.
share gcc5 gcc5.sup supplement --dwarf-5 >"$tmp/said" 2>&1 || not_ok "dwz --dwarf-5" "$(<"$tmp/said")"
share gcc5 gcc5.packed packed || not_ok "dwz"
compress packed packed || not_ok "a compressed file of dwz"
with_gcc gcc5.types -gdwarf-5 -gsplit-dwarf -fdebug-types-section
with_gcc gcc5.dwo -gdwarf-5 -gsplit-dwarf
for name in gcc5.dwo-*.dwo; do compress "$name" "$name"; done
for libdw in here other; do
	reads "dwz --dwarf-5" gcc5.sup gcc5 $libdw
	is "$(grep -c '^missing' "$tmp/got")" 0 "dwz --dwarf-5: all of it"
	reads "dwz, zstd" gcc5.packed gcc5 $libdw
	reads ".dwo, zstd" gcc5.dwo gcc5 $libdw
	like "types before the split unit: which file, libdw: $libdw" '^missing: .*gcc5.types-second.dwo: libdw .*-fdebug-types-section' \
		"$(with $libdw "$tmp/print_lines" gcc5.types 2>&1)"
	mv supplement away.supplement
	like "a file of dwz --dwarf-5 that is not there, libdw: $libdw" "^missing: $PWD/supplement: not found" \
		"$(with $libdw "$tmp/print_lines" gcc5.sup 2>&1)"
	mv away.supplement supplement
done

# Before DWARF 4, GCC writes a form of ranges into .dwo files that libdw takes for damage.
for version in 2 3; do
	with_gcc gcc$version -gdwarf-$version -gsplit-dwarf || not_ok "DWARF $version"
	for libdw in here other; do
		like "DWARF $version, .dwo, libdw: $libdw: says what is missing" '^missing: ranges of addresses: libdw 0\.[0-9]* does not read them' \
			"$(with $libdw "$tmp/print_lines" gcc$version 2>&1)"
	done
done

# The split units are in the object files.
with_clang single -gdwarf-5 -gsplit-dwarf=single -mno-relax || not_ok "-gsplit-dwarf=single"
for libdw in here other; do
	like "-gsplit-dwarf=single, libdw: $libdw: says in which file nothing was found" "^missing: .*first.o: libdw 0\.[0-9]* finds no unit" \
		"$(with $libdw "$tmp/print_lines" single 2>&1)"
done

# What an archive has is enough, and nothing of this machine is read for it: the originals are away, then others.
gcc -std=c11 -I "$top/lib/include" "$top/selftests/tools/host/two_tasks.c" -L "$top/build" -lntrace -o "$tmp/make" || not_ok "compiled"
(mkdir absolute && cd absolute && riscv64-linux-gnu-gcc -march=rv64gc -O2 -g -gdwarf-5 -gsplit-dwarf -ffreestanding -nostdlib -static \
	-Wl,--build-id,--no-relax -I.. ../first.c ../second.c -o "$PWD/absolute") || not_ok "an absolute name"
mv gcc5.dwo-second.dwo "$tmp/"
for name in gcc4.split gcc5.split gcc5.dwz gcc5.sup gcc5.package gcc5.types gcc5.dwo absolute/absolute; do
	recording=$tmp/${name##*/}.data
	LD_LIBRARY_PATH=$top/build "$tmp/make" "$recording" "$PWD/$name" 0 0 tsbits=40 || not_ok "a recording"
	touch "$recording"/aux.{0,1}
	"$ntrace" archive "$recording" >"$recording.out" 2>&1 || not_ok "$name: archive" "$(<"$recording.out")"
done
mkdir away
mv ./*.dwo ./*.dwp sharedgcc5 supplement away/
mv absolute/*.dwo away/
archived() { with "$1" "$tmp/print_lines" "$tmp/${2##*/}.data/archive$PWD/$2" "$tmp/${2##*/}.data/archive/usr/lib/debug" 2>&1; }
for name in gcc4.split gcc5.split gcc5.dwz gcc5.sup; do
	for libdw in here other; do
		is "$(archived $libdw $name)" "$(<"$tmp/${name%.*}.lines")" "$name: the archive has all, libdw: $libdw"
	done
done
is "$(archived $newer gcc5.package | sed '/^missing/d')" "$(<"$tmp/gcc5.lines")" "gcc5.package: the archive has the .dwp file"
for name in gcc5.types-first gcc5.types-second gcc5.dwo-first; do
	ok "$name.dwo: copied, whatever this libdw reads of it" cmp "away/$name.dwo" "$tmp/${name%-*}.data/archive$PWD/$name.dwo"
done
like "a .dwo file that is not there" 'gcc5.dwo: its debug information in the archive is not complete: .*gcc5.dwo-second.dwo: not found' \
	"$(<"$tmp/gcc5.dwo.data.out")"
is "$(grep -c 'not complete' "$tmp/gcc5.split.data.out")" 0 "gcc5.split: its debug information is complete"
like "an absolute name of a .dwo file is refused" 'cannot be archived: its program names it by an absolute path' "$(<"$tmp/absolute.data.out")"
# The host's files of these names, which the recording must not show.
mv away/* .
mv absolute-*.dwo absolute/
for libdw in here other; do
	like "gcc5.types: the file in the archive is named, libdw: $libdw" "^missing: $tmp/.*/gcc5.types-second.dwo: libdw .* finds no unit" \
		"$(archived $libdw gcc5.types)"
done
for name in split/gcc5.split-first.dwo dwz; do
	find "$tmp/gcc5.${name%%/*}.data/archive" \( -name '*.dwo' -o -name '*.debug' \) -delete
	for libdw in here other; do
		like "gcc5.${name%%/*}: no file of this machine, libdw: $libdw" '^missing: .*: a file of this machine, not of the recorded one' \
			"$(archived $libdw "gcc5.${name%%/*}")"
	done
done
for libdw in here other; do
	like "absolute: no file of this machine, libdw: $libdw" '^missing: .*: a file of this machine, not of the recorded one' "$(archived $libdw absolute/absolute)"
done

# A FIFO, a device or a directory of that name is not opened.
mv gcc5.split-first.dwo sharedgcc5 away/
for kind in fifo device directory; do
	for name in gcc5.split:gcc5.split-first.dwo gcc5.split:gcc5.split.dwp gcc5.dwz:sharedgcc5; do
		case $kind in
		fifo) mkfifo "${name#*:}" ;;
		device) ln -s /dev/zero "${name#*:}" ;;
		directory) mkdir "${name#*:}" ;;
		esac
		for libdw in here other; do
			like "$kind ${name#*:}, libdw: $libdw" "^missing: .*${name#*:}: not a regular file" \
				"$(with $libdw "$tmp/print_lines" "${name%:*}" 2>&1)"
		done
		rm -r "${name#*:}"
	done
done
mv away/* .

# What is not there is named, by the commands, too.
rm gcc5.split-first.dwo sharedgcc5
for libdw in here other; do
	like "a .dwo file that is not there, libdw: $libdw" '^missing: gcc5.split-first.dwo: not found' \
		"$(with $libdw "$tmp/print_lines" gcc5.split)"
	like "a file of dwz that is not there, libdw: $libdw" "^missing: $PWD/sharedgcc5: not found" "$(with $libdw "$tmp/print_lines" gcc5.dwz)"
done
printf '0x%s\n' "$(riscv64-linux-gnu-nm gcc5.split | awk '$3 == "_start" { print $1 }')" >pcs
"$ntrace" encode --pcs pcs --elf gcc5.split --mode htm -o trace >/dev/null || not_ok "a trace"
for name in gcc5.split:gcc5.split-first.dwo gcc5.dwz:sharedgcc5; do
	"$ntrace" decode --level instruction --lines --elf "${name%:*}" trace >"$tmp/out" 2>"$tmp/err"
	like "decode --lines names ${name#*:}" "${name%:*}: a part of its debug information was not read .*${name#*:}: not found" "$(<"$tmp/err")"
done
done_testing
