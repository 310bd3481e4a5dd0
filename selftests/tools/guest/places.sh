#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # what is in single quotes is for another shell
# File identities x ways of recording: programs whose path is another file's, or no file's, are recorded in each way. Each has a
# function with a name of its own, guest/placed.c, and at most paths this machine has another build. host/places.sh evaluates the
# recordings.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tools/guest/common.sh
. "$here/common.sh"
export ROUNDS=${ROUNDS:-700}
builds=/root/placed
base=/tmp/places
places=14

# root_with PLACE: a root directory with the program and its libraries
root_with() {
	mkdir -p $base/"$1"/{usr,placed,old}
	busybox mount --bind /usr "$base/$1/usr"
	ln -s usr/lib "$base/$1/lib"
	cp "$builds/$1" "$base/$1/placed/"
}

prepare() {
	local name
	mkdir -p $base/{none,overlay.lower,bareover.lower} /placed/{overlay,bareover}
	for name in mounted jailed pivot overlay/prog; do cp $builds/wrong /placed/$name; done
	for name in baremount bareover/prog; do cp $builds/bare-wrong /placed/$name; done
	for name in overlay bareover; do cp $builds/$name $base/$name.lower/prog; done
	root_with jailed
	root_with pivot
	cp $builds/here /placed/
	cp $builds/dev /dev/placed
}

# The programs write to descriptor 3 and wait for the ends of 4 and 5. 8 and 9 keep these open.
open_gates() {
	local gates
	gates=$(mktemp -d $base/gates.XXXXXX)
	mkfifo "$gates"/{said,go,end}
	# shellcheck disable=SC2094 # FIFOs
	exec 3<>"$gates/said" 6<>"$gates/go" 4<"$gates/go" 8>"$gates/go" 6<>"$gates/end" 5<"$gates/end" 9>"$gates/end" 6>&-
}

# start_programs PREFIX: in the background, called PREFIX-PLACE
start_programs() {
	local bind='busybox mount --bind $1 $2 && exec $2 $3'
	local overlay='busybox mount -t overlay -o lowerdir=$1:$2 none $3 && exec $3/prog $4'
	local pivot='busybox mount --rbind $1 $1 && cd $1 && pivot_root . old &&
		exec chroot . sh -c "busybox umount -l /old && exec /placed/pivot $2"'
	/placed/here "$1-here" &
	unshare -m sh -c "$bind" sh $builds/mounted /placed/mounted "$1-mounted" &
	chroot $base/jailed /placed/jailed "$1-jailed" &
	unshare -m sh -c "$pivot" sh $base/pivot "$1-pivot" &
	unshare -m sh -c "$overlay" sh $base/overlay.lower $base/none /placed/overlay "$1-overlay" &
	/dev/placed "$1-dev" &
	$builds/memfd "$1-memfd" memfd &
	/placed/removed "$1-removed" &
	/placed/replaced "$1-replaced" &
	$builds/moved "$1-moved" moved &
	$builds/moving "$1-moving" moving &
	/placed/bare "$1-bare" &
	unshare -m sh -c "$bind" sh $builds/baremount /placed/baremount "$1-baremount" &
	unshare -m sh -c "$overlay" sh $base/bareover.lower $base/none /placed/bareover "$1-bareover" &
}

# hear WORD: waits until all programs have said it
hear() {
	local line i
	for ((i = 0; i < places; i++)); do
		read -r -t $wait_seconds -u 3 line
		[[ $line = *" $1" ]] || { not_ok "program $i says '$line' instead of $1"; return 1; }
	done
}
# launch PREFIX: the programs are ready, and some of their files no longer there
launch() {
	rm -f /placed/{removed,replaced,bare}
	cp $builds/{removed,replaced,bare} /placed/
	cp $builds/wrong $base/replacement
	open_gates
	start_programs "$1" 8>&- 9>&-
	hear ready
	rm /placed/removed
	mv $base/replacement /placed/replaced
}
execute() { exec 8>&-; hear ran; }
end() { exec 9>&-; }

