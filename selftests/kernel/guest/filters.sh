#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Filters of the trace. Usage: filters.sh RANGES CALLS COUNTED; CALLS: number of
# calls of the kernel function; COUNTED: program to filter by
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
ranges=$1 calls=$2 counted=$3
program filters refused "$ranges"
if [ "$ranges" = 0 ]; then
	fails "record: nothing to filter by" 'can filter 0 address ranges' ntrace record --filter 0x1000/0x1000 -o none -- true
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
record all --privilege u --filter 0/0xffffffffffffffff -- "$here/filters" calls "$calls"
record syscall --filter $function -- "$here/filters" calls "$calls"
record ecall --traps exceptions:8 --cpu 0 -- "$here/filters" calls "$calls"
record interrupt --traps interrupts --cpu 0 -- "$here/filters" calls "$calls"
fails "record: no such function" "no function 'uncounted' with a size" ntrace record --filter "uncounted@$counted" -o none -- true
fails "record: none of the kernel" "no function 'uncounted' in the kernel" ntrace record --filter uncounted -o none -- true
fails "record: an address of user space without a file" "perf does not take" ntrace record --task --privilege u --filter 0x1000/0x1000 -o none -- true
nothing_said
done_testing
