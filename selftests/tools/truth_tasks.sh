#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth, tasks: threads that wander between two harts, a child, its child and what it
# execs, traced through perf beside others on the same harts. What is decoded is
# what was executed, from each time that a task came to a hart until it went; and
# each block belongs to the thread that the kernel had there, by its task pointer
# and by the function that only this thread is in (guest/truth_tasks.c).
set -uo pipefail
# shellcheck source=selftests/tools/truth_common.sh
. "$(dirname "$0")/truth_common.sh"
truth_needs

rounds=${TRUTH_ROUNDS:-10}
cp "$top/build/riscv64/selftests/tools/truth_tasks" "$tmp/put/"
cp "$tmp/put/truth_tasks" "$tmp/root/usr/local/bin/"
record() { echo "ntrace record ${3:---task} --privilege $2 -o /tmp/$1 -- truth_tasks $rounds >/tmp/$1.names; mv /tmp/$1.names /tmp/$1/images/names"; }
# The last one sees no kernel, so it has to come last: not every start has user code in it.
# The first is of harts: nothing but Ownership messages tells whose the code is.
ok "the guest records" truth_run "harts kernel strobe user" \
	"$(record harts u --all); for cpu in 0 1; do taskset -c \$cpu nice sh -c 'while :; do :; done' & done; $(record kernel us); $(record strobe us "--strobe 300,700"); $(record user u); kill %1 %2" \
	--put "$tmp/put/truth_tasks:/usr/local/bin/truth_tasks"

# tasks NAME MIN OPTION...
tasks() {
	local name=$1 min=$2
	shift 2
	"$compare" --log "$tmp/log" --tasks "$tmp/sections" --min "$min" --sysroot "$tmp/root" \
		"$@" "$tmp/$name" | tee "$tmp/$name.compare"
}
named() { tasks "$@" --names "$tmp/$1/images/names"; }
ok "harts: what is decoded is what was executed, by whom it was" "$compare" --log "$tmp/log" --section 0 --names "$tmp/harts/images/names" \
	--min 100000 --priv u --sysroot "$tmp/root" "$tmp/harts"
first() { printf '0 1\n1 1\n' >"$tmp/sections"; }
first
ok "user and kernel: what is decoded is what was executed, by whom it was" named kernel 200000 --kernel-from images/
truth_figures kernel
starts() { awk -v hart="hart $1:" 'index($0, hart) == 1 && /starts of the encoder/ { print $3 }' "$tmp/$2.compare"; }
# Not every thread need have been in its function just then.
ok "strobing: the same, in each moment that the encoder was on" tasks strobe 50000 --kernel-from images/
ok "strobing: it was on and off" test "$(starts 0 strobe)" -gt 20
for name in kernel user; do
	[ $name = kernel ] || ok "user: what is decoded is what was executed, by whom it was" named user 100000 --priv u --last
	for hart in 0 1; do
		ok "$name: hart $hart: $(starts $hart $name) times tasks came and went" test "$(starts $hart $name)" -gt "$rounds"
	done
	is "$(awk '/threads, / { print ($1 >= 6), $3 }' "$tmp/$name.compare")" "1 6" "$name: all threads, and six in functions of their own"
done
truth_figures user

# And it would be seen: a false instruction, a false thread.
for kind in alter drop add; do
	first
	fails "one falsified instruction in the log: $kind" DIFFERENCE tasks kernel 0 --mutate $kind@54321
done
first
awk '{ tid[NR] = $1; name[NR] = $2 } END { for (i = 1; i <= NR; i++) print tid[i % NR + 1], name[i] }' "$tmp/kernel/images/names" >"$tmp/names"
cp "$tmp/names" "$tmp/kernel/images/names"
fails "threads with each other's names" "another worker's" named kernel 0
done_testing
