#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=60
# Compares Control Transfer Records of the virtual SoC with the library's model: the program of ctr/
# makes transfers of every kind in every mode under many settings. Whenever it could see the ring,
# the emulator's ring is compared with the model's. CTR_ROUNDS sets the length, CTR_SEED the
# settings.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
qemu=$(tools/vsoc/qemu/build --path) || exit 1
seed=${CTR_SEED:-1}
diag "seed $seed"

# payload NAME ROUNDS SETTINGS LOCKS ASSEMBLER...
payload() {
	local name=$1 rounds=$2 settings=$3 locks=$4
	shift 4
	riscv64-linux-gnu-gcc -std=gnu11 -Wall -Wextra -O2 -ffreestanding -fno-reorder-functions -nostdlib -static -mcmodel=medany \
		-march=rv64imac_zicsr -mabi=lp64 -Wl,--build-id=none -Wl,--no-warn-rwx-segments -Wl,-Ttext=0x80000000 \
		-DROUNDS="$rounds" -DSETTINGS="$settings" -DLOCKS="$locks" -DSEED="$seed" -DGUESTS=1 "$@" \
		selftests/vsoc/ctr/start.S selftests/vsoc/ctr/payload.c -o "$tmp/$name.elf"
}

# run_check NAME PAYLOAD CPU ARGUMENT...: sets counts[recorded] and so on.
declare -A counts
run_check() {
	local name=$1 payload=$2 cpu=$3 status=0 words
	shift 3
	counts=()
	rm -f "$tmp/$name.log"
	timeout -k 5 "${CTR_TIMEOUT:-120}" "$qemu" -M virt,ntrace=on -cpu "rv64,smctr=true,ssctr=true,sscofpmf=true$cpu" \
		-bios none -display none -serial none -monitor none -m 16M -kernel "$tmp/$payload.elf" \
		-global "ntrace-encoder.ctr-check=$tmp/$name.log" "$@" </dev/null >"$tmp/$name.out" 2>&1 || status=$?
	if [ $status -ne 0 ] || [ -s "$tmp/$name.out" ]; then
		not_ok "$name: the program ends"
		diag "status $status: $(tail -n 20 "$tmp/$name.out")"
		return
	fi
	read -ra words < <(sed -n 's/^ctr-check hart 0 \(transfers .*\)/\1/p' "$tmp/$name.log")
	for ((i = 0; i < ${#words[@]}; i += 2)); do counts[${words[i]}]=${words[i + 1]}; done
}

# agrees NAME ENTRIES: no difference in that many entries
agrees() {
	is "${counts[differences]:-none}" 0 "$1: no difference in ${counts[comparisons]:-0} comparisons" ||
		diag "$(head -n 6 "$tmp/$1.log")"
	ok "$1: ${counts[entries]:-0} entries compared, ${counts[accesses]:-0} accesses" \
		test "${counts[entries]:-0}" -ge "$2"
}

ok "the program is built" payload long "${CTR_ROUNDS:-100}" 300 0
run_check "every mode" long ''
agrees "every mode" $((10000000 * ${CTR_ROUNDS:-100} / 1000))
for what in replaced popped froze; do
	ok "every mode: ${counts[$what]:-0} transfers $what" test "${counts[$what]:-0}" -ge 1000
done

payload short 100 60 0
run_check "one instruction per block" short '' -accel tcg,one-insn-per-tb=on
agrees "one instruction per block" 50000
run_check "instruction counter" short '' -accel tcg,thread=single -icount shift=0
agrees "instruction counter" 50000
payload lonely 100 60 0 -UGUESTS -DGUESTS=0 -Wa,--defsym,NO_GUESTS=1
run_check "without hypervisor" lonely ,h=false
agrees "without hypervisor" 30000

# Harts that implement fewer features: without MTE, STE, RASEMU and half of the filters.
run_check "depths 32 and 128" short '' -global ntrace-encoder.ctr-depths=32+128
agrees "depths 32 and 128" 50000
run_check "few fields" short '' -global ntrace-encoder.ctr-control=0x15500000000
agrees "few fields" 50000

payload compressed 100 60 0 -Wa,--defsym,ZC=1
run_check "Zcmp and Zcmt" compressed ,d=false,zcmp=true,zcmt=true
agrees "Zcmp and Zcmt" 50000
payload nmi 100 60 0 -Wa,--defsym,NMI=1
run_check "Smrnmi" nmi ,smrnmi=true
agrees "Smrnmi" 50000
payload locks 20 0 1
run_check "Smstateen" locks ,smstateen=true
agrees "Smstateen" 5000

# The check reports an injected difference, once, wherever it is.
for at in 1 1000 100000; do
	run_check mutate short '' -global ntrace-encoder.ctr-check-mutate=$at
	is "${counts[differences]:-none}" 1 "a bit of record $at or the next that is false is found"
	like "and reported" 'difference pc 0x[0-9a-f]+ ctrtarget 0 ' "$(cat "$tmp/mutate.log" 2>/dev/null)"
done
done_testing
