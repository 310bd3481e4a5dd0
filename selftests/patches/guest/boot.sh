#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records programs with known edges with events of the kernel's own PMU; the host evaluates the recordings.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/../ctr/common.sh"

like "found at boot" 'riscv_ctr: [0-9]+ entries' "$(dmesg | grep riscv_ctr)"
echo 0 >/sys/module/riscv_ctr/parameters/depth
edges_stacks any -e cycles:u -j any,u,save_type -c 20011 -- "$here/edges" 70000
echo 32 >/sys/module/riscv_ctr/parameters/depth
edges_stacks b -b -e cycles:u -c 20011 -- "$here/edges" 30000
edges_stacks two -b -e cycles:u,instructions:u -c 20011 -- "$here/edges" 40000 2
perf script -i "$tmp/p.data" -F event 2>/dev/null | sort -u >two.events
edges_stacks calls -e cycles:u -j call,u,save_type -c 20011 -- "$here/edges" 30000
# Rings per task: another task takes the hart whenever the program yields it.
while :; do :; done &
edges_stacks stack -e cycles:u -j stack,u -c 20011 -- "$here/edges" 40000
kill $!
edges_stacks stacks -e cycles:u -j stack,u -c 20011 -- "$here/edges" 40000 2
edges_stacks lbr --call-graph lbr -e cycles:u -c 20011 -- "$here/edges" 30000
perf report -i "$tmp/p.data" --stdio --no-children -g caller,0,callee --percent-limit 1 2>/dev/null >lbr.report
perf record -q -o "$tmp/p.data" -e cycles:k -j any,k,save_type -c 30011 -- bash -c 'for i in {1..20}; do (:); done' 2>"$tmp/log"
perf script -i "$tmp/p.data" -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >k.stacks

# shellcheck disable=SC2016 # for that shell
fails "transactions are refused" 'support branch stack' \
	sh -c 'perf record -q -o "$1" -e cycles:u -j in_tx -- true || exit 1' sh "$tmp/p.data"
ok "samples without a branch stack" perf record -q -o "$tmp/p.data" -e cycles:u -- true
ok "counting" perf stat -e cycles,instructions true
# snapshot looks for the helper's address.
echo 0 >/proc/sys/kernel/kptr_restrict
relay bpf "$(dirname "$0")/snapshot"
echo 2 >/proc/sys/kernel/kptr_restrict
done_testing
