#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace ctr trace of a program with known system calls; the host evaluates the transfers. Needs two
# harts.
# shellcheck source=selftests/ctr/guest/common.sh
. "$(dirname "$0")/common.sh"
needs_module
# The command and the comparison with the kernel's text read the symbols.
echo 0 >/proc/sys/kernel/kptr_restrict
rounds=10
jit=/proc/sys/net/core/bpf_jit_enable
type=$(<$pmu/type)

# trace NAME ARGUMENTS...: starts ntrace ctr trace in the background and waits until it is attached.
mkfifo "$tmp/said"
trace() {
	local name=$1 line=''
	shift
	ntrace ctr trace "$@" >"$name" 2>"$tmp/said" &
	tracer=$!
	exec {said}<"$tmp/said"
	while read -r line <&"$said" && [[ $line != *tracing* ]]; do diag "$line"; done
	like "$name: attached" 'tracing [0-9]+ functions? on 2 CPUs' "$line"
}
# Starts the program with known system calls, and holds it before the first one.
hold() {
	coproc "$here/calls" $rounds
	read -r pid <&"${COPROC[0]}"
}
go() {
	local held=$COPROC_PID
	echo >&"${COPROC[1]}"
	wait "$held"
}
# ended NAME STATUS: the tracer has ended by itself, with this status.
ended() {
	local status=0
	wait $tracer || status=$?
	is "$status" "$2" "$1: ended with $2" || diag "$(cat <&"$said")"
}
clean() {
	left_clean "$1"
	is "$(</sys/kernel/tracing/enabled_functions)" "" "$1: no function has a trampoline"
}

# Requests that fail, and their error messages.
fails "without root" 'needs root' setpriv --reuid 1000 ntrace ctr trace vfs_open
echo 0 >$jit
fails "BPF is not compiled" 'bpf_jit_enable=1' ntrace ctr trace vfs_open
echo 1 >$jit
recording stacks -a -e ctr/by-cycles/u -j stack,u
fails "another user's call stacks of all tasks leave the ring to nothing else" 'records call stacks' ntrace ctr trace vfs_open
end_recordings
# Other branches share the ring with what follows.
"$here/abi" "$type" hold >"$tmp/said" &
holder=$!
read -r answer <"$tmp/said"
is "$answer" holding "another user records a task"
fails "a missing function" 'no_such_function: no such function' ntrace ctr trace no_such_function

relay bpf "$here/bpf_types"
relay branches "$here/branches"

# The output has each call and each return, and no others.
hold
trace both.json --json -u --entries 160 -p "$pid" -n $((rounds * 4)) do_sys_openat2
ok "the kernel's text is copied" python3 "$here/text.py" "$(grep -m 1 ' T _stext$' /proc/kallsyms)" text
fails "the module is in use" 'busy|Resource temporarily unavailable|in use' rmmod riscv_ctr
go
ended both.json 0
kill $holder
wait $holder 2>/dev/null
clean "ended"

hold
trace errors -e -c calls --entries 192 'do_sys_openat?' do_sys_openat2
go
# A reader gets the output at once, not only when a buffer is full.
all_returned() { [ "$(grep -c returned errors)" -ge "$rounds" ]; }
ok "they are printed at once" wait_for all_returned
kill -KILL $tracer
wait $tracer 2>/dev/null
is "$(sed -n 's/.* calls: //p' errors | sort | uniq -c | tr -s ' ')" \
	" $rounds do_sys_openat2 returned -2 (ENOENT: No such file or directory)" "returns with errors alone"
is "$(grep -cE ' 0x[0-9a-f]{1,12}( |$)' errors)" 0 "nothing of user mode in them"
# The kernel drops the last reference of a program after a grace period.
free() { [ "$(</sys/module/riscv_ctr/refcnt)" -eq 0 ]; }
ok "killed: nothing holds the module" wait_for free
ok "rmmod" rmmod riscv_ctr
is "$(cat /sys/kernel/tracing/enabled_functions)" "" "killed: no function has a trampoline"
fails "without the module" 'load the module riscv_ctr' ntrace ctr trace vfs_open
ok "it can be loaded again" load
clean "loaded again"
done_testing
