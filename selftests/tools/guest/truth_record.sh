#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records truth_load for a truth test, to "data" in the job's directory.
#   truth_record.sh ROUNDS PROCESSES OPTION...
# With WAYS SEED before the options, half of the encoders with two ways out, drawn by the seed, use the second one; a hart whose
# encoder refuses the configuration by the name of a field is left out. The recording may report losses.
# With LOSSES before the options, the recording may report losses; otherwise it
# must not. With FIXED or LOSSES, all programs are at the same addresses: the code at an address does not
# tell which of the tasks runs that may run after a loss.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
rounds=$1 processes=$2 lossy=''
shift 2
randomize=$(</proc/sys/kernel/randomize_va_space)
encoders=/sys/bus/platform/drivers/ntrace
# choose SEED: encoder 2n + 1 sends to sink pairs + n as well (topology.h: forks)
choose() {
	local seed=$1 pairs=$(($(nproc --all) / 2)) n
	for ((n = 0; n < pairs; n++)); do
		((seed >> n & 1)) || continue
		printf '604%x000.trace-ram-sink\n' $((pairs + n)) >$encoders/"$(printf '60%02x000.trace-encoder' $((2 * n + 1)))"/sink 2>/dev/null
	done
	for ((n = 0; n < 2 * pairs; n++)); do
		echo "hart $n: sink $(cat $encoders/"$(printf '60%02x000.trace-encoder' "$n")"/sink 2>/dev/null)"
	done >ways
}
# record OPTION...
record() {
	PATIENCE=3000 attempt record ntrace record -o data "$@" -- "$here/truth_load" "$rounds" "$processes"
}
# record_offered OPTION...: on the harts whose encoders take the configuration
record_offered() {
	local cpus refused=none
	cpus=$(cd /dev && echo ntrace[0-9]*)
	cpus=${cpus//ntrace/}
	while [ -n "$refused" ]; do
		record --cpu "${cpus// /,}" "$@"
		refused=$(sed -nE 's/.*the encoder of CPU ([0-9]+) does not support this: dmesg.*/\1/p' record.err)
		cpus=$(printf '%s\n' "$cpus" | tr ' ' '\n' | grep -vx "$refused" | paste -sd ' ')
	done
}
ways=''
case ${1:-} in
WAYS)
	ways=$2 lossy=yes
	shift 2
	;;
LOSSES | FIXED)
	[ "$1" = FIXED ] || lossy=yes
	shift
	echo 0 >/proc/sys/kernel/randomize_va_space
	;;
esac
if [ -n "$ways" ]; then
	choose "$ways"
	record_offered "$@"
else
	[[ " $* " == *" --task "* ]] || set -- --all "$@"
	record "$@"
fi
echo "$randomize" >/proc/sys/kernel/randomize_va_space
status record 0
is "$(grep -c '^truth_load: hart' record.out)" "$processes" "each process has done its work"
[ -n "$lossy" ] || is "$(awk '($1 == "lost" || $1 == "gaps") && $2' data/params)" "" "nothing is lost" || diag "$(cat record.err)"
# Addresses of the functions that filter a recording. The kernel makes the whole list for each reader.
[[ " $* " != *" --filter handle_mm_fault "* ]] || grep -w -A9 'T handle_mm_fault' /proc/kallsyms >function
[[ " $* " != *" --from vfs_write --until handle_mm_fault "* ]] || grep -wE 'T (vfs_write|vfs_read|handle_mm_fault)' /proc/kallsyms >functions
done_testing
