#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=120
# Each file that a command opens in turn cannot be read: the output is as it was, or the command says so. Files are opened more
# than once: for code, for DWARF, for what identifies a trace.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace host=$top/selftests/tools/host
export LD_LIBRARY_PATH=$top/build
gcc -shared -fPIC -o "$tmp/failing_open.so" "$host/failing_open.c" -ldl || exit 1
gcc -std=c11 -I "$top/lib/include" "$host/two_tasks.c" -L "$top/build" -lntrace -o "$tmp/make" || exit 1
cd "$tmp" || exit 1

# A program without branches, with an inlined function.
cat >program.c <<'END'
static inline __attribute__((always_inline)) void inlined(void)
{
	__asm__ volatile("nop\n\tnop");
}
void _start(void)
{
	__asm__ volatile("nop");
	inlined();
	__asm__ volatile("nop\n\tebreak");
}
END
# recording NAME FLAGS...: of the program, with an archive
recording() {
	mkdir "$1"
	riscv64-linux-gnu-gcc -march=rv64gc -O2 -g -ffreestanding -nostdlib -static -Wl,--build-id,--no-relax,-Ttext=0x10000 "${@:2}" \
		program.c -o "$1/program" || return
	[ "$1" != linked ] || (cd linked && riscv64-linux-gnu-objcopy --only-keep-debug program program.debug &&
		riscv64-linux-gnu-objcopy --strip-all --add-gnu-debuglink=program.debug program) || return
	riscv64-linux-gnu-objdump -d "$1/program" | sed -nE 's/^ +([0-9a-f]+):.*/0x\1/p' | head -n 4 >pcs
	"$ntrace" encode --pcs pcs --elf "$1/program" --mode htm --params tsbits=40 -o trace || return
	./make "$1/r" "$PWD/$1/program" "$(stat -c %s trace)" 0 tsbits=40,mode=htm || return
	cp trace "$1/r/aux.0"
	touch "$1/r/aux.1"
	"$ntrace" archive "$1/r"
}
ok "a recording" recording whole
ok "a recording of a program with a debug file" recording linked
ok "a recording of a program with a .dwo file" recording split -gsplit-dwarf
recordings=(whole linked split)

# gives COMMAND...: sets $status, and makes the files out and err; the output is the word OUTPUT
gives() {
	rm -f output failed
	"$ntrace" "${@//OUTPUT/output}" >out 2>err </dev/null
	status=$?
	[ ! -e output ] || cat output >>out
}
formats=$("$ntrace" export --help | sed -n '/^formats:/,/^All/s/^  \([a-z, -]*[a-z]\)  .*/\1/p' | tr -d ,)
like "the formats" perf-data "$formats"
commands=("report r" "report --json r" "report --html OUTPUT r" "report --callers _start r" "report --annotate _start r"
	"count -q -o OUTPUT r" "stat r" "decode r" "decode --level instruction --lines r" "dump r")
for format in $formats; do
	case $format in
	gcov | autofdo | profgen | bolt | bolt-bf | perfscript) commands+=("export -f $format --period 1 -b program -o OUTPUT r") ;;
	*) commands+=("export -f $format --period 1 -o OUTPUT r") ;;
	esac
done
for name in "${recordings[@]}"; do
	cd "$tmp/$name" || exit 1
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2206 # words
		words=(${command% r} "$PWD/r")
		export NTRACE_BELOW=$PWD/r NTRACE_FAILED=$PWD/failed
		gives "${words[@]}"
		expected=$status
		is "$status" 0 "$name: $command"
		mv out expected.out
		mv err expected.err
		silent="" number=0
		while ((++number < 100)); do
			NTRACE_OPEN=$number LD_PRELOAD=$tmp/failing_open.so gives "${words[@]}"
			[ -e failed ] || break
			if ! { [ $status = $expected ] && cmp -s out expected.out; } && ! grep -aqE 'Permission denied|was not read' out err; then
				silent+="$number: $(<failed): $status; "
			fi
		done
		is "$silent" "" "$name: $command: says which of its $((number - 1)) files was not read"
	done
done
done_testing
