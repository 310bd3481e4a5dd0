# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests that record in the guest and judge on the host.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tap.sh"
cd "$top" || exit 1
elf=build/riscv64/selftests/ctr/edges

# guest SCRIPT: runs it; what it leaves in /tmp/out comes to $tmp/out. It is in $scripts,
# and what is special about the machine in $options.
scripts=selftests/ctr/guest
options=(--module build/kernel/ctr/riscv_ctr.ko)
guest() {
	local status=0
	tools/vsoc/run --quiet --smp 1 --icount --check-dmesg "${options[@]}" \
		--put build/riscv64/selftests/ctr:/root/ctr --put selftests/tap.sh:/root/tap.sh \
		--put selftests/ctr/guest/common.sh:/root/ctr/common.sh --put "$scripts/$1:/root/ctr/$1" \
		--get "/tmp/out:$tmp" -- bash "/root/ctr/$1" >"$tmp/guest" 2>"$tmp/guest.err" || status=$?
	is "$status" 0 "the guest records" && return
	diag "$(cat "$tmp/guest" "$tmp/guest.err")"
	done_testing
}

# judge NAME KEY=VALUE...: sets the variables samples, illegal, ...
declare -A found
judge() {
	local name=$1 key value
	shift
	found=()
	python3 selftests/ctr/host/edges.py $elf "$(sed -n 's/^base //p' "$tmp/out/$name.base")" "$tmp/out/$name.stacks" "$@" \
		>"$tmp/found" 2>"$tmp/wrong" || diag "$(cat "$tmp/wrong")"
	while read -r key value; do found[$key]=$value; done <"$tmp/found"
}
# zero NAME FIELD...: nothing of that sort was found.
zero() {
	local name=$1 field sum=0 text=''
	shift
	for field in "$@"; do
		text+=" $field ${found[$field]}"
		sum=$((sum + ${found[$field]:-1}))
	done
	is "$sum" 0 "$name:$text" || diag "$(cat "$tmp/wrong")"
}
