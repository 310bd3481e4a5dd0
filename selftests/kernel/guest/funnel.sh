#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two harts that share a sink, through one funnel or two. Usage: funnel.sh [short|p550|k3]
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"

# kind NAME: prints the words of the debugfs line of each component of that kind, without the
# address.
components() { grep -E "^[0-9a-f]+\.$1 " $debug/components; }
sink=trace-ram-sink src_bits=1
# The long test is that of one funnel.
rounds='1 2 3'
[ -z "${1:-}" ] || rounds=1
case ${1:-} in
# One block of a P550 is a funnel and the sink.
p550) sink=trace-funnel src_bits=2 ;;
k3) sink=etr src_bits=0 ;;
esac
running() { components "$1" | grep -cE ' control=0x[0-9a-f]+( active)? enabled'; }

is "$(components trace-encoder | wc -l) $(components $sink | wc -l)" "2 1" "debugfs: two encoders, one sink"
ok "debugfs: a funnel at least" test "$(components trace-funnel | wc -l)" -ge 1
is "$(blocks_of 0 | sed 's/.*-> //')" "$(blocks_of 1 | sed 's/.*-> //')" "debugfs: both paths end in the same sink"
like "debugfs: through a funnel" ' -> .*funnel' "$(blocks_of 0)"
is "$(components trace-encoder | grep -c "src_bits=$src_bits")" 2 "debugfs: both have a number"
is "$(running trace-encoder) $(running trace-funnel) $(running $sink)" "0 0 0" "nothing runs"

[ "${1:-}" != k3 ] || src_bits=frames
program funnel "$(<$pmu/type)" $src_bits

# Two tasks on two harts, each with events of one process: the host evaluates the trace of each task
# from the files. Encoders of version 0 cannot exclude the kernel, as these events do.
if [ "${1:-}" != p550 ]; then
	for round in $rounds; do
		mkdir "turns$round"
		program perf trace "$(<$pmu/type)" "turns$round" turns
	done
	mkdir beside
	program perf trace "$(<$pmu/type)" beside beside
fi
is "$(running trace-encoder) $(running trace-funnel) $(running $sink)" "0 0 0" "nothing runs"
is "$(grep -c ' held=0 users=0' $debug/components)" "$(wc -l <$debug/components)" "nothing is held"

# The other checks need to run only once.
if [ "${1:-}" = short ]; then
	done_testing
fi

# A funnel with a fault that is then removed; register of faults: see tools/vsoc/model/fault.h.
funnel=0x$(components trace-funnel | sed -n '1s/\..*//p')
broken() { devmem $((funnel + 0xe00)) 32 "$1"; }
hold /dev/ntrace0
broken 1
ask stop
is "$answer" ETIMEDOUT "a funnel that is never empty: STOP: ETIMEDOUT"
like "the log reports it" '(funnel|RAM sink) does not stop' "$(said)"
ask start
is "$answer" ENODEV "START: ENODEV"
broken 0
is "$(running trace-encoder) $(running trace-funnel) $(running $sink)" "0 0 0" "nothing runs"
ask configure
is "$answer" 0 "mended: CONFIGURE"
broken 4
ask start
is "$answer" ETIMEDOUT "a funnel that is never enabled: START: ETIMEDOUT"
like "the log reports it" '(funnel|RAM sink) does not start' "$(said)"
broken 0
is "$(running trace-encoder) $(running trace-funnel) $(running $sink)" "0 0 0" "nothing runs"
ask configure
ask start
is "$answer" 0 "mended: CONFIGURE and START"
let_go
said_all

# Takes one hart offline and online, also while the other one is traced.
cpu1=/sys/devices/system/cpu/cpu1/online
hold /dev/ntrace0
first=$HOLD_PID
exec 6<&"${HOLD[0]}" 7>&"${HOLD[1]}"
hold /dev/ntrace1 2>/dev/null
is "$(running trace-encoder) $(running $sink)" "2 1" "both harts are traced"
like "debugfs: the sink has two users" 'held=2 users=2' "$(components $sink)"
echo 0 >$cpu1
is "$(running trace-encoder) $(running $sink)" "1 1" "one goes offline: the other is traced"
ask start
is "$answer" ENODEV "START: ENODEV"
echo 1 >$cpu1
ask start
is "$answer" 0 "it is back: START"
is "$(running trace-encoder) $(running $sink)" "2 1" "both harts are traced"

# Unbinding the funnel removes both paths.
funnel=$(components trace-funnel | sed -n '1s/ .*//p')
echo "$funnel" >$driver/unbind
is "$(running trace-encoder) $(running $sink)" "0 0" "unbind $funnel: nothing runs"
ask stop
is "$answer" ENODEV "STOP: ENODEV"
echo "$funnel" >$driver/bind
let_go
kill "$first"
ok "bind: both devices are back" test -c /dev/ntrace0 -a -c /dev/ntrace1
hold /dev/ntrace1
ask stop
is "$answer" 0 "and can be used"
let_go
is "$(said)" "" "the driver has nothing more to say"
done_testing
