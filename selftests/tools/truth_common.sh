# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions for the truth tests: the guest makes recordings while the witness
# (selftests/oracle/exec_log.c) logs the execution, and this host decodes them and compares them
# with the log. A test queues recordings with truth_job, boots once with truth_boot, and compares.
# shellcheck source=selftests/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest.sh"
# shellcheck source=selftests/tools/recording_common.sh
. selftests/tools/recording_common.sh
compare=$top/build/oracle/compare
# Instructions of the workers of guest/truth_tasks.c on each hart, wherever the scheduler puts them: in one round more than there are
# harts, each is pinned to each hart once. Together they take 4,200 turns of their loops, of eight instructions.
# shellcheck disable=SC2034 # used by the scripts that source this file
truth_workers=33000
# Number of sections of the log, one per start of the encoder, before the next recording.
section=0

# truth_job NAME ROUNDS PROCESSES OPTION...: records truth_load with these options
truth_job() { guest_job "$1" tools/truth_record.sh "${@:2}"; }

# truth_boot MACHINE OPTION...: the log of hart n is $tmp/log.n
truth_boot() {
	guest_boot "$1" --tools --modules --plugin "$top/build/plugin/exec_log.so,out=$tmp/log" "${@:2}"
	# shellcheck disable=SC2119 # no programs besides those of the tests
	make_sysroot
}

# recorded NAME: checks that the recording exists; sets $data, and $section to its first section
recorded() {
	data=$results/$1/data section=$next_section
	# The log also has the sections of a job that has failed.
	[ ! -e "$data" ] || next_section=$((next_section + 1))
	guest_ran "$1"
}
next_section=0

# drained SINK: every hart has filled the sink's buffer at least 16 times
drained() {
	local file size
	for file in "$data"/aux.*; do
		size=$(stat -c %s "$file")
		echo "$file: $size bytes, sink $1"
		[ "$size" -ge $((16 * $1)) ] || return 1
	done
}

# truth_compare MIN OPTION...: at least MIN instructions of each hart
truth_compare() {
	"$compare" --log "$tmp/log" --section "$section" --min "$1" --sysroot "$sysroot" --kernel-from images/ \
		"${@:2}" "$data" | tee "$tmp/compared"
	return "${PIPESTATUS[0]}"
}

# truth_lossy WHAT [MIN]: of a recording with losses. A hart without trace between two gaps of the sink has one place for
# both.
truth_lossy() {
	truth_compare "${2:-0}" --losses >/dev/null 2>&1
	is "$(grep -cE '^hart .* instructions agree' "$tmp/compared") $(grep -E 'NOT OK|DIFFERENCE' "$tmp/compared" |
		grep -v 'places without trace in the stream')" "4 " \
		"$1: the decoded instructions were executed, and only reported trace is missing" || diag "$(head -n 60 "$tmp/compared")"
}

# truth_lose N: the same of N copies of the recording with parts of its frames taken out
truth_lose() {
	local whole=$data data=$tmp/lossy seed
	for ((seed = ${SEED:-1}; seed < ${SEED:-1} + $1; seed++)); do
		rm -rf "$data"
		selftests/tools/host/lose.py "$whole" "$data" "$seed"
		truth_lossy "seed $seed: parts taken out of the frames"
	done
}

# Prints the figures of a passing test as remarks.
truth_figures() {
	diag "$(grep -E '^hart [0-9]+: ([0-9]+ (instr|losses)|start|causes|.* bytes of trace)|warnings' "$tmp/compared" |
		sed "s#$tmp/##" || true)"
}

# Sets $firmware, and $with_firmware to the options that compare M-mode, too.
# shellcheck disable=SC2034 # used by the scripts that source this file
truth_firmware() {
	local bias
	firmware=$(tools/vsoc/run --print-firmware-elf)
	bias=$(riscv64-linux-gnu-readelf -lW "$firmware" | awk '$1 == "LOAD" { print $3; exit }')
	with_firmware=(--priv usm --firmware "$firmware" --firmware-bias $((0x80000000 - bias)))
}

# truth_causes HARTS: every hart had timer interrupts, system calls and page faults
truth_causes() {
	local cause
	for cause in interrupt5 exception8 'exception1[235]'; do
		if [ "$(grep -cE "^hart [0-9]+: causes:.* $cause=[1-9]" "$tmp/compared")" -ne "$1" ]; then
			echo "not on each hart: $cause"
			grep causes: "$tmp/compared"
			return 1
		fi
	done
}

# truth_mutations NAME AT OPTION...: the comparison must detect one PC altered, removed or added in
# the log
truth_mutations() {
	local kind
	for kind in alter drop add; do
		fails "$1: the comparison fails with one falsified instruction in the log: $kind" DIFFERENCE \
			"$compare" --log "$tmp/log" --section "$section" --sysroot "$sysroot" --mutate "$kind@$2" "${@:3}" "$data"
	done
}

# serve NAME COMMAND...: starts a server for the co-simulation port, and waits until it listens
serve() {
	local name=$1 line
	shift
	mkfifo "$tmp/$name.ready"
	"$@" >"$tmp/$name.ready" 2>"$tmp/$name.err" &
	read -r line <"$tmp/$name.ready" || line=
	is "$line" ready "$name: the server listens"
}
