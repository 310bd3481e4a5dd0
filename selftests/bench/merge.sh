#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Merging 1,000 counts files of 20,000 entries: processor time, and the memory beside that of 100 files of the same kind.
# Target: 10 s, and the same memory.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
rounds=${BENCH_ROUNDS:-3}

# 20 different files, and 50 copies of each: merge refuses a file that is given twice.
python3 "$top/selftests/tools/host/counts_file.py" many 20000 20 "$tmp/many"
for ((i = 1; i <= 1000; i++)); do
	cp --reflink=auto "$tmp/many.$((i % 20 + 1))" "$tmp/copy.$i"
	echo "$tmp/copy.$i"
done >"$tmp/files"
head -n 100 "$tmp/files" >"$tmp/few"

# merge LIST: prints seconds of the processor and of the clock, and the largest size of the process in MB
merge() {
	TMPDIR=$tmp python3 - "$top/build/ntrace" "$1" "$tmp/sum" <<-'END'
		import resource, subprocess, sys, time
		start = time.monotonic()
		subprocess.run([sys.argv[1], "merge", "--files-from", sys.argv[2], "-o", sys.argv[3]], check=True, stderr=subprocess.DEVNULL)
		usage = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024)
	END
}
times=() clock=()
for ((i = 0; i < rounds; i++)); do
	read -r seconds elapsed memory < <(merge "$tmp/files")
	times+=("$seconds")
	clock+=("$elapsed")
done
figure merge.1000 "$(median "${times[@]}")" s "$rounds" "<=10"
figure "merge.1000: by the clock" "$(median "${clock[@]}")" s "$rounds"
figure "merge.1000: memory" "$memory" MB 1
read -r _ _ few < <(merge "$tmp/few")
figure "merge.1000: memory for 100 files" "$few" MB 1
figure "merge.1000: memory, of that for 100 files" "$(awk -v a="$memory" -v b="$few" 'BEGIN { print a / b }')" x 1 "<=1.1"
figure "merge.1000: bytes of the files" "$(xargs stat -c %s <"$tmp/files" | awk '{ n += $1 } END { print n }')" bytes 1
write_figures
