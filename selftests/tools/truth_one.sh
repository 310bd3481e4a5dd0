#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=50
# Truth test of one hart: the decoded instructions are exactly those of the witness, in HTM and BTM.
# In filtered recordings, they are exactly those of the witness within the ranges: two functions of
# a program that forks, and a function of the kernel; and those from each call of a function of the kernel up to the next
# call of another one, with marks at the calls of a third one.
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
truth_job window 1 1 --privilege s --from vfs_write --until handle_mm_fault --mark vfs_read
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

# windowed START END DECODED: prints what was executed in the kernel from START up to END; DECODED.exact takes what is decoded
# up to END. The encoder looks at the first instruction of a block, so the block of END is traced as a whole.
windowed() {
	build/oracle/log_print "$tmp/log.0" "$section" | python3 -c '
import sys
start, end = (int(text, 16) for text in sys.argv[1:3])
traced = False
for line in sys.stdin:
    address, _, rest = line.partition(" ")
    if rest[2:3] not in list("USM"):
        continue
    number = int(address, 16)
    traced |= number == start
    if traced and rest[2:3] == "S":
        print(f"0x{number:x}")
    traced &= number != end
after = 0
with open(sys.argv[3]) as decoded, open(sys.argv[3] + ".exact", "w") as exact:
    for line in decoded:
        number = int(line, 16)
        after = after + 1 if number == end or after and number != start else 0
        if after > 60:
            sys.exit("more than a block after the end")
        if after < 2:
            exact.write(line)' "$@"
}
if recorded window; then
	address() { awk -v name="$1" '$3 == name { print $1 }' "$results/window/functions"; }
	ok "window: decode" build/ntrace decode --level pc --sysroot "$sysroot" "$data"
	grep '^0x' "$tmp/.ok" >"$tmp/window.decoded"
	windowed "$(address vfs_write)" "$(address handle_mm_fault)" "$tmp/window.decoded" >"$tmp/window.executed"
	ok "window: $(wc -l <"$tmp/window.executed") instructions from one function up to the other are all that is decoded" \
		cmp "$tmp/window.executed" "$tmp/window.decoded.exact"
	ok "window: they are many" test "$(wc -l <"$tmp/window.executed")" -gt 1000
	ok "window: decode its events" build/ntrace decode --json --sysroot "$sysroot" "$data"
	marks=$(grep -c '"detail":"trace event".*"symbol":"vfs_read","symbol_offset":0,' "$tmp/.ok")
	is "$marks" \
		"$(grep -cx "0x$(address vfs_read)" "$tmp/window.executed")" "window: each call of a third function has a mark"
	ok "window: there are marks" test "$marks" -gt 0
fi
# Recordings of a task have one section per stay on the hart, up to the end of the log.
! recorded user || filtered user "$section-" U 2
done_testing
