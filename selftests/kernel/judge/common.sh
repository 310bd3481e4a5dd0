# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# Functions that evaluate files of the guest in $results/NAME.
ntrace=$top/build/ntrace
sysroot=$tmp/sysroot

# The guest's files are below $sysroot, with those that guest.sh adds.
make_sysroot() {
	local guest_root
	[ ! -e "$sysroot" ] || return 0
	guest_root=$(tools/vsoc/run --print-sysroot)
	mkdir -p "$sysroot/root" "$sysroot/usr/local/bin"
	ln -s "$guest_root"/* "$sysroot/" 2>/dev/null
	ln -s "$guest_root"/usr/* "$sysroot/usr/" 2>/dev/null
	ln -s "$top/build/riscv64/selftests" "$sysroot/root/selftests"
	ln -s "$top/build/riscv64/ntrace" "$sysroot/usr/local/bin/ntrace"
}

# Prints whether there are many messages, and whether all their numbers are below 2^47. Addresses of
# user space have at most 47 bits here; fields of full addresses omit bit 0. $src_bits: width of SRC in messages, for raw
# traces; a recording has its own parameters.
highest() {
	local params=()
	[ -z "${src_bits:-}" ] || params=(--params "srcbits=$src_bits")
	"$ntrace" dump --json "${params[@]}" "$1" | python3 -c 'import json, sys
count = top = 0
for message in map(json.loads, sys.stdin):
    count += 1
    top = max(top, *(int(str(value), 0) for value in [*message.get("fields", {}).values(), message.get("address", 0)]))
print(count > 500, top < 1 << 47)'
}
