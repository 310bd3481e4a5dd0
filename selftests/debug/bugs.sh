#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests that the debug kernel detects bugs, because otherwise its empty log would prove nothing. The
# test causes one bug of each kind; the kernel must report each, and --check-dmesg must find the
# report.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1

declare -A report=(
	[deadlock]='possible circular locking dependency detected'
	[irq-unsafe]='inconsistent lock state'
	[rcu-list]='suspicious RCU usage'
	[sleep]='BUG: sleeping function called from invalid context'
	[preempt]='BUG: using smp_processor_id() in preemptible'
	[overrun]='KASAN: slab-out-of-bounds in buggy_overrun'
	[use-after-free]='KASAN: slab-use-after-free in buggy_use_after_free'
	[double-free]='KASAN: double-free in buggy_double_free'
	[vmalloc]='KASAN: vmalloc-out-of-bounds in buggy_vmalloc'
	[leak]='unreferenced object'
	[shift]='UBSAN: shift-out-of-bounds'
	[bounds]='UBSAN: array-index-out-of-bounds'
	[refcount]='refcount_t: addition on 0'
	[list]='list_del corruption'
	[object]='ODEBUG: free active'
	[warning]='WARNING: CPU'
)

# commit BUG...: causes the bugs in one guest. kasan_multi_shot: report all, not only the first.
commit() {
	local name status=0
	tools/vsoc/run --quiet --kernel debug --smp "${harts:-1}" --icount --timeout 600 --mem 768M --append kasan_multi_shot \
		--dmesg "$tmp/dmesg" --console "$tmp/console" --check-dmesg \
		--put build/kernel/buggy/buggy.ko:/root/buggy.ko \
		--put selftests/debug/guest/bugs.sh:/root/bugs.sh -- bash /root/bugs.sh "$@" >"$tmp/out" 2>&1 || status=$?
	is "$status $(grep -c 'not committed' "$tmp/out")" "1 0" "the log of $* is refused" || diag "$(tail -n 30 "$tmp/out")"
	for name in "$@"; do
		# Prints the log between this bug and the next one; kmemleak finds leaks at the end.
		# shellcheck disable=SC2016 # expanded by awk
		ok "$name: ${report[$name]}" awk -v bug="buggy: $name" -v text="${report[$name]}" -v anywhere="$([ "$name" != leak ] || echo 1)" '
			/buggy: / { mine = index($0, bug) > 0 }
			(mine || anywhere) && index($0, text) { found = 1 }
			END { exit !found }' "$tmp/dmesg"
	done
	[ "$tap_failures" -eq 0 ] || diag "$(tail -n 150 "$tmp/dmesg")"
}
# lockdep disables itself after its first report.
commit deadlock
harts=2 commit irq-unsafe
commit rcu-list
commit sleep preempt overrun use-after-free double-free vmalloc leak shift bounds refcount list object warning

# Without a bug, the same kernel logs nothing.
ok "no bug, no report" tools/vsoc/run --quiet --kernel debug --smp "${harts:-1}" --icount --timeout 600 --mem 768M --check-dmesg -- true
done_testing
