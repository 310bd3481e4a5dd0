#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Encoders without a filter: the firmware is in every trace. Users other than root get none, and the command tells.
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
type=$(<$pmu/type) paranoid=$(</proc/sys/kernel/perf_event_paranoid)
for level in 2 -1; do
	echo "$level" >/proc/sys/kernel/perf_event_paranoid
	program security open "$type" "$level" $$
done

# run NAME STATUS COMMAND...: its messages are in $err afterwards.
run() {
	local name=$1 status=$2
	shift 2
	"$@" >/dev/null 2>"$name.err"
	is "$?" "$status" "$name: status $status"
	err=$(<"$name.err")
}
for way in all task; do
	run "$way" 0 ntrace record "--$way" -o "$way" -- true
	like "$way: a warning" 'no filter for privileges \(trTeInstFilters is 0\).*firmware' "$err"
	like "$way: the summary" 'no trace lost, with firmware' "$err"
	is "$(sed -n 's/^privilege //p' "$way/params")" 107 "$way: the recording has what was traced"
	run "$way-us" 1 ntrace record "--$way" --privilege us -o "$way-us" -- true
	like "$way: a filter is refused" 'no filter for privileges \(trTeInstFilters is 0\).*leave out --privilege' "$err"
done
# All is what the encoder traces.
run usm 0 ntrace record --all --privilege usm,vu,vs -o usm -- true
like "all privileges: the summary" 'nothing lost' "$err"
chmod a+x /root "${PWD%/*}" "$PWD"
mkdir -m 777 user
run user 1 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all ntrace record --task -o user/data -- true
like "a user: refused" 'no permission' "$err"
echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
nothing_said
done_testing
