# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016 # what is in single quotes is for another shell
# The guest's half of tasks.sh: recordings through perf, and "NAME.rc", "NAME.out"
# and "NAME.err" of each, in /root/results.
# shellcheck source=selftests/tools/guest/common.sh
. /root/common.sh
mkdir -p /tmp/user
counted=/root/counted
chmod 755 /root
chmod 777 /tmp/user

# record_as_nobody NAME OPTION...
record_as_nobody() {
	local name=$1
	shift
	as_nobody "$name" /usr/local/bin/ntrace record -o "/tmp/user/$name.data" "$@"
	[ ! -e "/tmp/user/$name.data" ] || mv "/tmp/user/$name.data" .
}

# Somebody else on both harts, whose code is elsewhere.
for cpu in 0 1; do
	taskset -c $cpu sh -c 'while :; do :; done' &
	others+=("$!")
done
attempt root ntrace record --task -o root.data -- "$counted"
attempt btm ntrace record --task --mode btm --sync off --privilege u -o btm.data -- "$counted"
attempt thread ntrace record --per-thread -o thread.data -- "$counted"
kill "${others[@]}"

# A process that runs already, and what it starts.
mkfifo go
sh -c 'read -r line <go; '"$counted" >/dev/null &
pid=$!
while [ "$(</proc/$pid/wchan)" = 0 ]; do sleep 0.1; done
# The vDSO is the last that is saved before the trace starts.
(while [ ! -s pid.data/images/vdso ]; do sleep 0.2; done; sleep 1; echo >go) &
attempt pid ntrace record -p $pid -o pid.data
attempt gone ntrace record -p $pid -o gone.data

echo 3 >/proc/sys/kernel/perf_event_paranoid
record_as_nobody forbidden -- "$counted"
echo 2 >/proc/sys/kernel/perf_event_paranoid
record_as_nobody user -- "$counted"
record_as_nobody kernel --privilege us -- "$counted"
record_as_nobody init -p 1 -- true

# The buffer is full long before the recorder comes to read it.
attempt loss chrt -f 1 taskset -c 0 ntrace record --task --privilege u --aux-size 4096 -o loss.data -- \
	taskset -c 0 chrt -f 2 sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; '"$counted"
# A small one, but the recorder comes: it goes on after each loss.
attempt small ntrace record --task --privilege u --aux-size 16384 -o small.data -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
loop='i=0; while [ $i -lt 6000 ]; do i=$((i+1)); done'
attempt always taskset -c 0 ntrace record --task --privilege u -o always.data -- sh -c "$loop"
attempt strobe taskset -c 0 ntrace record --strobe 300,900 --privilege u -o strobe.data -- sh -c "$loop"
# The last snapshot has the last program in it, and the buffer holds all of that.
attempt snapshot taskset -c 0 ntrace record --snapshot --privilege u --aux-size 64K -o snapshot.data -- \
	sh -c "$loop; kill -USR2 \$PPID; $loop; kill -USR2 \$PPID; sleep 0.5; $loop; exec $counted"
perf script -i user.data -f -D 2>/dev/null | grep -c PERF_RECORD_AUX >aux.count
exit 0