# all_kept DIRECTORY PREFIX MEMORIES: the recorder has copies of what cannot be found later, and has dealt with the last record
# of each program, its name: a file of which it has a copy already must be seen again
all_kept() {
	local name found
	for name in here mounted jailed pivot overlay dev memfd removed replaced moved moving bare baremount bareover; do
		grep -qa "$2-$name" "$1/data" || return 1
	done
	for name in mounted pivot prog "memfd:$2-memfd" removed replaced bare baremount; do
		found=("$1"/images/files/*/"$name")
		[ -e "${found[0]}" ] || return 1
	done
	found=("$1"/images/files/*/memory)
	[ ${#found[@]} = "$3" ]
}

# read_later NAME COMMAND...: after the program without build-id was built again, with the same inode, size and time
read_later() {
	local name=$1
	shift
	touch -r /placed/bare $base/time
	cat $builds/bare-wrong >/placed/bare
	touch -r $base/time /placed/bare
	attempt "$name" "$@"
}
report=(ntrace report --user --json --limit 0)

# What a recorder starts.
if [ "${1:-}" = inside ]; then
	launch "$2"
	execute
	[ -z "$3" ] || until_true all_kept "$3" "$2" 2
	end
	wait
	exit "$tap_failures"
fi

# Many programs at a time that wait for the disk after their exec, and take their names later.
if [ "${1:-}" = storm ]; then
	for round in 1 2 3; do
		for name in here mounted jailed pivot overlay dev removed replaced; do
			$builds/$name storm$round-$name 3>/dev/null 4</dev/null 5</dev/null &
		done
	done
	wait
	exit
fi

# traces NAME: the trace of the recorder runs, which saves the vDSO last before
traces() { [ -s "$1.data/images/vdso" ] && polls "$recorder"; }

load_module
[ -d /sys/module/overlay ] || insmod /usr/lib/ntrace/modules/overlay.ko
[ -d /sys/module/riscv_ctr ] || insmod /root/modules/riscv_ctr.ko
prepare

attempt task ntrace record --task --privilege u -o task.data -- "$here/places.sh" inside t task.data
status task 0
read_later task.archive ntrace archive task.data

launch p
ntrace record -p "$(jobs -p | paste -sd,)" --privilege u -o pid.data >pid.out 2>pid.err </dev/null 8>&- 9>&- &
recorder=$!
until_true traces pid
execute
until_true all_kept pid.data p 2
end
finish pid $recorder
wait
status pid 0
read_later pid.report "${report[@]}" --by-process pid.data

# Programs that ran before the recording, and others.
launch b
mkfifo stop
ntrace record -a --privilege u -o all.data -- cat stop >all.out 2>all.err 8>&- 9>&- &
recorder=$!
until_true traces all
execute
until_true all_kept all.data b 2
end
launch a
execute
until_true all_kept all.data a 4
end
echo >stop
finish all $recorder
wait
status all 0
read_later all.archive ntrace archive all.data

echo 3 >/proc/sys/vm/drop_caches
attempt storm ntrace record -a --privilege u -o storm.data -- "$here/places.sh" storm
says storm 0 'nothing lost'
attempt storm.archive ntrace archive storm.data

# Stock perf copies nothing. All samples are wanted, however long they take.
export ROUNDS=100000
percent=$(</proc/sys/kernel/perf_cpu_time_max_percent)
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
perf_record=(perf record -q --no-bpf-event -e ctr/by-cycles/u -j 'any,u' -c 20011)
attempt perf_task "${perf_record[@]}" -o perf_task.data -- "$here/places.sh" inside t ''
status perf_task 0
read_later perf_task.report "${report[@]}" perf_task.data

launch b
mkfifo control enabled
"${perf_record[@]}" -a --buildid-mmap -D -1 --control fifo:control,enabled -o perf_all.data >perf_all.out 2>perf_all.err 8>&- 9>&- &
recorder=$!
echo enable >control
read -r _ <enabled
execute
end
launch a
execute
end
kill -INT $recorder
finish perf_all $recorder
wait
read_later perf_all.report "${report[@]}" perf_all.data
echo "$percent" >/proc/sys/kernel/perf_cpu_time_max_percent
done_testing
