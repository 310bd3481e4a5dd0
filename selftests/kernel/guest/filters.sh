#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Filters of the trace. Usage: filters.sh RANGES CALLS COUNTED; CALLS: number of
# calls of the kernel function; COUNTED: program to filter by
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
ranges=$1 calls=$2 counted=$3
program filters refused "$ranges"
if [ "$ranges" = 0 ]; then
	fails "record: nothing to filter by" 'can filter 0 address ranges' ntrace record -a --filter 0x1000/0x1000 -o none -- true
	fails "record: tasks" 'not all encoders can filter so many .*: 0' ntrace record --filter "counted@$counted" -o none -- true
	done_testing
	exit
fi
program filters perf "$(<$pmu/type)" "$here/filters"
is "$(<$pmu/caps/ranges)" "0x$ranges" "caps/ranges"

record() {
	local name=$1 rc=0
	shift
	ntrace record -q -o "$name.data" "$@" >"$name.out" || rc=$?
	ok "record $name" test "$rc" = 0 -o "$rc" = 7
	ok "record $name: something was recorded" grep -q . "$name.data"/aux.*
}
function=__riscv_sys_sched_get_priority_max
record function --privilege u --filter "filter counted @ $counted" -- "$counted"
record two --privilege u --filter "tail@$counted" --filter "recursive@$counted" -- "$counted"
record file --privilege u --filter "*@$counted" -- "$counted"
record all -a --privilege u --filter 0/0xffffffffffffffff -- "$here/filters" calls "$calls"
record syscall -a --filter $function -- "$here/filters" calls "$calls"
record ecall --traps exceptions:8 --cpu 0 -- "$here/filters" calls "$calls"
record interrupt --traps interrupts --cpu 0 -- "$here/filters" calls "$calls"
# Two processes run the program, of which one is traced.
mkfifo go
{ read -r _ && exec "$counted"; } <go >only.counted &
record only --privilege u --cpu 0 --only-context $! -- \
	taskset -c 0 sh -c "taskset -p 1 $!; $counted; echo >go; while kill -0 $! 2>/dev/null; do :; done"
wait
fails "record: a function of a file as a mark" "no function 'uncounted' in the kernel" ntrace record --mark uncounted -o none -- true
fails "record: more comparators than there are" "cannot compare all this at a time: it has $ranges comparators, for marks, for from and until, for threads" \
	ntrace record --mark 1 --mark 2 --mark 3 --mark 4 --mark 5 --mark 6 --from 1 --only-context 1 -o none -- true
fails "record: no such function" "no function 'uncounted' with a size" ntrace record --filter "uncounted@$counted" -o none -- true
fails "record: none of the kernel" "no function 'uncounted' in the kernel" ntrace record --filter uncounted -o none -- true
fails "record: an address of user space without a file" "perf does not take" ntrace record --task --privilege u --filter 0x1000/0x1000 -o none -- true
nothing_said
done_testing
