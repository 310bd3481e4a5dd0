#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records truth_load for a truth test, to "data" in the job's directory.
#   truth_record.sh ROUNDS PROCESSES OPTION...
# With LOSSES before the options, the recording may report losses; otherwise it
# must not. With FIXED or LOSSES, all programs are at the same addresses: the code at an address does not
# tell which of the tasks runs that may run after a loss.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
rounds=$1 processes=$2 lossy=''
shift 2
randomize=$(</proc/sys/kernel/randomize_va_space)
case ${1:-} in
LOSSES | FIXED)
	[ "$1" = FIXED ] || lossy=yes
	shift
	echo 0 >/proc/sys/kernel/randomize_va_space
	;;
esac
[[ " $* " == *" --task "* ]] || set -- --all "$@"
PATIENCE=3000 attempt record ntrace record -o data "$@" -- "$here/truth_load" "$rounds" "$processes"
echo "$randomize" >/proc/sys/kernel/randomize_va_space
status record 0
is "$(grep -c '^truth_load: hart' record.out)" "$processes" "each process has done its work"
[ -n "$lossy" ] || is "$(awk '($1 == "lost" || $1 == "gaps") && $2' data/params)" "" "nothing is lost" || diag "$(cat record.err)"
# Addresses of the functions that filter a recording. The kernel makes the whole list for each reader.
[[ " $* " != *" --filter handle_mm_fault "* ]] || grep -w -A9 'T handle_mm_fault' /proc/kallsyms >function
[[ " $* " != *" --from vfs_write --until handle_mm_fault "* ]] || grep -wE 'T (vfs_write|vfs_read|handle_mm_fault)' /proc/kallsyms >functions
done_testing
