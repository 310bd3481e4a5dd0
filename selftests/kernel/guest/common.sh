# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for test scripts of the driver that run on the machine itself.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=selftests/tap.sh
. "$here/tap.sh"
# Time limit for the driver to notice an event.
wait_seconds=10
# shellcheck disable=SC2034 # used by the scripts that source this file
pmu=/sys/bus/event_source/devices/ntrace
driver=/sys/bus/platform/drivers/ntrace
debug=/sys/kernel/debug/ntrace

# driver_of BLOCK: the directory of the driver on its bus; components of Arm may be on a bus of their own
driver_of() {
	if [ -e "/sys/bus/amba/devices/$1" ]; then
		echo /sys/bus/amba/drivers/ntrace
	else
		echo $driver
	fi
}

# Tests leave files in the working directory. A test without one uses a temporary directory.
if [ "$PWD" -ef "$here" ]; then
	mkdir "$tmp/work"
	cd "$tmp/work" || exit 1
fi

# The driver is a file in the virtual SoC; elsewhere, it is installed.
load() {
	local file=/run/ntrace-modules/ntrace.ko
	if [ -e $file ]; then insmod $file; else modprobe ntrace; fi
}
[ -e $driver ] || load || skip_all "ntrace.ko cannot be loaded"
[ -e /dev/ntrace0 ] || skip_all "no hart can be traced"
[ -d $debug ] || mount -t debugfs debugfs /sys/kernel/debug

# Reads registers through /dev/mem, without the driver. Block names begin with the address:
# 6000000.trace-encoder. In a guest, a subshell or a process takes more than a millisecond: what is called often has few.
blocks_of() { sed -n "s/^cpu$1 \(.*\) online=.*/\1/p" $debug/paths; }
encoder_name() { local blocks; blocks=$(blocks_of "$1"); echo "${blocks%% *}"; }
sink_name() { local blocks; blocks=$(blocks_of "$1"); echo "${blocks##* }"; }
declare -A encoders=() sinks=()
while read -r name blocks; do
	name=${name#cpu} blocks=${blocks% online=*}
	[ ! -e "/dev/ntrace$name" ] || encoders[$name]=0x${blocks%% *} sinks[$name]=0x${blocks##* }
done <$debug/paths
# The argument of perf.c where harts share a sink.
sparse=''
# shellcheck disable=SC2034 # used by several tests
[ "${sinks[0]:-}" != "${sinks[1]:-none}" ] || sparse=sparse
encoder() { echo "${encoders[$1]%%.*}"; }
sink() { echo "${sinks[$1]%%.*}"; }
# Registers of the model for a debugger that takes the encoder, and for accesses while its hart is
# off: see tools/vsoc/model/trace_encoder.h.
debugger() { devmem $(($1 + 0xe10)) 32 ${2:+"$2"}; }
unpowered() { devmem $(($1 + 0xe14)) 32 ${2:+"$2"}; }
register() { devmem $(($1 + ${2:-0})) 32; }
enabled() { [ $(($(devmem "$1" 32) & 2)) -ne 0 ]; }
# An ETR has another register for this: TraceCaptEn.
sink_enabled() {
	case ${sinks[$1]} in
	*.etr) [ $(($(devmem $((${sinks[$1]%%.*} + 0x20)) 32) & 1)) -ne 0 ] ;;
	*) enabled "${sinks[$1]%%.*}" ;;
	esac
}
both_enabled() { enabled "${encoders[$1]%%.*}" && sink_enabled "$1"; }
both_disabled() { ! enabled "${encoders[$1]%%.*}" && ! sink_enabled "$1"; }

# shellcheck disable=SC2034 # used by the scripts that source this file
version0=$(grep -m 1 -o 'version=0\.0 ' $debug/components)

# Kernel messages of the driver since the start of the test, or since the last said_all.
log_lines() { "$here/messages" 0; }
log_seen=$("$here/messages")
[ -n "$log_seen" ] || not_ok "the kernel log can be read"
said() { "$here/messages" "$log_seen"; }
said_all() { log_seen=$("$here/messages"); }
# A refused request names the field that does not take its value.
refusals() { said | grep ' does not take 0x'; }
nothing_said() { is "$(said | grep -v ' does not take 0x')" "" "the driver logs nothing but refusals"; }

# program NAME ARGUMENT...: runs a test program from this directory and relays its results
program() {
	local name=$1
	[[ ! ${2:-} =~ ^([a-z]|/dev/) ]] || name+=" $2"
	[ "${2:-}" != trace ] || name="$1"
	relay "$name" "$here/$1" "${@:2}"
}

# hold DEVICE...: starts a process that traces and takes orders; ask ORDER: sets $answer.
hold() {
	coproc HOLD { exec "$here/hold" "$@"; }
	answer=''
	read -r -t 60 answer <&"${HOLD[0]}"
	[ "$answer" = running ] || { not_ok "hold $*: $answer"; return 1; }
}
ask() {
	answer=''
	echo "$*" >&"${HOLD[1]}"
	read -r -t 120 answer <&"${HOLD[0]}"
}
state_is() { ask state; [ "$answer" = "$1" ]; }
let_go() {
	kill "$HOLD_PID"
	wait "$HOLD_PID" 2>/dev/null
}

# For a test that shuts down the machine: prints the plan early.
last_words() {
	(done_testing)
	[ ! -x "$here/../jobs.sh" ] || "$here/../jobs.sh" --last $((tap_failures > 0))
	sync
}
