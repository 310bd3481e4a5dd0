# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for jobs that use the command in the guest. Each use leaves "NAME.rc", "NAME.out" and
# "NAME.err" in the job's directory. $here is the directory of the programs.
# shellcheck source=selftests/tap.sh
. "${here:?}/tap.sh"

# symbols_from RECORDING: later recordings of this boot read the kernel's symbols from the copy in this one, which is
# the same as theirs: the kernel formats 150,000 lines of /proc/kallsyms for each reader, which takes longer than the rest of a
# recording. For root alone, as the addresses are. The modules must be loaded.
symbols_from() {
	[ ! -e /run/kallsyms ] || return
	if ! install -m 400 "$1/images/kallsyms" /run/kallsyms || ! busybox mount --bind /run/kallsyms /proc/kallsyms; then
		not_ok "the copy of the symbols can be used"
	fi
}
# short_symbols: the same with a recording of its own, unless there is one
short_symbols() {
	[ ! -e /run/kallsyms ] || return
	ntrace record -q -a -o "$tmp/symbols" -- true
	symbols_from "$tmp/symbols"
	rm -rf "$tmp/symbols"
}

load_module() { [ -d /sys/module/ntrace ] || insmod /root/modules/ntrace.ko; }

# attempt NAME COMMAND...: runs it for at most $PATIENCE seconds of the guest's time
attempt() {
	local name=$1
	shift
	timeout "${PATIENCE:-200}" "$@" >"$name.out" 2>"$name.err" </dev/null
	echo $? >"$name.rc"
}
# as_nobody NAME COMMAND...: runs the command without any privileges
as_nobody() {
	local name=$1
	shift
	attempt "$name" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}
# until_true COMMAND...: waits until it succeeds; fails if it never does
until_true() { wait_for "$@" || { not_ok "never came true: $*"; return 1; }; }
ended() { ! kill -0 "$1" 2>/dev/null; }
# finish NAME PID: waits for a background process and writes its exit status to NAME.rc
finish() {
	until_true ended "$2" || kill -KILL "$2"
	wait "$2"
	echo $? >"$1.rc"
}
# polls PID: the process waits in poll(), as the recorder does once the trace runs
polls() { grep -q poll "/proc/$1/wchan"; }

# status NAME STATUS: checks the exit status of an earlier use
status() { is "$(<"$1.rc")" "$2" "$1: exit status" || diag "$(cat "$1.err")"; }
# says NAME STATUS PATTERN: checks the exit status, and the one line on standard error
says() {
	status "$1" "$2"
	is "$(wc -l <"$1.err")" 1 "$1: one line" || diag "$(cat "$1.err")"
	like "$1: says what" "$3" "$(cat "$1.err")"
}
# refused NAME PATTERN COMMAND...: the use fails with status 1 and one line
refused() {
	local name=$1 pattern=$2
	shift 2
	attempt "$name" "$@"
	says "$name" 1 "$pattern"
}
refused_nobody() {
	local name=$1 pattern=$2
	shift 2
	as_nobody "$name" "$@"
	says "$name" 1 "$pattern"
}
