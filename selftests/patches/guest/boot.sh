# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Records programs with known edges by events of the kernel's own PMU; the host judges.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
cd $out || exit 1

# record NAME ARGUMENTS...: NAME.stacks, and NAME.base for where it was loaded.
record() {
	local name=$1
	shift
	if perf record -q -o p.data "$@" >"$name.base" 2>"$tmp/log"; then
		perf script -i p.data --comm edges -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >"$name.stacks"
		pass "recorded $name: $(wc -l <"$name.stacks") samples"
	else
		not_ok "record $name"
		diag "$(cat "$tmp/log")"
	fi
}
like "found at boot" 'riscv_ctr: [0-9]+ entries' "$(dmesg | grep riscv_ctr)"
record any -e cycles:u -j any,u,save_type -c 20011 -- $here/edges 70000
record b -b -e cycles:u -c 20011 -- $here/edges 30000
record two -b -e cycles:u,instructions:u -c 20011 -- $here/edges 40000 2
perf script -i p.data -F event 2>/dev/null | sort -u >two.events
record calls -e cycles:u -j call,u,save_type -c 20011 -- $here/edges 30000
# Rings of tasks: somebody else takes the hart whenever the program yields it.
while :; do :; done &
record stack -e cycles:u -j stack,u -c 20011 -- $here/edges 40000
kill $!
record stacks -e cycles:u -j stack,u -c 20011 -- $here/edges 40000 2
record lbr --call-graph lbr -e cycles:u -c 20011 -- $here/edges 30000
perf report -i p.data --stdio --no-children -g caller,0,callee --percent-limit 1 2>/dev/null >lbr.report
perf record -q -o p.data -e cycles:k -j any,k,save_type -c 30011 -- bash -c 'for i in {1..20}; do (:); done' 2>"$tmp/log"
perf script -i p.data -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >k.stacks

fails "transactions are refused" 'support branch stack' \
	sh -c 'perf record -q -o p.data -e cycles:u -j in_tx -- true || exit 1'
ok "samples without a branch stack" perf record -q -o p.data -e cycles:u -- true
ok "counting" perf stat -e cycles,instructions true
while IFS= read -r line; do
	case $line in
	'ok - '*) pass "bpf: ${line#ok - }" ;;
	'not ok - '*) not_ok "bpf: ${line#not ok - }" ;;
	*) echo "$line" ;;
	esac
done < <(/root/patches/snapshot 2>&1)
done_testing
