#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# live.loss is the number of bytes that `ntrace record --live --hold` loses while a hart executes a program full of branches, which
# makes more trace than any other load here, and the other hart decodes. With -icount both execute as many instructions, so the number
# does not depend on the host. Target: 0. The program makes more trace than the data area holds. Other figures tell what is lost
# without --hold, and how much longer the program takes with it. With a data area that holds all of the trace, the time of the command
# tells how fast a hart decodes.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
work=${BENCH_WORK:-200}

# shellcheck disable=SC2016 # for the guest
guest_run 'taskset -pc 0 $$ >/dev/null
grep -q " cgroup2 " /proc/mounts || busybox mount -t cgroup2 none /sys/fs/cgroup
load="bench_load branchy '"$work"'"
run() { # NAME OPTION... -- COMMAND: prints the name, the time of the program, traced and decoded bytes, and the time of all
	name=$1
	shift
	begin=$(date +%s%N)
	ntrace record --live --cpu 1 -o /tmp/counts "$@" >/tmp/time 2>/tmp/said
	all=$(($(date +%s%N) - begin))
	echo $name $(cat /tmp/time) $(sed -nE "s/^.* ([0-9,]+) bytes of trace from .*: ([0-9,]+) decoded, .*([0-9,]+) lost$/\1 \2/p" /tmp/said | tr -d ,) $all
	sed "s/^/said /" /tmp/said
}
run none --data-size 64M -- echo 0
run large --data-size 64M -- taskset -c 1 $load
run htm -- taskset -c 1 $load
run btm --mode btm -- taskset -c 1 $load
run held --hold -- taskset -c 1 $load
run held_btm --hold --mode btm -- taskset -c 1 $load
' --smp 2 --icount --modules --tools >"$tmp/out"
if ! awk '$1 != "said" && (NF != 5 || $3 < 1000) { bad = 1 } $1 != "said" { n++ } END { exit bad || n != 6 }' "$tmp/out"; then
	sed 's/^/  live: not what was asked for: /' "$tmp/out"
	exit 1
fi
# of NAME EXPRESSION: of nanoseconds t of the program, traced bytes a, decoded bytes b, and nanoseconds all of the command
of() { awk -v name="$1" '$1 == name { t = $2; a = $3; b = $4; all = $5; print '"$2"' }' "$tmp/out"; }
figure live.loss "$(of held 'a - b')" bytes 1 "<=0"
figure "live: lost, btm" "$(of held_btm 'a - b')" bytes 1 "<=0"
figure "live: lost without --hold" "$(of htm 'a - b')" bytes 1
figure "live: lost without --hold, btm" "$(of btm 'a - b')" bytes 1
figure "live: time of the program with --hold" "$(awk -v without="$(of htm t)" -v with="$(of held t)" 'BEGIN { print with / without }')" "times that without" 1
for mode in htm btm; do
	figure "live: trace of the program, $mode" "$(of $mode 'a / t * 1000')" MB/s 1
	figure "live: decoded without --hold, $mode" "$(of $mode '100 * b / a')" % 1
done
figure "live: lost, with a data area of 64 MiB" "$(of large 'a - b')" bytes 1
figure "live: decoding on a hart of 10^9 instructions/s" "$(of large "b / (all - $(of none all)) * 1000")" MB/s 1
write_figures "${1:-}"
