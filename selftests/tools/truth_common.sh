# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For the truth tests: recordings made in the guest under the eyes of the
# witness (selftests/oracle/exec_log.c), decoded on this host and held against
# what the witness wrote down. Needs `make vsoc native`.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

oracle=$top/selftests/oracle
compare=$tmp/compare

# The comparer is made from what is there now; it links what everybody links.
truth_build() {
	"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -I"$top/lib/include" -o "$compare" \
		"$oracle"/{compare,match,log_read}.c "$top/build/libntrace.a" -lelf -lzstd -lz -lm -pthread
}

# Skips the whole test if something is missing that `make check-tools` builds.
truth_needs() {
	local file
	for file in build/guest.env build/qemu/qemu-system-riscv64 build/plugin/exec_log.so build/riscv64/ntrace \
		build/riscv64/selftests/tools/truth_load build/libntrace.a; do
		if [ ! -e "$top/$file" ]; then
			echo "1..0 # SKIP $file is missing: make vsoc native"
			exit 0
		fi
	done
	# What runs in the guest and what is decoded must be the same files, also if
	# somebody builds anew meanwhile.
	mkdir -p "$tmp/put" "$tmp/root"
	cp "$top/build/riscv64/ntrace" "$top/build/riscv64/selftests/tools/truth_load" "$top/build/plugin/exec_log.so" "$tmp/put/"
	cp -as "$("$top/tools/vsoc/run" --print-sysroot)/." "$tmp/root/"
	mkdir -p "$tmp/root/usr/local/bin"
	cp "$tmp/put/ntrace" "$tmp/put/truth_load" "$tmp/root/usr/local/bin/"
	truth_build
}

# truth_run NAMES COMMAND OPTION...: boots, runs COMMAND with the witness watching,
# brings back the recordings /tmp/NAME. The log of hart n is $tmp/log.n.
#
# A busy host can stop one hart while another spins for its lock with interrupts
# off, fills its sink and cannot drain it. The driver says so; such a recording
# says nothing of the truth, and another is made. Loss that is not said is found
# by the comparison.
truth_run() {
	local attempt name lost
	for attempt in 1 2 3; do
		truth_boot "$@" || return
		lost=
		for name in $1; do
			lost+=$(awk -v name="$name" '($1 == "lost" || $1 == "gaps") && $2 { printf " %s: %s %d", name, $1, $2 }' "$tmp/$name/params")
		done
		[ -n "$lost" ] || return 0
		echo "attempt $attempt: the recorder reports lost trace:$lost"
	done
	return 1
}

truth_boot() {
	local names=$1 command=$2 name gets=()
	shift 2
	rm -rf "$tmp"/log.*
	for name in $names; do
		rm -rf "${tmp:?}/$name"
		gets+=(--get "/tmp/$name:$tmp")
	done
	"$top/tools/vsoc/run" --quiet --timeout "${TRUTH_TIMEOUT:-500}" --modules --check-dmesg \
		--put "$tmp/put/ntrace:/usr/local/bin/ntrace" --put "$tmp/put/truth_load:/usr/local/bin/truth_load" \
		--plugin "$tmp/put/exec_log.so,out=$tmp/log" "${gets[@]}" "$@" -- sh -c "$command"
}

# The sink buffer has been filled at least 16 times by every hart.
drained_while_running() {
	local name=$1 sink=$2 file size
	for file in "$tmp/$name"/aux.*; do
		size=$(stat -c %s "$file")
		echo "$file: $size bytes, sink $sink"
		[ "$size" -ge $((16 * sink)) ] || return 1
	done
}

# truth_compare NAME SECTION MIN OPTION...
truth_compare() {
	local name=$1 section=$2 min=$3
	shift 3
	"$compare" --log "$tmp/log" --section "$section" --min "$min" --sysroot "$tmp/root" \
		--kernel-from images/ "$@" "$tmp/$name" | tee "$tmp/$name.compare"
}

# For the reader of a test that passes: the figures, as remarks.
truth_figures() {
	diag "$(grep -E '^hart [0-9]+: ([0-9]+ instr|start|causes|.* bytes of trace)|warnings' "$tmp/$1.compare" |
		sed "s#$tmp/##" || true)"
}

# truth_causes NAME HARTS: timer interrupts, system calls and page faults were in it, on every hart.
truth_causes() {
	local cause
	for cause in interrupt5 exception8 'exception1[235]'; do
		if [ "$(grep -cE "^hart [0-9]+: causes:.* $cause=[1-9]" "$tmp/$1.compare")" -ne "$2" ]; then
			echo "not on each hart: $cause"
			grep causes: "$tmp/$1.compare"
			return 1
		fi
	done
}

# truth_mutations NAME SECTION AT OPTION...: one PC altered, removed, added in the
# log must not go unseen.
truth_mutations() {
	local name=$1 section=$2 at=$3 kind
	shift 3
	for kind in alter drop add; do
		fails "$name: the comparison fails with one falsified instruction in the log: $kind" DIFFERENCE \
			"$compare" --log "$tmp/log" --section "$section" --sysroot "$tmp/root" --mutate "$kind@$at" "$@" "$tmp/$name"
	done
}
