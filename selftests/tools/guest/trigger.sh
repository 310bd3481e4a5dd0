# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016 # what is in single quotes is for another shell
# The guest's half of trigger.sh: dumps, and "NAME.rc", "NAME.out" and "NAME.err" of each use, in
# /root/results.
# shellcheck source=selftests/tools/guest/common.sh
. /root/common.sh
mkdir -p /tmp/user
chmod 755 /root
chmod 777 /tmp/user

said() { grep -q "$1" "$2"; }
# start NAME OPTION...: in the background, until it says that the trace runs
start() {
	name=$1
	shift
	ntrace trigger --privilege u --aux-size 256K -o "$name.data" "$@" >"$name.out" 2>"$name.err" </dev/null &
	trigger=$!
	until_true said 'tracing; waiting for' "$name.err"
}
trigger_as_nobody() {
	local name=$1
	shift
	as_nobody "$name" /usr/local/bin/ntrace trigger --privilege u -o "/tmp/user/$name.data" "$@"
}

/root/steady 0 >steady.out &
steady=$!
/root/steady 0 >other.out &
other=$!
until_true said ready steady.out
until_true said ready other.out

attempt no_module ntrace trigger --call seldom -o none.data -p $steady
insmod /root/ntrace.ko
attempt no_function ntrace trigger --call nonsense -o none.data -p $steady
attempt no_file ntrace trigger --call seldom@/root/nothing -o none.data -p $steady
echo 2 >/proc/sys/kernel/perf_event_paranoid
trigger_as_nobody no_permission --call seldom@/root/steady -- /root/steady
trigger_as_nobody no_buffer --aux-size 512M -- /root/steady
ls -d none.data /tmp/user/*.data >leftovers 2>/dev/null
pgrep -u 65534 >>leftovers

# Another process that has the same code does not count.
start call --call seldom -p $steady
kill -USR1 $other
until_true said returned other.out
sleep 1
kill -0 $trigger && echo waits >call.waits
kill -USR1 $steady
finish call $trigger

# What a command has started, with the kernel.
attempt command ntrace trigger --call seldom@/root/steady --aux-size 256K -o command.data -- \
	sh -c '/root/steady 0 >command.said & until grep -q ready command.said; do sleep 0.2; done
		kill -USR1 $!; until grep -q returned command.said; do sleep 0.2; done; kill $!; exit 5'

start twice --call seldom@/root/steady -n 2 -p $steady
kill -USR1 $steady
# It says so again when the trace runs again.
again() { [ "$(grep -c 'tracing; waiting' twice.err)" -ge 2 ]; }
until_true again
kill -USR1 $steady
finish twice $trigger
start asked -p $steady
kill -USR2 $trigger
finish asked $trigger
start interrupted --call seldom -p $steady
kill -INT $trigger
finish interrupted $trigger
kill $steady $other

# Limits of time: seldom() sleeps for 100 milliseconds.
/root/steady 100 >>slow.out &
steady=$!
until_true said ready slow.out
start slow --call seldom --over 20ms -p $steady
kill -USR1 $steady
finish slow $trigger
until_true said returned slow.out
: >slow.out
start fast --call seldom --over 100s -p $steady
kill -USR1 $steady
until_true said returned slow.out
kill $steady
finish fast $trigger

# It dies of what it is waited for.
busybox mount -t tracefs none /sys/kernel/tracing 2>/dev/null
attempt signal ntrace trigger --signal SEGV --privilege u --aux-size 256K -o signal.data -- \
	sh -c '(until grep -q ready signal.said; do sleep 0.2; done; kill -USR1 $$) & exec /root/steady 0 x >signal.said'
attempt never ntrace trigger --call seldom@/root/steady -o never.data -- true
exit 0
