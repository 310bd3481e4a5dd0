#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=50
# Truth test of one hart: the decoded instructions are exactly those of the witness, in HTM and BTM.
# In filtered recordings, they are exactly those of the witness within the ranges: two functions of
# a program that forks, and a function of the kernel.
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"

rounds=${TRUTH_ROUNDS:-1} load=/root/selftests/tools/truth_load
# The load makes up to 15 KB of HTM between two drains, and more of BTM. How much depends on the compiler.
sink=$((32 << 10))
for mode in htm btm; do
	truth_job $mode "$rounds" 1 --mode $mode --sink-size $sink
done
truth_job kernel 1 1 --privilege s --filter handle_mm_fault
truth_job user 1 1 --task --privilege u --filter by_value@$load --filter compute@$load
truth_boot one --icount --smp 1

for name in htm btm; do
	recorded $name || continue
	ok "$name: 16 times as much trace as the sink's buffer" drained $sink
	ok "$name: the decoded instructions are all executed ones" truth_compare 2000000
	ok "$name: timer interrupts, system calls and page faults" truth_causes 1
	truth_figures
	truth_mutations $name 1234567
done

# Ranges, "START END", at the guest's addresses.
of_user() {
	perf script -i "$data" --show-mmap-events 2>/dev/null |
		sed -n 's/.*MMAP2.*\[\(0x[0-9a-f]*\)(.*) @ \([0-9a-fx]*\) .*r-xp .*truth_load$/\1 \2/p' | head -n 1 >"$tmp/mapped"
	read -r start offset <"$tmp/mapped" || return
	readelf -sW build/riscv64/selftests/tools/truth_load | awk '$8 == "by_value" || $8 == "compute" { print $2, $3 }' |
		while read -r address size; do
			echo $((16#$address + start - offset)) $((16#$address + start - offset + size))
		done
}
of_kernel() {
	python3 -c '
import sys
addresses = sorted({int(line.split()[0], 16) for line in sys.stdin})
print(*addresses[:2])' <"$results/kernel/function"
}

# witnessed SECTION PRIVILEGE <RANGES: prints the instructions executed in the ranges
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
# filtered NAME SECTIONS PRIVILEGE RANGES
filtered() {
	local name=$1
	"of_$name" >"$tmp/ranges"
	is "$(wc -l <"$tmp/ranges")" "$4" "$name: the ranges are known"
	witnessed "$2" "$3" >"$tmp/$name.executed"
	ok "$name: decode" build/ntrace decode --level pc --sysroot "$sysroot" "$data"
	grep '^0x' "$tmp/.ok" >"$tmp/$name.decoded"
	ok "$name: $(wc -l <"$tmp/$name.executed") instructions of the ranges are all that is decoded" \
		cmp "$tmp/$name.executed" "$tmp/$name.decoded"
	ok "$name: they are many" test "$(wc -l <"$tmp/$name.executed")" -gt 1000
}
! recorded kernel || filtered kernel "$section" S 1
# Recordings of a task have one section per stay on the hart, up to the end of the log.
! recorded user || filtered user "$section-" U 2
done_testing
