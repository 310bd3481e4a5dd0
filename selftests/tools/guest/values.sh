#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # what is in single quotes is for another shell
# `ntrace record --values`: a program with known system calls (guest/valued.c), losses, and what is missing. host/values.sh
# evaluates the recordings.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
load_module
short_symbols
valued=$here/valued
tracing=/sys/kernel/tracing
chmod 755 /root
mkdir -p /tmp/user /mnt/elsewhere
chmod 777 /tmp/user

for way in all task; do
	attempt $way ntrace record --$way --values -o $way.data -- "$valued"
	says $way 0 'trace from 2 CPUs in .* nothing lost'
	# This kernel's perf reads the samples.
	perf script -i $way.data -F pid,tid,time,event >$way.script 2>$way.script.err
	is "$? $(cat $way.script.err)" "0 " "$way: perf script reads the recording"
	perf report -D -i $way.data 2>/dev/null | grep -c PERF_RECORD_SAMPLE >$way.samples
done
# The recorder itself was there all the time: thousands of calls if it were recorded while it copies the kernel.
ok "all: not the calls of the recorder that copies the kernel" test "$(<all.samples)" -lt "$(($(<task.samples) + 700))"
attempt ledger ntrace record -q --task --values -o ledger.data -- "$here/ledger"
status ledger 0
for bug in use_after_free overflow wild_pointer wrong_length race stale_cache integer_overflow double_free uninitialised \
	off_by_one; do
	attempt $bug ntrace record -q --task --values -o bug.$bug.data -- "$here/bugs" $bug
	status $bug 139
done
for values in "" --values; do
	attempt counted$values ntrace record --task $values -o counted$values.data -- "$here/counted"
	status counted$values 7
done
cat >few.sh <<'END'
declare -A count
while read -r -a words; do
	for word in "${words[@]}"; do
		count[${word,,}]=$((${count[${word,,}]:-0} + 1))
	done
done <text
echo "${#count[@]}"
END
head -n 16 /usr/share/common-licenses/Artistic >text
attempt ls ntrace record -q --task --values -o ls.data -- ls -l /etc
attempt sort ntrace record -q --task --values -o sort.data -- sort -r /usr/share/common-licenses/GPL-3
attempt bash ntrace record -q --task --values -o bash.data -- bash few.sh
for program in ls sort bash; do
	status $program 0
done
# bash at work, the script of `make demo`: what --values costs.
for values in "" --values; do
	attempt work$values ntrace record -q -a $values -o work$values.data -- bash -c \
		'begin=$EPOCHREALTIME; bash /root/words.sh; echo $((${EPOCHREALTIME/./} - ${begin/./})) >&2'
	status work$values 0
	cp work$values.err work$values.us
	du -sb --exclude=images work$values.data | cut -f1 >work$values.bytes
	rm -r work$values.data
done

# Nothing stays in the kernel of a recorder that is killed.
programs() { find /proc/[0-9]*/fd -lname 'anon_inode:bpf*' 2>/dev/null | wc -l; }
attempt killed ntrace record --task --values -o killed.data -- sh -c 'find /proc/$PPID/fd -lname "anon_inode:bpf*" >programs; kill -9 $PPID'
ok "the recorder has BPF programs" test "$(wc -l <programs)" -ge 3
is "$(programs)" 0 "none is left"
rm -rf killed.data
attempt thread ntrace record --task --per-thread --values -o thread.data -- true
like "what --per-thread leaves out is said" 'not recorded with --per-thread' "$(cat thread.err)"
rm -rf thread.data

# Twice as many calls as the ring of one CPU has room for, while the recorder is stopped.
attempt lost ntrace record --task --values -o lost.data -- \
	sh -c 'kill -STOP $PPID; taskset -c 1 '"$valued"' storm 24000; kill -CONT $PPID'
status lost 0
like "what was lost is said" "[0-9]+ sideband records lost: .*registers" "$(cat lost.err)"
rm -rf lost.data

# What dies leaves core.PROGRAM in this directory. With values, what follows from the core dump can be compared.
ulimit -S -c unlimited
pattern=$(</proc/sys/kernel/core_pattern)
echo "$PWD/core.%e" >/proc/sys/kernel/core_pattern
for bug in use_after_free stale_cache off_by_one; do
	attempt dead.$bug ntrace record -q --task --values -o dead.$bug.data -- "$here/bugs" $bug
	status dead.$bug 139
	mv core.bugs dead.$bug.core
done
attempt crash ntrace record -q --task -o crash.data -- "$here/bugs" use_after_free
status crash 139
mv core.bugs crash.core
{ cat few.sh; echo 'kill -SEGV $$'; } >killed.sh
attempt shell ntrace record -q --task --values -o shell.data -- bash killed.sh
status shell 139
mv core.bash shell.core
# Killed where it waits for more, as a program that hangs is: nothing but its own work is before the end.
cat >words.sql <<'END'
create table words (word text, count int);
with recursive number(n) as (select 1 union all select n + 1 from number where n < 200)
	insert into words select 'word' || n * 7919 % 101, n from number;
create index by_word on words (word);
.output answer
select word, sum(count) from words group by word order by 2 limit 3;
.output stdout
END
cat >hang.sh <<'END'
mkfifo queries
sqlite3 :memory: <queries &
exec 3>queries
cat words.sql >&3
until [ -s answer ] && [ "$(cut -d" " -f3 /proc/$!/stat)" = S ]; do
	sleep 0.05
done
kill -SEGV $!
wait $!
END
attempt sql ntrace record -q --task --values -o sql.data -- bash hang.sh
status sql 139
mv core.sqlite3 sql.core
echo "$pattern" >/proc/sys/kernel/core_pattern
ulimit -S -c 0

# Where tracefs is, and who may read it.
busybox umount $tracing
busybox umount /sys/kernel/debug/tracing 2>/dev/null
busybox umount /sys/kernel/debug 2>/dev/null
refused no_tracefs 'tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing, or leave --values out' \
	ntrace record --values -o none -- true
busybox mount -t tracefs tracefs /mnt/elsewhere
attempt elsewhere ntrace record -q --task --values -o elsewhere.data -- true
status elsewhere 0
rm -rf elsewhere.data
busybox umount /mnt/elsewhere
busybox mount -t tracefs tracefs $tracing
as_user=(/usr/local/bin/ntrace record -q --values --privilege u)
echo 2 >/proc/sys/kernel/perf_event_paranoid
refused_nobody no_events '/sys/kernel/tracing: no permission.*needs root, or leave --values out' \
	"${as_user[@]}" -o /tmp/user/none -- "$valued"
busybox mount -o remount,gid=65534,mode=750 $tracing
refused_nobody paranoid 'no permission for the tracepoints of --values \(kernel.perf_event_paranoid is 2;' \
	"${as_user[@]}" -o /tmp/user/none -- "$valued"
echo 1 >/proc/sys/kernel/perf_event_paranoid
as_nobody user "${as_user[@]}" -o /tmp/user/user.data -- "$valued"
status user 0
like "what a user may not record is said" 'what system calls write to memory is not recorded' "$(cat user.err)"
mv /tmp/user/user.data .
echo 2 >/proc/sys/kernel/perf_event_paranoid
busybox mount -o remount,gid=0,mode=700 $tracing
is "$(ls -d none /tmp/user/none 2>/dev/null)" "" "a refused recording leaves no directory"
done_testing
