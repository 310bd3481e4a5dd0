# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016 # what is in single quotes is for another shell
# The guest's half of record.sh: uses the command rightly and wrongly, and leaves
# "NAME.rc", "NAME.out" and "NAME.err" of each use in /root/results. Modules of
# this and of other versions are in /root/modules.
# shellcheck source=selftests/tools/guest/common.sh
. /root/common.sh
mkdir -p /mnt/small
counted=/root/counted

attempt no_module ntrace record -o none -- true
insmod /root/modules/newer.ko
attempt newer ntrace record -o none -- true
rmmod ntrace
insmod /root/modules/older.ko
attempt older ntrace record -o none -- true
rmmod ntrace
insmod /root/modules/ntrace.ko
as_nobody permission /usr/local/bin/ntrace record -o /tmp/none -- true
ls -d none /tmp/none >leftovers 2>/dev/null

ntrace record -q -o busy.data -- sleep 60 &
recorder=$!
while [ ! -s busy.data/images/kallsyms ] || ! pgrep -x sleep >/dev/null; do sleep 0.2; done
attempt busy ntrace record -o none -- true
kill -TERM "$recorder"
wait "$recorder"
echo $? >terminated.rc
pgrep -x sleep >terminated.left
rm -rf busy.data

attempt no_command ntrace record -o none -- no-such-program
printf '#!/no/such/interpreter\n' >script
chmod +x script
attempt no_interpreter ntrace record -q -o none -- ./script
rm -rf none
attempt no_hart ntrace record --harts 0,7 -o none -- true
attempt too_large ntrace record --sink-size 512G -o none -- true
mkdir precious
touch precious/file
attempt no_recording ntrace record -q -o precious -- true
# Room for the kernel and its symbols, and a little for the trace.
busybox mount -t tmpfs -o size=17M none /mnt/small
attempt disk_full ntrace record -o /mnt/small/data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
cp -r /mnt/small/data disk_full.data
busybox umount /mnt/small

ntrace record -o killed.data -- sleep 60 &
recorder=$!
while ! pgrep -x sleep >/dev/null; do sleep 0.2; done
kill -KILL "$recorder"
pkill -x sleep
attempt loss ntrace record --data-size 4096 -o killed.data -- "$counted"
ls killed.data.old >loss.old
rm -rf killed.data.old
attempt user ntrace record --harts 1 --privilege u -o user.data -- "$counted"
attempt btm ntrace record -q --mode btm --sync messages:16 -o btm.data -- sh -c "$counted"'; kill -9 $$'
attempt counted ntrace record -o counted.data -- "$counted"
attempt packed ntrace record -z -o packed.data -- "$counted"
# Room for what is not trace, and a little for the trace.
room=$(($(du -sk --exclude="aux.*" killed.data | cut -f1) + 512))
busybox mount -t tmpfs -o size="$room"k none /mnt/small
attempt packed_full ntrace record --compression-level 3 -o /mnt/small/data -- \
	sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
cp -r /mnt/small/data packed_full.data
busybox umount /mnt/small
# What the perf of this kernel makes of it.
perf script -i counted.data --show-mmap-events --show-task-events --show-switch-events \
	>perf.out 2>perf.err
echo $? >perf.rc
