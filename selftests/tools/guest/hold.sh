# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # of live.sh
# `ntrace record --live --hold`, a part of live.sh: the command is stopped while its trace is decoded, and never left stopped.
load=$here/../bench/bench_load
hierarchy=/sys/fs/cgroup
# What the recorder has made: control groups, and temporary files
groups() { ls -d "${1:-$hierarchy}"/ntrace-* 2>/dev/null; }
hold=(ntrace record --live --hold --cpu 1)
# A command that stays stopped would take long.
# shellcheck disable=SC2034 # used by attempt()
PATIENCE=30

refused all "--hold: the decoders need a CPU that is not traced" ntrace record --live --hold --all -o none.counts -- true

# Control groups that cannot be used. The last one is a part of the hierarchy without the cgroup of this process.
! grep -q ' cgroup2 ' /proc/mounts || ok "the hierarchy can be unmounted" busybox umount $hierarchy
refused unmounted "--hold: no cgroup v2 hierarchy is mounted: as root, 'mount -t cgroup2 none /sys/fs/cgroup' mounts it" \
	"${hold[@]}" -o none.counts -- true
ok "the hierarchy can be mounted" busybox mount -t cgroup2 none $hierarchy
ok "it can be made read-only" busybox mount -o remount,ro,bind $hierarchy
refused read_only "--hold: $hierarchy/ntrace-[0-9]+: Read-only file system: needs root" "${hold[@]}" -o none.counts -- true
ok "it can be made writable" busybox mount -o remount,rw,bind $hierarchy
part="a part"
mkdir -p "$part" $hierarchy/other
ok "a part of it can be mounted" busybox mount --bind $hierarchy/other "$part"
busybox umount $hierarchy
refused elsewhere "--hold: no mounted cgroup v2 hierarchy has the cgroup of this process" "${hold[@]}" -o none.counts -- true
is "$(left)$(groups "$part")$(ls none.counts 2>/dev/null)" "" "refused: nothing is left"
# In that part, it can be used.
echo $$ >"$part/cgroup.procs"
attempt part "${hold[@]}" -o part.counts -- cat /proc/self/cgroup
status part 0
like "part: the command's cgroup" '^0::/other/ntrace-[0-9]+$' "$(<part.out)"
is "$(groups "$part")" "" "part: it has been removed"
busybox mount -t cgroup2 none $hierarchy
echo $$ >$hierarchy/cgroup.procs
busybox umount "$part"
rmdir $hierarchy/other "$part"

# A program that makes more trace than the data area holds: recorded as a whole, decoded too slowly, and held. The kernel is not held:
# the recording must not be written to the disk by CPU 1 later.
for use in "full" "lossy --live --data-size 4M" "held --live --hold --data-size 4M"; do
	read -r name options <<<"$use"
	sync
	# shellcheck disable=SC2086 # several words
	attempt "$name" ntrace record $options --cpu 1 -o "$name.data" -- taskset -c 1 "$load" branchy 60
	status "$name" 0
done
is "$(wc -l <held.err)" 3 "held: three lines, no warning" || diag "$(<held.err)"
like "held: how long" "the command was held [1-9][0-9]* times, for [0-9.]+ of [0-9.]+ s, while its trace was decoded" "$(<held.err)"
is "$(groups)" "" "held: no control group is left"

# A process that outlives the command is in the recorder's cgroup then.
# shellcheck disable=SC2016 # for the command
attempt outlived "${hold[@]}" -o outlived.counts -- bash -c 'sleep 1000 & echo $!'
status outlived 0
is "$(cat "/proc/$(<outlived.out)/cgroup")" "0::/" "outlived: the process is in the cgroup of the recorder"
is "$(groups)" "" "outlived: no control group is left"
kill "$(<outlived.out)"
printf '#!/nonexistent\n' >no_exec
chmod +x no_exec
attempt no_exec "${hold[@]}" -o none.counts -- ./no_exec
says no_exec 1 "no_exec: No such file"
is "$(left)$(groups)" "" "no_exec: nothing is left"

# Another program, which is not held, fills the data area before the exec of the command, for which the recorder waits. A lease on the
# command's file delays the exec until the process with the lease has ended.
cp /bin/true leased
exec {lease}< <(exec python3 -c 'import fcntl, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = open("leased")
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
while True:
    signal.pause()')
tenant=$!
read -ru $lease line
is "$line" leased "early: the command's file has a lease"
taskset -c 1 "$here/steady" >/dev/null &
steady=$!
"${hold[@]}" --data-size 1M -o early.counts -- ./leased >early.out 2>early.err </dev/null &
recorder=$!
frozen() { grep -qx "frozen $1" "$(groups)/cgroup.events"; }
until_true frozen 1
is "$(cat "/proc/$(<"$(groups)/cgroup.procs")/comm")" ntrace "early: the command is held before its exec"
kill -KILL $steady
wait $steady 2>/dev/null
wait_seconds=20 until_true frozen 0
kill -KILL $tenant
exec {lease}<&-
wait_seconds=20 finish early $recorder
status early 0
is "$(left)$(groups)" "" "early: nothing is left"

# stopped NAME COMMAND...: starts a recorder whose command waits for the file NAME.go and then runs COMMAND. The recorder is stopped,
# so that nothing is decoded, until the command is held: $recorder, $holder and $group are theirs.
stopped() {
	local name=$1
	shift
	# shellcheck disable=SC2016 # for the command
	"${hold[@]}" --data-size 4M -o "$name.counts" -- bash -c 'until [ -e "$0.go" ]; do sleep 0.05; done
"$@"
echo $? >"$0.ended"' "$name" "$@" >"$name.out" 2>"$name.err" </dev/null &
	recorder=$!
	until_true polls $recorder
	kill -STOP $recorder
	group=$(groups)
	holder=$(grep -lx ntrace-hold /proc/[0-9]*/comm | cut -d / -f 3)
	touch "$name.go"
	wait_seconds=20 until_true grep -qx 'frozen 1' "$group/cgroup.events"
	ok "$name: the program has not ended" test ! -e "$name.ended"
}
# goes_on NAME: the command ends by itself, and its group is removed; lets it end if not
goes_on() {
	wait_seconds=20 until_true test -e "$1.ended"
	is "$(cat "$1.ended" 2>/dev/null)" 0 "$1: the program went on to its end"
	wait_seconds=20 until_true test ! -d "$group"
	[ ! -d "$group" ] || echo 0 >"$group/cgroup.freeze"
}
# The shell and the program, as a descendant, are held.
stopped killed taskset -c 1 "$load" branchy 60
is "$(wc -l <"$group/cgroup.procs")" 2 "killed: two processes are held"
kill -KILL $recorder
wait $recorder 2>/dev/null
goes_on killed
wait_seconds=20 until_true ended "$holder"
rm -rf "$(left)"

stopped holder taskset -c 1 "$load" branchy 60
kill -KILL "$holder"
kill -CONT $recorder
goes_on holder
finish holder $recorder
says holder 1 "--hold: the process that stops the command was killed: the command is no longer stopped"

# The signal ends the command, although it is held, and nothing is lost. Meanwhile the decoder needs more time than the signal.
stopped interrupted taskset -c 1 "$load" branchy 60
pids=$(<"$group/cgroup.procs")
kill -INT $recorder
kill -CONT $recorder
finish interrupted $recorder
status interrupted 143
like "interrupted: held, nothing lost" ' 0 lost.*was held [1-9]' "$(<interrupted.err)"
for pid in $pids; do until_true ended "$pid"; done
is "$(left)$(groups)" "" "interrupted: nothing is left"
