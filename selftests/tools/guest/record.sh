# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of record.sh: uses the command rightly and wrongly, and leaves
# "NAME.rc", "NAME.out" and "NAME.err" of each use in /root/results. Modules of
# this and of other versions are in /root/modules.
mkdir -p /root/results /mnt/small
cd /root/results || exit 1
counted=/root/counted

# attempt NAME COMMAND...
attempt() {
	local name=$1
	shift
	timeout 60 "$@" >"$name.out" 2>"$name.err" </dev/null
	echo $? >"$name.rc"
}

attempt no_module ntrace record -o none -- true
insmod /root/modules/newer.ko
attempt newer ntrace record -o none -- true
rmmod ntrace
insmod /root/modules/older.ko
attempt older ntrace record -o none -- true
rmmod ntrace
insmod /root/modules/ntrace.ko
attempt permission setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
	/usr/local/bin/ntrace record -o /tmp/none -- true
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
mount -t tmpfs -o size=2M none /mnt/small
attempt disk_full ntrace record -o /mnt/small/data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
cp -r /mnt/small/data disk_full.data
umount /mnt/small

attempt signal ntrace record -q -o signal.data -- sh -c 'kill -9 $$'
attempt killed timeout -s KILL 2 ntrace record -o killed.data -- sleep 60
pkill -x sleep
attempt once ntrace record -o twice.data -- true
attempt again ntrace record -o twice.data -- echo again
attempt once_more ntrace record -o twice.data -- true
attempt one_hart ntrace record --harts 1 -o one.data -- true
attempt user ntrace record --privilege u -o user.data -- "$counted"
attempt btm ntrace record --mode btm -o btm.data -- "$counted"
attempt sync ntrace record --sync messages:16 -o sync.data -- "$counted"
attempt loss ntrace record --data-size 4096 -o loss.data -- "$counted"
attempt counted ntrace record -o counted.data -- "$counted"
rm -rf twice.data/aux.*
# What the perf of this kernel makes of it.
perf script -i counted.data --show-mmap-events --show-task-events --show-switch-events \
	>perf.out 2>perf.err
echo $? >perf.rc
