#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory that the driver gives to sinks. Usage: memory.sh region|low|high
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
start() { printf '0x%x' $(($(register "$(sink 0)" 0x14) << 32 | $(register "$(sink 0)" 0x10))); }
limit() { printf '0x%x' $(($(register "$(sink 0)" 0x1c) << 32 | $(register "$(sink 0)" 0x18))); }
# Starts a process that traces, with a sink buffer of the given size.
traced() {
	hold /dev/ntrace0 "$1" 1048576 || return
	diag "from $(start) to $(limit)"
}

case $1 in
region)
	# Values of the device tree.
	first=$((0xb0000000)) last=$((0xb0000000 + 48 * 1048576 - 1))
	is "$(od -An -tx1 /proc/device-tree/reserved-memory/trace@b0000000/reg | tr -d ' \n')" 00000000b00000000000000003000000 "48 MiB are set aside"
	traced $((32 * 1048576))
	ok "32 MiB of the reserved memory" test $(($(start))) -ge $first -a $(($(limit))) -le $last -a $(($(limit) - $(start))) -ge $((32 * 1048576 - 4096))
	ask stop
	is "$answer" 0 "trace arrives and is consumed"
	before=$(start)
	let_go
	traced $((32 * 1048576))
	is "$(start)" "$before" "it is given back"
	let_go
	# 16 of 48 MiB remain for the other sink.
	hold /dev/ntrace0 $((32 * 1048576)) 1048576
	other=$("$here/hold" /dev/ntrace1 $((16 * 1048576)) 1048576 <<<close | head -n 1)
	is "$other" running "and the rest for another hart"
	like "not more" 'Cannot allocate memory' "$("$here/hold" /dev/ntrace1 $((32 * 1048576)) 1048576 </dev/null)"
	let_go
	;;
low)
	is "$(register "$(sink 0)" 0x14)" 0x00000000 "addresses have 32 bits"
	traced 4194304
	ok "the buffer is below 4 GiB" test $(($(limit))) -lt $((1 << 32))
	ask stop
	is "$answer" 0 "trace arrives and is consumed"
	let_go
	;;
high)
	traced 4194304
	ok "there is a buffer" test $(($(limit) - $(start))) -ge $((4194304 - 4096))
	ask stop
	is "$answer" 0 "trace arrives and is consumed"
	let_go
	;;
esac
nothing_said
done_testing
