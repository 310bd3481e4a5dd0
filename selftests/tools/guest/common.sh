# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For the guest's halves of the tests of `ntrace record` and its like: "NAME.rc", "NAME.out" and
# "NAME.err" of each use, in /root/results.
mkdir -p /root/results
cd /root/results || exit 1

# attempt NAME COMMAND...
attempt() {
	local name=$1
	shift
	timeout 200 "$@" >"$name.out" 2>"$name.err" </dev/null
	echo $? >"$name.rc"
}
# as_nobody NAME COMMAND...: with no rights at all
as_nobody() {
	local name=$1
	shift
	attempt "$name" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}
# until_true COMMAND...: waits, but not for ever
until_true() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep 0.2
	done
	return 1
}
ended() { ! kill -0 "$1" 2>/dev/null; }
# finish NAME PID: the exit status of what runs in the background, which is not waited for for ever
finish() {
	until_true ended "$2" || kill -KILL "$2"
	wait "$2"
	echo $? >"$1.rc"
}
