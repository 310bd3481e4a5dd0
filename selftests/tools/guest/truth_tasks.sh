#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Makes the recordings of tasks for a truth test: first of harts, then of tasks that share the harts
# with others: with the kernel, with strobing, and without the kernel. The one without the kernel
# must come last: there, some starts of the encoder have no user code.
#   truth_tasks.sh ROUNDS [p550|k3]
# Encoders of a P550 cannot leave the kernel out.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"

# record NAME OPTION...
record() {
	local name=$1
	shift
	attempt "$name" ntrace record -o "$name.data" "$@" -- "$here/truth_tasks" "$rounds"
	status "$name" 0
	[ -n "$lossy" ] || is "$(awk '($1 == "lost" || $1 == "gaps") && $2' "$name.data/params")" "" "$name: nothing is lost" ||
		diag "$(cat "$name.err")"
	like "$name: threads have names" 'worker_5' "$(cat "$name.out")"
}
rounds=$1 lossy=''
# Only Ownership messages attribute the code to tasks.
if [ "${2:-}" ]; then
	privilege=u
	[ "$2" != p550 ] || privilege=usm
	record harts --all --privilege $privilege
	# The end of a task's turn may still be in the sink that the harts share.
	lossy=yes
	record tasks --task
	done_testing
fi
record harts --all --privilege u
for cpu in 0 1; do
	taskset -c $cpu nice sh -c 'while :; do :; done' &
	others+=("$!")
done
record kernel --task --privilege us
record strobe --task --privilege us --strobe 300,700
record user --task --privilege u
kill "${others[@]}"
wait "${others[@]}"
done_testing
