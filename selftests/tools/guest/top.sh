# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The guest's half of top.sh: "NAME.rc", "NAME.out" and "NAME.err" of each use in /root/results.
# shellcheck source=selftests/tools/guest/common.sh
. /root/common.sh
lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
# worth NAME: nothing was lost, and in each window the program was there
worth() {
	jq -es 'all(.[]; .lost.places + .gaps + .errors == 0 and
		([.functions[] | select(.function == "heavy") | .instructions] | add) > 20000)' "$1.out" >/dev/null
}
# sampled NAME COMMAND...: up to three times, for the host may be busy with other things
sampled() {
	local i
	for i in 1 2 3; do
		attempt "$@"
		worth "$1" && return
	done
}

attempt no_module ntrace top -n 1
insmod /root/ntrace.ko
as_nobody permission /usr/local/bin/ntrace top -n 1
attempt gone ntrace top -p 4194000 -n 1

/root/steady >/dev/null &
steady=$!
echo $steady >pid
# Short windows: what is traced in 0.1 s is looked at for half a minute here.
sampled harts ntrace top -n 2 -d 0.2 --share 10 --json --limit 0
sampled process ntrace top -p $steady -n 3 -d 0.1 --share 20 --privilege u --json --limit 0
attempt kernel ntrace top -p $steady -n 1 -d 0.2 --share 20 --sort calls --batch --limit 5
# The same by the other way: what report says of it.
attempt whole ntrace record -p $steady --privilege u -o whole.data -- sleep 0.2

# Memory does not grow with the number of windows, and what they say of time adds up.
date +%s.%N >many.begin
ntrace top -p $steady -d 0.1 --share 5 --privilege u --json >many.out 2>many.err </dev/null &
top=$!
until_true lines many.out 5 && grep VmHWM "/proc/$top/status" >many.early
until_true lines many.out 15 && grep VmHWM "/proc/$top/status" >many.late
kill -INT $top
finish many $top
date +%s.%N >many.end

# A terminal: keys, and a signal.
on_terminal() {
	local name=$1
	shift
	TERM=xterm python3 /root/terminal.py "$name.out" "$@" -- \
		ntrace top -p $steady -d 0.1 --share 10 --privilege u >"$name.said" 2>"$name.err"
	echo $? >"$name.rc"
}
on_terminal terminal 1:traced:c 3:traced:p 1:PAUSED:q
on_terminal signal 1:traced:SIGTERM

# The process ends while it is watched.
ntrace top -p $steady -d 0.1 --share 5 --privilege u --json >ended.out 2>ended.err </dev/null &
top=$!
until_true lines ended.out 1
kill $steady
finish ended $top
ls -d /tmp/ntrace-top.* >leftovers 2>/dev/null
exit 0
