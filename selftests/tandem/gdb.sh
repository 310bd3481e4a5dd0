#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: cpus=1 seconds=60
# `ntrace gdb` with tandem traces, and GDB itself: registers and memory at random places of QEMU's trace of program.S are those of
# the fields that `ntrace tandem dump` shows, steps in both directions visit all groups, watchpoints find the stores. A trace by
# hand has what that program does not: a page table, and stores that a trace does not tell.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=selftests/tandem/common.sh
. "$top/selftests/tandem/common.sh"

filtered() { "$@" | grep -E '^(ok|not ok|#|1\.\.)'; }

# in_gdb TEXT OPTION... -- WORD...: what gdb_tandem.py says about $tmp/run.tandem
in_gdb() {
	local text=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$ntrace" tandem dump --json "${parameters[@]}" "$tmp/run.tandem" >"$tmp/fields"
	# GDB prints each stop, too.
	relay "$text" filtered env TARGET="| exec $ntrace gdb - ${options[*]} ${parameters[*]} $tmp/run.tandem" FIELDS="$tmp/fields" XLEN="$xlen" \
		SEED="${SEED:-1}" PLACES="${PLACES:-30}" WATCH="$watched" WALK="$*" gdb-multiarch -q -nx -batch -x "$here/gdb_tandem.py"
}

for xlen in 64 32; do
	abi=(-march=rv64gc -mabi=lp64d)
	parameters=()
	if [ "$xlen" = 32 ]; then
		abi=(-march=rv32gc -mabi=ilp32d "-Wl,-melf32lriscv")
		parameters=(--xlen 32 --mlen 34)
	fi
	ok "RV$xlen: the program is assembled" riscv64-linux-gnu-gcc "${abi[@]}" -nostdlib -static -no-pie -Wl,-Ttext=0x80000000 \
		-Wl,--build-id=none -DROUNDS=4 "$here/program.S" -o "$tmp/program"
	ok "RV$xlen: QEMU writes its trace" timeout 300 "$qemu" -M virt -cpu "rv$xlen" -m 128M -display none -serial none -monitor none \
		-bios none -kernel "$tmp/program" -icount shift=0 -plugin "$plugins/tandem_log.so,out=$tmp/run.tandem"
	data=$(riscv64-linux-gnu-nm "$tmp/program" | awk '$3 == "data" { print $1 }')
	watched=$(printf %x $((0x$data + 16)))
	in_gdb "RV$xlen" --elf "$tmp/program" -- registers_and_memory watch breakpoints walk
	in_gdb "RV$xlen, without the program" -- unknown registers_and_memory
done

# A page table, Sv39: 0x40001000 is at 0x80010000, once the trace has told the three entries, and satp.
python3 -c 'import sys
def little(value, size): return value.to_bytes(size, "little")
def state(number, value, size): return b"\x07" + bytes([number]) + little(value, size)
def register(number, value): return b"\x04" + little(number, 2) + little(value, 8)
def access(address, physical, data=None): return state(3, address, 8) + state(2, physical, 8) + (b"" if data is None else state(7, data, 8))
def group(insn, *effects): return b"\1\3\x11" + little(insn, 4) + b"".join(effects) + b"\2"
store, load, satp, mret, vector = 0x00b53023, 0x00053583, 0x18051073, 0x30200073, 0x02050027
sys.stdout.buffer.write(b"\1\x0b" + state(10, 0x80000000, 8) + state(1, 3, 1) + b"\2"
    + b"".join(group(store, access(at, at, entry << 10 | bits)) for at, entry, bits in
               ((0x80001008, 0x80002, 1), (0x80002000, 0x80003, 1), (0x80003008, 0x80010, 0xdf)))
    + group(satp, register(0x180, 8 << 60 | 0x80001))
    + b"\1\x11" + little(mret, 4) + state(10, 0x40000000, 8) + state(1, 0, 1) + b"\2"
    + group(store, access(0x40001008, 0x80010008, 0x1122334455667788))
    + group(vector) + group(load, access(0x40001008, 0x80010008), register(0x100b, 5))
    + b"\1\x11" + little(0x73, 4) + state(10, 0x80000100, 8) + register(0x341, 0x4000000c) + state(1, 3, 1) + b"\2")' >"$tmp/hand.tandem"

# at PLACE ADDRESS EXPECTED TEXT: eight bytes at a place of that trace
at() {
	is "$(gdb-multiarch -q -nx -batch -ex 'set osabi none' -ex "target remote | exec $ntrace gdb - $tmp/hand.tandem" \
		-ex "monitor goto $1" -ex 'maintenance flush register-cache' -ex "x/gx $2" 2>&1 | tail -n 2 | grep -v Inferior)" "$3" "$4"
}
missing="Cannot access memory at address"
at 4 0x80001008 $'0x80001008:\t0x0000000020000801' "M-mode: physical addresses"
at 5 0x40001008 $'0x40001008:\t'"$missing 0x40001008" "U-mode: nothing is stored so far"
at 6 0x40001008 $'0x40001008:\t0x1122334455667788' "U-mode: the page table translates"
at 6 0x80010008 $'0x80010008:\t'"$missing 0x80010008" "U-mode: a physical address is no address"
at 7 0x40001008 $'0x40001008:\t'"$missing 0x40001008" "a vector store makes memory unknown, and the page table with it"
at 9 0x80010008 $'0x80010008:\t0x0000000000000005' "a load after it tells memory again"

# Wrong options, and what is no tandem trace.
cp "$tmp/hand.tandem" "$tmp/hand"
"$ntrace" gdb --tandem --json --listen 0 "$tmp/hand" >"$tmp/out" 2>"$tmp/err" </dev/null &
server=$!
wait_for grep -q listen "$tmp/out"
kill "$server"
like "--tandem: whatever its name is" '"architecture": "riscv:rv64", "program": null, "threads": .."tid": 1, "name": "hart", "instructions": 10' \
	"$(<"$tmp/out")"
fails "a parameter that a trace cannot have" "xlen" "$ntrace" gdb --xlen 48 - "$tmp/hand.tandem"
fails "--src" "do not apply to tandem traces" "$ntrace" gdb --src 1 - "$tmp/hand.tandem"
fails "an option of recordings" "apply to recordings only" "$ntrace" gdb --cpu 1 - "$tmp/hand.tandem"
: >"$tmp/empty.tandem"
fails "an empty trace" "no instructions to show" "$ntrace" gdb - "$tmp/empty.tandem"
{ cat "$tmp/hand.tandem"; printf '\1\377\377'; } >"$tmp/damaged.tandem"
"$ntrace" gdb - "$tmp/damaged.tandem" >"$tmp/out" 2>"$tmp/err" </dev/null
like "damage is said" "damaged.tandem: the trace is damaged after group 10: are --xlen, --mlen and --flen right" "$(<"$tmp/err")"
done_testing
