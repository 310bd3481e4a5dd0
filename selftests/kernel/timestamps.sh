#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Time in the trace: what can be had is offered and the rest refused; what is
# decoded agrees with the guest's own clock, and never goes back. With -icount
# both are exact.
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
ntrace=$top/build/ntrace
program=build/riscv64/selftests/kernel/timestamps
mkdir -p "$tmp/sysroot/root/kernel" "$tmp/sysroot/usr/local/bin"
cp "$program" "$tmp/sysroot/root/kernel/"
cp build/riscv64/ntrace "$tmp/sysroot/usr/local/bin/"
guest_root=$(tools/vsoc/run --print-sysroot)
ln -s "$guest_root"/* "$tmp/sysroot/" 2>/dev/null
ln -s "$guest_root"/usr/* "$tmp/sysroot/usr/" 2>/dev/null

# boot NAME MODES BITS "RECORDING..." OPTION...
boot() {
	local name=$1 modes=$2 bits=$3 recordings=$4
	shift 4
	mkdir -p "$tmp/$name"
	# shellcheck disable=SC2086
	relay "$name" tools/vsoc/run --quiet --modules --tools --check-dmesg "$@" \
		--put build/riscv64/selftests/kernel:/root/kernel --put selftests/tap.sh:/root/tap.sh \
		--put selftests/kernel/guest/common.sh:/root/kernel/common.sh \
		--put selftests/kernel/guest/timestamps.sh:/root/kernel/timestamps.sh \
		--get "/root/results:$tmp/$name" -- bash /root/kernel/timestamps.sh "$modes" "$bits" $recordings
}

# times NAME: per stream "FIRST LAST BACK LENGTH START": times of the first and the last
# event, how often it went back, how long the trace was by the kernel's clock and when it
# began; then "marks A B": when mark() returned.
times() {
	"$ntrace" decode --json --sysroot "$tmp/sysroot" --level block "$1" 2>/dev/null | python3 -c '
import json, sys
params, streams, marks = {}, {}, []
for line in open(sys.argv[1] + "/params"):
    key, _, value = line.strip().partition(" ")
    if key == "stream":
        current = params[int(value)] = {}
    elif params:
        current[key] = value
for line in sys.stdin:
    event = json.loads(line)
    if "time" not in event:
        continue
    time = int(event["time"], 16)
    stream = streams.setdefault(event["stream"], [time, time, 0])
    stream[2] += time < stream[1]
    stream[1] = time
    if event.get("symbol") == "mark" and event.get("class") == "return":
        marks.append(time)
for number, stream in sorted(streams.items()):
    start, stop = (int(params[number][key]) for key in ("start_ns", "stop_ns"))
    print(*stream, stop - start, start)
print("marks", *marks)' "$1"
}

# between LEAST VALUE MOST TEXT
between() { ok "$4: $2 is in $1..$3" test "$1" -le "$2" -a "$2" -le "$3"; }

# span NAME FILE TOLERANCE [TICK [FACTOR]]: between two marks as much as between two looks at the clock
span() {
	local name=$1 first last inner outer
	read -r _ first last _ < <(grep marks "$tmp/$name.txt")
	read -r inner outer <"${2:?}"
	# The clock counts by 100 ns.
	between $((inner - 100 - $3)) $(((last - first) * ${4:-1})) $((${5:-1} * outer + 100 + $3)) "$name: time between two calls"
}

boot direct 0xc 48 "system core task turns" --icount --smp 1
boot chain 0x1c 48 "shared harts" --icount --smp 2 --topology chain
boot still 0xc 48 "" --topology funnel --global ntrace-funnel.timestamp-bits=0
boot none 0 0 none --global ntrace-encoder.timestamp-bits=0

for name in direct/system direct/core direct/task chain/shared; do
	recording=$tmp/${name%/*}/results/${name#*/}.data
	name=${name#*/}
	times "$recording" >"$tmp/$name.txt"
	is "$(awk '!/marks/ { print ($3 == 0) }' "$tmp/$name.txt" | sort -u)" 1 "$name: time never goes back" ||
		diag "$(cat "$tmp/$name.txt")"
done
span system "$tmp/direct/results/system.times" 0
# Time of the task is divided by 16; the core counts parcels, of which an instruction has one or two.
span task "$tmp/direct/results/task.times" 32 16
span core "$tmp/direct/results/core.times" 0 1 2
span shared "$tmp/chain/results/shared.times" 0
# The first message tells of the start; the last one that has a time, of what was shortly before the end.
while read -r first last _ length _; do
	between $((length - 20000)) $((last - first)) $((length + 1000)) "system: from start to stop"
done < <(grep -v marks "$tmp/system.txt")
# Two harts that call mark() in turn: their streams have one clock, or they would not alternate.
is "$("$ntrace" decode --json --sysroot "$tmp/sysroot" --level block "$tmp/chain/results/harts.data" 2>/dev/null | python3 -c '
import json, sys
events = (json.loads(line) for line in sys.stdin)
marks = sorted((int(event["time"], 16), event["stream"]) for event in events
               if event.get("symbol") == "mark" and event.get("class") == "return")
streams = [stream for _, stream in marks]
print(len(streams), set(zip(streams, streams[1:])) == {(0, 1), (1, 0)}, streams == [0, 1] * 20)')" "40 True True" \
	"harts: 40 calls alternate"
# Two tasks that take turns in one stream; a synchronization has the whole time. To a
# decoder a counter that was set back has come round.
is "$("$ntrace" dump "$tmp/direct/results/turns.data" | python3 -c '
import re, sys
times = [int(time, 16) for time in re.findall(r" ProgTraceSync .* TSTAMP=0x([0-9a-f]+)", sys.stdin.read())]
print(len(times) > 100, times == sorted(times))')" "True True" "turns: two tasks have one time"
done_testing
