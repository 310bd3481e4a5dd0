#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth, filters: what is decoded of a filtered recording is, instruction by
# instruction, what the witness saw within the ranges and nothing else: two
# functions of a program that forks, and a function of the kernel.
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"
cd "$top" || exit 1
truth_needs

load=/usr/local/bin/truth_load kernel_function=handle_mm_fault
record() { echo "ntrace record -q -o /tmp/$1 $2 -- truth_load 2 1"; }
ok "the guest records" truth_run "kernel user" \
	"set -e; $(record kernel "--privilege s --filter $kernel_function"); $(record user "--task --privilege u --filter by_value@$load --filter compute@$load"); grep -w -A9 'T $kernel_function' /proc/kallsyms >/tmp/kernel/images/function" \
	--icount --smp 1 || done_testing

# Ranges, "START END", where they were in the guest.
of_program() {
	perf script -i "$tmp/user" --show-mmap-events 2>/dev/null |
		sed -n 's/.*MMAP2.*\[\(0x[0-9a-f]*\)(.*) @ \([0-9a-fx]*\) .*r-xp .*truth_load$/\1 \2/p' | head -n 1 >"$tmp/mapped"
	read -r start offset <"$tmp/mapped" || return
	readelf -sW "$tmp/put/truth_load" | awk '$8 == "by_value" || $8 == "compute" { print $2, $3 }' |
		while read -r address size; do
			echo $((16#$address + start - offset)) $((16#$address + start - offset + size))
		done
}
of_kernel() {
	python3 -c '
import sys
addresses = sorted({int(line.split()[0], 16) for line in sys.stdin})
print(*addresses[:2])' <"$tmp/kernel/images/function"
}

# witnessed SECTION PRIVILEGE <RANGES: what was executed there
witnessed() {
	build/oracle/log_print "$tmp/log.0" "$1" | python3 -c '
import sys
ranges = [tuple(map(int, line.split())) for line in open(sys.argv[2])]
for line in sys.stdin:
    address, _, rest = line.partition(" ")
    if rest[2:3] == sys.argv[1]:
        number = int(address, 16)
        if any(start <= number < end for start, end in ranges):
            print(f"0x{number:x}")' "$2" "$tmp/ranges"
}
check() {
	local name=$1 section=$2 privilege=$3 ranges=$4
	"of_$5" >"$tmp/ranges"
	is "$(wc -l <"$tmp/ranges")" "$ranges" "$name: the ranges are known"
	witnessed "$section" "$privilege" >"$tmp/$name.executed"
	ok "$name: decode" build/ntrace decode --level pc --sysroot "$tmp/root" "$tmp/$name"
	grep '^0x' "$tmp/.ok" >"$tmp/$name.decoded"
	ok "$name: $(wc -l <"$tmp/$name.executed") instructions of the ranges are all that is decoded" \
		cmp "$tmp/$name.executed" "$tmp/$name.decoded"
	ok "$name: they are many" test "$(wc -l <"$tmp/$name.executed")" -gt 1000
}
check kernel 0 S 1 kernel
check user 1- U 2 program
done_testing
