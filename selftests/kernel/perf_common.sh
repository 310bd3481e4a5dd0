# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests of the PMU whose trace is decoded on this host.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
cd "$top" || exit 1
program=build/riscv64/selftests/kernel/perf
sysroot=$(tools/vsoc/run --print-sysroot)
step=$(riscv64-linux-gnu-nm "$program" | awk '$3 == "step" { print $1 }')

# With --icount: on a fast host a hart fills perf's sink of 256 KiB sooner than QEMU's main loop comes to its timers.
# guest_part NAME ARGUMENT...: boots and runs guest/NAME.sh, whose /root/traced comes to $tmp.
guest_part() {
	ok "the guest's part" tools/vsoc/run --quiet --icount --modules --check-dmesg \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh --put "selftests/kernel/guest/$1.sh:/root/kernel/$1.sh" \
		--get "/root/traced:$tmp" -- bash "/root/kernel/$1.sh" "${@:2}" || diag "$(grep -v '^ok' "$tmp/.ok")"
}

# executed DIR: $count: how often step() is in the traces of DIR; $tmp/wrong: what ntrace complains of.
executed() {
	local dir=$1 elfs=() base='' range mode offset path file address
	while read -r range mode offset _ _ path; do
		case "$mode $offset $path" in
		"r-xp 00000000 /root/kernel/perf") base=${range%-*} elfs+=(--elf "$program@0x$base") ;;
		"r-xp 00000000 /"*) elfs+=(--elf "$sysroot$path@0x${range%-*}") ;;
		esac
	done <"$dir/maps"
	address=$(printf '0x%x' $((0x$base + 0x$step)))
	count=0
	: >"$tmp/wrong"
	for file in "$dir"/?.nex; do
		build/ntrace decode --level pc "${elfs[@]}" "$file" >"$tmp/pcs" 2>>"$tmp/wrong"
		count=$((count + $(grep -cx "$address" "$tmp/pcs")))
	done
}
