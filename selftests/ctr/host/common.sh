# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions that evaluate the branch stacks that a job in the guest has left in the directory $out.
elf=build/riscv64/selftests/ctr/edges

# finds COMMAND...: stores its output lines "NAME VALUE" as ${found[NAME]}
declare -A found
finds() {
	local key value
	found=()
	# shellcheck disable=SC2154 # tap.sh sets it
	"$@" >"$tmp/found" 2>"$tmp/wrong" || diag "$(<"$tmp/wrong")"
	while read -r key value; do found[$key]=$value; done <"$tmp/found"
}
# judge NAME KEY=VALUE...: evaluates branch stacks of the program edges. Pairs of neighbouring entries add up in $joined.
joined=0
judge() {
	# shellcheck disable=SC2154 # the caller sets it
	finds python3 selftests/ctr/host/edges.py $elf "$(sed -n 's/^base //p' "$out/$1.base")" "$out/$1.stacks" "${@:2}"
	joined=$((joined + ${found[joined]:-0}))
}
# many NAME LEAST: at least that many were found.
many() { ok "$1: ${found[samples]:-no} samples" test "${found[samples]:-0}" -ge "$2"; }
# zero NAME FIELD...: none were found.
zero() {
	local name=$1 field sum=0 text=''
	shift
	for field in "$@"; do
		text+=" $field ${found[$field]:-?}"
		sum=$((sum + ${found[$field]:-1}))
	done
	is "$sum" 0 "$name:$text" || diag "$(<"$tmp/wrong")"
}
