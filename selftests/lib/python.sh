#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Uses the Python module like a program: python_use.py, with and without numpy, and the example scripts. The command encodes
# the trace from a list of PCs in this file.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
examples=$top/Documentation/examples
# The module finds the library of the build it belongs to.
export PYTHONPATH=$top/lib/python PYTHONDONTWRITEBYTECODE=1
unset NTRACE_LIBRARY
rounds=3000
# Debian's own Python, which has its numpy.
PATH=/usr/bin:$PATH

riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -Wl,--build-id=none -o "$tmp/demo" \
	"$examples/demo.S" || exit 1
# Once through demo.S: the loop three times, the call, the jump back to the beginning.
for ((i = 0; i < rounds; i++)); do
	printf '0x%x\n' 0x10000 0x10002 0x10004 0x10002 0x10004 0x10002 0x10004 0x10006 0x1000c 0x1000a
done >"$tmp/pcs"
head -n 10 "$tmp/pcs" >"$tmp/pcs.small"
ok "a program that makes recordings" gcc -std=c11 -I "$top/lib/include" "$examples/recording.c" -L "$top/build" -lntrace \
	-Wl,-rpath,"$top/build" -o "$tmp/recording"
for kind in '' .small; do
	ok "a trace to read" "$top/build/ntrace" encode --pcs "$tmp/pcs$kind" --elf "$tmp/demo" --mode btm \
		--encoder sync=messages,syncmax=4 -o "$tmp/trace$kind"
	"$tmp/recording" "$tmp/dir$kind" "$tmp/demo" "$(stat -c %s "$tmp/trace$kind")"
	cp "$tmp/trace$kind" "$tmp/dir$kind/aux.0"
done

relay "without numpy" python3 -W error "$top/selftests/lib/python_use.py" "$tmp" "$rounds" without
if python3 -c 'import numpy' 2>/dev/null; then
	relay "with numpy" python3 -W error "$top/selftests/lib/python_use.py" "$tmp" "$rounds" with
else
	skip "with numpy" "Python has no numpy: python3-numpy"
fi
fails "without the library" "cannot load libntrace .*NTRACE_LIBRARY" env NTRACE_LIBRARY="$tmp/none.so" python3 -c 'import ntrace'
# As `make install PREFIX=` places it, where the loader does not look.
installed=$tmp/prefix/lib/python3/dist-packages
mkdir -p "$installed"
cp -r "$top/lib/python/ntrace" "$installed/"
cp "$top/build/libntrace.so.0" "$tmp/prefix/lib/"
is "$(PYTHONPATH=$installed python3 -c 'import ntrace; print(ntrace._abi.library._name)' 2>&1 | xargs realpath)" \
	"$tmp/prefix/lib/libntrace.so.0" "an installed module loads the library of its prefix"
printf 'int ntrace_strerror(int e) { return e; }\n' >"$tmp/old.c"
ok "an older library" gcc -shared -fPIC "$tmp/old.c" -o "$tmp/old.so"
fails "is refused" "older than this module: it has no ntrace_version" env NTRACE_LIBRARY="$tmp/old.so" \
	python3 -c 'import ntrace'

# By hand: in each round the loop's branch is taken twice, all else once. Before the first
# round nothing is known to have led to _start, and behind the last nothing was executed.
python3 "$examples/hot_loops.py" "$tmp/dir" >"$tmp/loops" 2>"$tmp/notes"
is "$(cat "$tmp/loops")" "transfers:
$((2 * rounds)) demo _start+0x4 -> _start+0x2 (branch)
$rounds demo _start+0x6 -> leaf+0x0 (call)
$rounds demo _start+0xa -> _start+0x0 (jump)
$rounds demo leaf+0x0 -> _start+0xa (return)
loops:
$((3 * rounds)) rounds, $rounds entries, 3.00 times round: demo _start+0x2
$rounds rounds, 0 entries: demo _start+0x0" "hot_loops.py"
is "$(python3 "$examples/hot_functions.py" "$tmp/dir" 2>/dev/null)" " 90.0 % $((9 * rounds)) instructions, 0 calls: user demo _start
 10.0 % $rounds instructions, $rounds calls: user demo leaf" "hot_functions.py"
like "and says what is missing" "kallsyms" "$(cat "$tmp/notes")"
python3 "$examples/message_bits.py" "$tmp/trace" "" 4 >"$tmp/bits"
is "$(awk 'NR > 1 && NR < 6 { for (i = 2; i <= NF; i++) sum += $i } END { print sum / 8 }' "$tmp/bits")" \
	"$(stat -c %s "$tmp/trace")" "message_bits.py: all bytes are in the slices"
# 10 instructions of which one has 32 bits: 11 parcels.
is "$(sed -n 5p "$tmp/bits" | cut -d ' ' -f 1)" $((11 * rounds)) "and all that was executed"
for name in hot_functions hot_loops message_bits; do
	ok "$name.py is short" test "$(wc -l <"$examples/$name.py")" -le 60
	fails "$name.py of nothing" "no recording|No such file" python3 "$examples/$name.py" /nonexistent
done
done_testing
