#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # what is in single quotes is for another shell
# Per-process `ntrace record`: a command with its children, a running process, one thread, an unprivileged user.
# host/tasks.sh evaluates the recordings.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
load_module
short_symbols
counted=$here/counted
chmod 755 /root
mkdir -p /tmp/user
chmod 777 /tmp/user

# record_as_nobody NAME OPTION...
record_as_nobody() {
	local name=$1
	shift
	as_nobody "$name" /usr/local/bin/ntrace record -o "/tmp/user/$name.data" "$@"
	[ ! -e "/tmp/user/$name.data" ] || mv "/tmp/user/$name.data" .
}

# A second task on both harts, whose code is at other addresses.
for cpu in 0 1; do
	taskset -c $cpu nice sh -c 'while :; do :; done' &
	others+=("$!")
done
# The command alone, for root as for others.
attempt root ntrace record -o root.data -- "$counted"
says root 7 'trace from 2 CPUs in .* nothing lost.*ntrace report root.data'
attempt btm ntrace record --task --mode btm --sync off --privilege u -o btm.data -- "$counted"
says btm 7 'trace from 2 CPUs, user space only, in .* nothing lost'
attempt thread ntrace record --per-thread -o thread.data -- "$counted"
says thread 7 'trace from 1 threads in .* nothing lost'
kill "${others[@]}"
wait "${others[@]}"

# A running process and the processes that it starts.
mkfifo go
sh -c 'read -r line <go; '"$counted" >/dev/null &
pid=$!
waits() { [ "$(<"/proc/$pid/wchan")" != 0 ]; }
until_true waits
ntrace record -p $pid -o pid.data >pid.out 2>pid.err </dev/null &
recorder=$!
# The recorder saves the vDSO last before the trace starts.
traces() { [ -s pid.data/images/vdso ] && polls "$recorder"; }
until_true traces
echo >go
finish pid "$recorder"
wait "$pid"
says pid 0 'trace from 2 CPUs in .* nothing lost'
# A recorder that is killed.
ntrace record --task -o killed.data -- sh -c "test -s killed.data/params && $counted; echo >go; exec sleep 1000" &
recorder=$!
read -r _ <go
# Each round of the recorder makes data larger.
size=$(stat -c %s killed.data/data)
for _ in 1 2; do
	grown() { [ "$(stat -c %s killed.data/data)" -gt "$size" ]; }
	until_true grown
	size=$(stat -c %s killed.data/data)
done
child=$(pgrep -P "$recorder" -x sleep)
kill -KILL "$recorder"
kill "$child"
wait "$recorder"
refused gone 'no process' ntrace record -p $pid -o gone.data

echo 3 >/proc/sys/kernel/perf_event_paranoid
record_as_nobody forbidden -- "$counted"
says forbidden 1 'no permission.*perf_event_paranoid is 3'
echo 2 >/proc/sys/kernel/perf_event_paranoid
record_as_nobody user -- "$counted"
says user 7 'trace from 2 CPUs, user space only, in .* nothing lost'
record_as_nobody kernel --privilege us -- "$counted"
says kernel 1 'no permission.*with the kernel.*paranoid is 2'
record_as_nobody init -p 1 -- true
says init 1 'no permission to trace process 1 '
is "$(ls -d ./{gone,forbidden,kernel,init}.data 2>/dev/null)" "" "a refused recording leaves no directory"

is "$(awk '$1 == "cpu" { cpu = $2 } $1 == "hartid" { print cpu, $2 }' user.data/params | sort -u)" \
	"$(awk '$1 == "processor" { cpu = $3 } $1 == "hart" && $2 == ":" { print cpu, $3 }' /proc/cpuinfo | sort)" "user: each stream has its CPU and hart"

# The buffer is full before the recorder, which has a lower priority, can read it.
attempt loss chrt -f 1 taskset -c 0 ntrace record --task --privilege u --aux-size 4096 -o loss.data -- \
	taskset -c 0 chrt -f 2 sh -c 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; '"$counted"
like "loss: said" 'warning: CPU 0: trace lost while recording, in [0-9]+ places?: .*AUX area was full' "$(cat loss.err)"
# A small buffer that the recorder reads: recording continues after each loss. Each round overflows
# the buffer of at least one hart; between the rounds the program sleeps until the recorder has read
# everything.
recorder_sleeps='sleep 0.05; until grep -q poll /proc/$PPID/wchan; do sleep 0.05; done'
attempt small ntrace record --task --privilege u --aux-size 16384 -o small.data -- \
	sh -c "for round in 1 2 3; do i=0; while [ \$i -lt 2000 ]; do i=\$((i+1)); done; $recorder_sleeps; done"
status small 0
# A full disk: what is not written is lost.
mkdir -p /mnt/small
full() {
	local name=$1 size=$2
	shift 2
	busybox mount -t tmpfs -o size="$size" none /mnt/small
	attempt "$name" ntrace record --task --encoder none --privilege u "$@" -o /mnt/small/data -- \
		sh -c 'i=0; while [ $i -lt 1500 ]; do i=$((i+1)); done'
	status "$name" 1
	like "$name: said" 'error: /mnt/small/data: disk full' "$(cat "$name.err")"
	cp -r /mnt/small/data "$name.data"
	busybox umount /mnt/small
}
full full 700k
full full_packed 340k --compression-level 3
# The buffer has room for the whole trace, however late the recorder reads it.
loop='i=0; while [ $i -lt 300 ]; do i=$((i+1)); done'
attempt always taskset -c 0 ntrace record --task --privilege u -o always.data -- sh -c "$loop"
says always 0 'nothing lost'
attempt strobe taskset -c 0 ntrace record --strobe 300,900 --privilege u -o strobe.data -- sh -c "$loop"
says strobe 0 'nothing lost'
# The last snapshot contains the last program, whose trace fits completely into the buffer.
taken() { echo "kill -USR2 \$PPID; until [ -e snapshot.data/aux.$1 ]; do sleep 0.05; done; $recorder_sleeps"; }
attempt snapshot taskset -c 0 ntrace record --snapshot --privilege u --aux-size 64K -o snapshot.data -- \
	sh -c "$loop; $(taken 0); $loop; $(taken 1); $loop; exec $counted"
status snapshot 7
like "stock perf sees records of the AUX areas" '^[1-9]' "$(perf script -i user.data -f -D 2>/dev/null | grep -c PERF_RECORD_AUX)"
done_testing
