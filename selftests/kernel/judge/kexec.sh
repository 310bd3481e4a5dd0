# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# judge_kexec CONSOLE BLOCKS: the second kernel finds the trace blocks disabled before its own
# driver accesses them
judge_kexec() {
	local line
	sed -nE 's/.*second kernel: ([0-9a-f]+ 0x[0-9A-F]+).*/\1/p' "$1" | sort -u >"$tmp/blocks"
	is "$(wc -l <"$tmp/blocks")" "$2" "kexec: the second kernel reads all of them"
	while read -r line; do
		is "${line#* }" 0x00000008 "kexec: component at 0x${line% *} is inactive in the second kernel"
	done <"$tmp/blocks"
	clean_console "$1" "kexec: the kernel logs are clean" || diag "$(tail -n 60 "$1" | tr -d '\r')"
}

# clean_console CONSOLE TEXT: no kernel warning after the start of the first process; earlier
# warnings do not come from the driver
clean_console() {
	if sed '1,/Run .init as init process/d' "$1" | grep -aE 'BUG|WARNING|Oops' >"$tmp/bad"; then
		not_ok "$2"
		diag "$(cat "$tmp/bad")"
		return 1
	fi
	pass "$2"
}
