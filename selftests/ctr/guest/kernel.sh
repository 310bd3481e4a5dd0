# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Records the kernel, and then by events of the kernel's own PMU; the host judges.
# shellcheck source=selftests/ctr/guest/common.sh
. /root/ctr/common.sh
cd $out || exit 1

# An interrupt of the debug kernel executes more than a short period, which also counts what it
# executes: nothing else would run any more.
slow=1
[ ! -e /proc/lockdep ] || slow=30
# The kernel, while somebody else's counter overflows all the time: its
# interrupts freeze the ring too.
perf record -q -a -o other.data -c $((100003 * slow)) -e instructions sleep 100 2>/dev/null &
sleep 0.2
kernel() {
	perf record -q -o p.data -c $((30011 * slow)) -e "$2" -j "$3" -- bash -c 'for i in {1..30}; do (:); done' 2>"$tmp/log"
	perf script -i p.data -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >"$1.stacks"
	pass "recorded $1: $(wc -l <"$1.stacks") samples"
}
kernel k ctr/cycles,depth=16/k any,k,save_type
kernel uk ctr/cycles,depth=64/ any,u,k,save_type
kernel k_only_branches ctr/cycles,depth=16/u any,k
kill %%
ok "samples were taken" test "$(state samples)" -gt 1000
is "$(state sctrctl) $(state valid)" "0x0 0" "nothing is left"

# The same on the kernel's own PMU, as people type it.
rmmod riscv_ctr
ok "insmod hook=1" insmod /run/ntrace-modules/riscv_ctr.ko hook=1
hooked() {
	local name=$1
	shift
	perf record -q -B -o p.data "$@" >"$name.base" 2>"$tmp/log" || diag "$(cat "$tmp/log")"
	perf script -i p.data --comm edges -F ip,brstack 2>>"$tmp/log" | grep -v '^$' >"$name.stacks"
	pass "recorded $name: $(wc -l <"$name.stacks") samples"
}
hooked hook -b -e cycles:u -c 20011 -- $here/edges 30000
hooked hook_two -b -e cycles:u,instructions:u -c 20011 -- $here/edges 60000 2
perf script -i p.data -F event 2>/dev/null | sort -u >hook_two.events
hooked hook_stack -e cycles:u -j stack,u -c 20011 -- $here/edges 30000 2
hooked hook_ctr -e ctr/cycles,depth=32/u -j any,u -c 20011 -- $here/edges 30000
ok "counting goes on as before" perf stat -e cycles,instructions true
ok "samples without branch stack too" perf record -q -o p.data -e cycles:u true
fails "rmmod is refused" 'busy|Resource temporarily unavailable|in use' rmmod riscv_ctr
is "$(state sctrctl) $(state valid)" "0x0 0" "nothing is left"
done_testing
