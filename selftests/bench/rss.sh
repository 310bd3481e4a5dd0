#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The memory that decoding needs: a real recording (Debian's bash, user mode, BTM), repeated to 10
# GB, through a pipe into ntrace stat, which follows every instruction. Target: 100 MB at most.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
wanted=${BENCH_RSS_BYTES:-10000000000}

# One process without children: all user code of hart 0 is then its own, at the addresses of its own
# map.
cat >"$tmp/words.sh" <<'END_SCRIPT'
declare -A count
for round in 1 2 3; do
	for file in /usr/share/common-licenses/{BSD,Artistic}; do
		while read -r -a words; do
			for word in "${words[@]}"; do
				word=${word//[^[:alpha:]]/}
				word=${word,,}
				[ -n "$word" ] && count[$word]=$((${count[$word]:-0} + 1))
			done
		done <"$file"
	done
done
while read -r line; do echo "$line"; done </proc/self/maps
END_SCRIPT
"$top/tools/vsoc/run" --quiet --smp 2 --modules --tools --mem 3G --put "$tmp/words.sh:/root/words.sh" \
	--get "/root/ntrace.data:$tmp" -- sh -c 'echo 0 >/proc/sys/kernel/randomize_va_space
		cd /root && taskset 2 ntrace record --quiet --mode btm --cpu 0 --privilege u --sink-size 4M --data-size 128M \
			-- taskset 1 bash words.sh' >"$tmp/maps"
trace=$tmp/ntrace.data/aux.0
size=$(stat -c %s "$trace")
if [ "$size" -lt 50000000 ] || grep -q '^gaps [1-9]' "$tmp/ntrace.data/params"; then
	echo "  rss: a recording of $size bytes is too short or too long"
	exit 1
fi
sysroot=$("$top/tools/vsoc/run" --print-sysroot)
elfs=()
while read -r range mode offset _ _ path _; do
	case $mode$offset in r-xp00000000) ;; *) continue ;; esac
	case $path in
	/*) elfs+=(--elf "$sysroot$path@0x${range%-*}") ;;
	'[vdso]') elfs+=(--elf "$tmp/ntrace.data/images/vdso@0x${range%-*}") ;;
	esac
done <"$tmp/maps"

python3 - "$trace" $(((wanted + size - 1) / size)) "$top/build/ntrace" stat --json "${elfs[@]}" >"$tmp/out" <<'END_PYTHON'
import json, os, resource, subprocess, sys

def run(copies):
    """instructions that ntrace stat counts in so many copies, through a pipe; seconds"""
    reader, writer = os.pipe()
    with open(sys.argv[1], "rb") as trace:
        tool = subprocess.Popen(sys.argv[3:] + ["-"], stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.close(reader)
        size = os.fstat(trace.fileno()).st_size
        for _ in range(copies):
            done = 0
            while done < size:
                done += os.splice(trace.fileno(), writer, size - done, offset_src=done) if hasattr(os, "splice") else \
                    os.write(writer, os.pread(trace.fileno(), 1 << 20, done))
        os.close(writer)
    text = tool.stdout.read()
    _, _, usage = os.wait4(tool.pid, 0)
    return json.loads(text), usage

once, _ = run(1)
all_of_it, usage = run(int(sys.argv[2]))
# The maximum of the process counts from its fork, so it includes the memory of the parent.
print("rss", usage.ru_maxrss * 1024 / 1e6)
print("seconds", usage.ru_utime + usage.ru_stime)
print("bytes", all_of_it["bytes"])
print("instructions", all_of_it["instructions"])
print("whole", int(once["instructions"] * int(sys.argv[2]) == all_of_it["instructions"]))
END_PYTHON
of() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/out"; }
if [ "$(of whole)" != 1 ]; then
	echo "  rss: the repeated trace has other instructions than the trace"
	exit 1
fi
figure rss.10g "$(of rss)" MB 1 "<=100"
figure "rss.10g: bytes through the pipe" "$(of bytes)" bytes 1
figure "rss.10g: instructions followed" "$(of instructions)" instructions 1
figure "rss.10g: speed" "$(awk -v a="$(of bytes)" -v b="$(of seconds)" 'BEGIN { print a / b / 1e6 }')" MB/s 1
write_figures
