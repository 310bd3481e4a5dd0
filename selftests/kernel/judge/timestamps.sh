# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # $top, $tmp and $results are those of guest.sh
# Time in the trace agrees with the guest's own clock, and never decreases. With -icount, both are exact.
# shellcheck source=selftests/kernel/judge/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# times NAME: prints per stream "FIRST LAST BACK LENGTH START": times of the first and the last
# event, the number of decreases, the length and the start of the trace by the kernel's clock; then
# "marks A B", the times at which mark() returned, and "parcels N", how many the traced instructions between the two returns
# have at least: a block does not tell whether its last instruction has one or two.
times() {
	"$ntrace" decode --json --sysroot "$sysroot" --level block "$1" 2>/dev/null | python3 -c '
import json, sys
params, streams, marks, parcels = {}, {}, [], 0
for line in open(sys.argv[1] + "/params"):
    key, _, value = line.strip().partition(" ")
    if key == "stream":
        current = params[int(value)] = {}
    elif params:
        current[key] = value
for line in sys.stdin:
    event = json.loads(line)
    if event["type"] == "block" and len(marks) == 1:
        parcels += (int(event["last"], 16) - int(event["address"], 16)) // 2 + 1
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
print("marks", *marks)
print("parcels", parcels)' "$1"
}

# never_back NAME: no time decreases; keeps the output of times in $tmp/NAME.txt
never_back() {
	make_sysroot
	times "$results/timestamps/$1.data" >"$tmp/$1.txt"
	is "$(awk '/^[0-9]/ { print ($3 == 0) }' "$tmp/$1.txt" | sort -u)" 1 "$1: time never goes back" ||
		diag "$(cat "$tmp/$1.txt")"
}

# between LEAST VALUE MOST TEXT
between() { ok "$4: $2 is in $1..$3" test "$1" -le "$2" -a "$2" -le "$3"; }

# span NAME TOLERANCE [TICK]: the time between two marks equals the time between two readings of the clock
span() {
	local first last inner outer
	read -r _ first last _ < <(grep marks "$tmp/$1.txt")
	read -r inner outer <"$results/timestamps/$1.times"
	# The clock counts in steps of 100 ns.
	between $((inner - 100 - $2)) $(((last - first) * ${3:-1})) $((outer + 100 + $2)) "$1: time between two calls"
}

# span_of_core NAME: the time between two marks in parcels that this hart executed: at least those in the trace, and at most
# two in each nanosecond, in which one of the harts executes one instruction.
span_of_core() {
	local first last least outer
	read -r _ first last _ < <(grep marks "$tmp/$1.txt")
	read -r _ least < <(grep parcels "$tmp/$1.txt")
	read -r _ outer <"$results/timestamps/$1.times"
	ok "$1: many parcels between two calls" test "$least" -gt 100000
	between "$least" $((last - first)) $((2 * outer + 200)) "$1: time between two calls"
}

judge_own_times() {
	local first last length
	never_back system
	never_back core
	never_back task
	span system 0
	# System time is divided by 16.
	span task 32 16
	span_of_core core
	# The first message has the time of the start. The last timestamp is shortly before the end:
	# before the other hart, which requests the end, had its turns of 20 us.
	while read -r first last _ length _; do
		between $((length - 60000)) $((last - first)) $((length + 1000)) "system: from start to stop"
	done < <(grep '^[0-9]' "$tmp/system.txt")
	# Two tasks alternate in one stream; a sync message has the complete time. To a decoder, a
	# counter that was reset has wrapped.
	is "$("$ntrace" dump "$results/timestamps/turns.data" | python3 -c '
import re, sys
times = [int(time, 16) for time in re.findall(r" ProgTraceSync .* TSTAMP=0x([0-9a-f]+)", sys.stdin.read())]
print(len(times) > 100, times == sorted(times))')" "True True" "turns: two tasks have one time"
}

judge_shared_times() {
	never_back shared
	span shared 0
	# Two harts that call mark() alternately: with different clocks, their streams would not alternate.
	is "$("$ntrace" decode --json --sysroot "$sysroot" --level block "$results/timestamps/harts.data" 2>/dev/null | python3 -c '
import json, sys
events = (json.loads(line) for line in sys.stdin)
marks = sorted((int(event["time"], 16), event["stream"]) for event in events
               if event.get("symbol") == "mark" and event.get("class") == "return")
streams = [stream for _, stream in marks]
print(len(streams), set(zip(streams, streams[1:])) == {(0, 1), (1, 0)}, streams == [0, 1] * 20)')" "40 True True" \
		"harts: 40 calls alternate"
}
