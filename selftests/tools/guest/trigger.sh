#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # what is in single quotes is for another shell
# `ntrace trigger`: a recording for each kind of event. host/trigger.sh evaluates them.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
load_module
short_symbols

said() { grep -q "$1" "$2"; }
# start NAME OPTION...: starts it in the background, and waits until the trace runs. A small buffer holds millions of
# instructions of steady, each of which the host decodes.
start() {
	name=$1
	shift
	ntrace trigger --privilege u --aux-size 16K -o "$name.data" "$@" >"$name.out" 2>"$name.err" </dev/null &
	trigger=$!
	until_true said 'tracing; waiting for' "$name.err"
}
# Prints the time that steady has run, in hundredths of a second.
ran() { awk '{ print $14 }' "/proc/$steady/stat"; }
runs_on() {
	before=$(ran)
	advances() { [ "$(ran)" -ge $((before + 2)) ]; }
	until_true advances
}
# fired NAME STATUS PATTERN: checks the exit status and the messages
fired() {
	status "$1" "$2"
	like "$1: says what came, and what opens it" "$3.*ntrace report $1.data.*ntrace export --format perfetto.*ntrace gdb --run( --thread [0-9]+)? $1.data" \
		"$(tr '\n' ' ' <"$1.err")"
}
called='seldom\(\) was called in thread [0-9]+: the trace stopped [0-9.]+ ms later'

"$here/steady" 0 >steady.out &
steady=$!
"$here/steady" 0 >other.out &
other=$!
until_true said ready steady.out
until_true said ready other.out

# A call by another process is not an event: the reported thread must be one of the watched process.
start call --call seldom -p $steady
for count in 1 2 3; do
	returned() { [ "$(grep -c returned other.out)" -ge "$count" ]; }
	kill -USR1 $other
	until_true returned
done
kill -USR1 $steady
finish call $trigger
fired call 0 "seldom\(\) was called in thread $steady: the trace stopped [0-9.]+ ms later"
kill $other
wait $other

# A command that trigger itself starts, with the kernel.
attempt command ntrace trigger --call seldom@"$here/steady" --aux-size 64K -o command.data -- \
	sh -c "$here/steady 0 >command.said & until grep -q ready command.said; do sleep 0.05; done
		kill -USR1 \$!; until grep -q returned command.said; do sleep 0.05; done; kill \$!; exit 5"
fired command 5 "$called"

start twice --call seldom@"$here/steady" -n 2 -p $steady
kill -USR1 $steady
# The message appears again when the trace runs again.
again() { [ "$(grep -c 'tracing; waiting' twice.err)" -ge 2 ]; }
until_true again
kill -USR1 $steady
finish twice $trigger
fired twice 0 "$called.*$called.* 2 dumps"
start asked -p $steady
runs_on
kill -USR2 $trigger
finish asked $trigger
fired asked 0 ' 1 dump, '
start interrupted --call seldom -p $steady
runs_on
kill -INT $trigger
finish interrupted $trigger
fired interrupted 0 ' 1 dump, '
kill $steady
wait $steady

# Time limits: seldom() sleeps for 100 milliseconds.
"$here/steady" 100 >slow.out &
steady=$!
until_true said ready slow.out
start slow --call seldom --over 20ms -p $steady
kill -USR1 $steady
finish slow $trigger
fired slow 0 'seldom\(\) took [1-9][0-9]{2,}\.[0-9]+ ms in thread'
until_true said returned slow.out
: >slow.out
start fast --call seldom --over 100s -p $steady
kill -USR1 $steady
until_true said returned slow.out
kill $steady
finish fast $trigger
is "$(<fast.rc)" 1 "fast: exit status where no call took so long"
like "fast: says how long they took" 'no call of seldom\(\) took longer: 1 were seen, the longest took [1-9][0-9]{2,}\.' "$(cat fast.err)"
wait $steady

# The process dies of the signal that is the event.
attempt signal ntrace trigger --signal SEGV --privilege u --aux-size 16K -o signal.data -- \
	sh -c '(until grep -q ready signal.said; do sleep 0.05; done; kill -USR1 $$) & exec '"$here/steady 0 x >signal.said"
fired signal 139 'signal SEGV in thread'
attempt never ntrace trigger --call seldom@"$here/steady" -o never.data -- true
is "$(<never.rc)" 1 "never: exit status"
like "never: a message" 'seldom\(\) was not called' "$(cat never.err)"
like "never: the end of the trace is saved" 'never.data has what came before the end' "$(cat never.err)"
done_testing
