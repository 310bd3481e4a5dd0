#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # what is in single quotes is for another shell
# System-wide `ntrace record`: endings and options. host/record.sh evaluates the recordings.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
counted=$here/counted
load_module
mkdir -p /mnt/small

ntrace record -q -a -o busy.data -- sleep 1000 &
recorder=$!
traces() { [ -s busy.data/images/kallsyms ] && child=$(pgrep -P "$recorder" -x sleep); }
until_true traces
refused busy 'busy: process [0-9]+ \(ntrace\)' ntrace record -a -o none -- true
kill -TERM "$recorder"
finish terminated "$recorder"
status terminated 143
ok "SIGTERM: the command ends with the recorder" ended "$child"
attempt symbols ntrace record -q -a -o symbols.data -- true
status symbols 0
symbols_from symbols.data
rm -rf busy.data

# Space for the kernel and its symbols, and for a little trace.
busybox mount -t tmpfs -o size=17M none /mnt/small
attempt disk_full ntrace record -a -o /mnt/small/data -- sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done'
status disk_full 1
like "disk full: said" "disk full" "$(cat disk_full.err)"
cp -r /mnt/small/data disk_full.data
busybox umount /mnt/small

# Trace reaches the files while the recorder runs, and outlives it. The parameters are there before the command starts.
mkfifo go
ntrace record -a -o killed.data -- sh -c "test -s killed.data/params && $counted; echo >go; exec sleep 1000" &
recorder=$!
read -r _ <go
sizes() { stat -c %s killed.data/aux.0 killed.data/aux.1; }
before=$(sizes)
# The trace of the counted program, and a time after it.
for _ in 1 2; do
	grown() { [ "$(sizes)" != "$before" ]; }
	until_true grown
	before=$(sizes)
done
child=$(pgrep -P "$recorder" -x sleep)
kill -KILL "$recorder"
kill "$child"
wait "$recorder"
cp -r killed.data unfinished.data
attempt loss ntrace record --data-size 4096 -o killed.data -- "$counted"
is "$(<loss.rc)" 7 "after a recorder that was killed, the next one traces"
like "what the killed one left becomes .old" "data" "$(ls killed.data.old)"
rm -rf killed.data.old
like "loss: said in words" "CPU [01]: .* lost while recording, in [0-9]+ places?: .*--data-size" "$(cat loss.err)"
attempt user ntrace record --cpu 1 --privilege u -o user.data -- "$counted"
status user 7
is "$(ls user.data/images)" vdso "user: user space alone is without the kernel's code"
# A directory of that name that is not the one of the recording gets no file of it.
attempt remade ntrace record -a -o remade.data -- sh -c 'rm -r remade.data; mkdir remade.data; echo kept >remade.data/other'
says remade 1 "remade.data: was removed or renamed while it was recorded"
is "$(ls remade.data)" other "remade: the directory that the command made is left alone"
rm -r remade.data
attempt btm ntrace record -q -a --mode btm --sync messages:16 -o btm.data -- sh -c "$counted"'; kill -9 $$'
is "$(<btm.rc)" 137 "a command killed by a signal"
attempt counted ntrace record -a -o counted.data -- "$counted"
is "$(<counted.rc)" 7 "the exit status is the command's"
is "$(<counted.out)" "done" "the command's output is its own"
ok "the symbols from the copy are those from the kernel" cmp {symbols,counted}.data/images/kallsyms
rm -rf symbols.data
like "the summary" "trace from 2 CPUs in .* nothing lost.*ntrace report counted.data" "$(cat counted.err)"
attempt packed ntrace record -z -a -o packed.data -- "$counted"
status packed 7
like "--compress: the summary" "of trace \([0-9.]+ [KMG]?i?B compressed\) from 2 CPUs" "$(cat packed.err)"
# Space for the sideband, for the reserve at the end, and for a little trace.
room=$(($(du -sk --exclude="aux.*" killed.data | cut -f1) + 480))
busybox mount -t tmpfs -o size="$room"k none /mnt/small
attempt packed_full ntrace record -a --encoder none --compression-level 3 -o /mnt/small/data -- \
	sh -c 'i=0; while [ $i -lt 8000 ]; do i=$((i+1)); done'
status packed_full 1
like "disk full, compressed: said" "disk full" "$(cat packed_full.err)"
cp -r /mnt/small/data packed_full.data
busybox umount /mnt/small
# This kernel's perf reads the recording.
perf script -i counted.data --show-mmap-events --show-task-events --show-switch-events >perf.out 2>perf.err
is $? 0 "perf of the guest reads the recording" || diag "$(cat perf.err)"
done_testing
