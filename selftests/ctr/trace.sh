#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace ctr trace: how harts came to a function of the kernel and out of it, held
# against the kernel's text; who may ask, and that nothing is left behind.
# shellcheck source=selftests/ctr/host/common.sh
. "$(dirname "$0")/host/common.sh"

# Wrong uses, before there is anything to do.
ntrace=build/ntrace
fails "no function" 'a function is needed' $ntrace ctr trace
fails "--at nowhere" "'nowhere' is none of" $ntrace ctr trace --at nowhere vfs_open
fails "--errors at entries" '--errors is about returns' $ntrace ctr trace -e --at entry vfs_open
fails "--entries 257" 'not between 1 and 256' $ntrace ctr trace --entries 257 vfs_open
fails "--comm of 16 characters" 'has 1 to 15 characters' $ntrace ctr trace -c 0123456789abcdef vfs_open
fails "a build without BPF says so" 'built without BPF' $ntrace ctr trace vfs_open
like "help has examples" 'examples:.*ntrace ctr trace -e' "$($ntrace ctr trace --help)"

relay guest tools/vsoc/run --quiet --check-dmesg --tools --module build/kernel/ctr/riscv_ctr.ko \
	--put build/riscv64/selftests/ctr:/root/ctr --put selftests/tap.sh:/root/tap.sh \
	--put selftests/ctr/guest/common.sh:/root/ctr/common.sh --put selftests/ctr/guest/trace.sh:/root/ctr/trace.sh \
	--put selftests/ctr/guest/text.py:/root/ctr/text.py --get "/tmp/out:$tmp" \
	"$@" -- bash /root/ctr/trace.sh

judge_ways() {
	found=()
	while read -r key value; do found[$key]=$value; done < <(
		python3 selftests/ctr/host/trace.py "$tmp/out" "$tmp/out/$1" do_sys_openat2 "${@:2}" 2>"$tmp/wrong")
}
judge_ways both.json
is "${found[entries]} ${found[returns]} ${found[errors]}" "20 20 10" "each call and each return, with its error"
zero both illegal broken newest mistyped
# But for those before which the hart has gone to another task and back.
ok "${found[called]} entries came from user mode through the system call" test "${found[called]:-0}" -ge 17
ok "${found[lost]} ways lost to interrupts" test "${found[lost]:-99}" -le 4
ok "${found[user]} transfers of user mode" test "${found[user]:-0}" -gt 100
ok "${found[transfers]} transfers" test "${found[transfers]:-0}" -ge 1500
ok "a probe costs ${found[probe]} entries of the ring" test "${found[probe]:-99}" -le 16
# The judge must see a transfer that goes astray.
judge_ways both.json 20
ok "altered: ${found[illegal]} illegal, ${found[broken]} broken" test "${found[illegal]:-0}" -gt 0 -a "${found[broken]:-0}" -gt 0
done_testing
