#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Timestamps. Usage: timestamps.sh MODES BITS [RECORDING...]
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
program timestamps modes "$1" "$2"
shift 2

# record NAME OPTION...: records, and saves the times that the load prints
record() {
	local name=$1
	shift
	ntrace record -q -o "$name.data" "$@" -- "$here/timestamps" load >"$name.times"
	is $? 0 "record $name"
}
for name; do
	case $name in
	shared) record shared -a --timestamps any ;;
	harts)
		ok "record harts" ntrace record -q -a -o harts.data --timestamps shared --privilege u -- "$here/timestamps" turns
		;;
	system) record system -a --timestamps any ;;
	core) record core -a --timestamps core --privilege u ;;
	task) record task --timestamps system:16 --task --privilege u ;;
	turns)
		program timestamps perf "$(<$pmu/type)"
		"$here/timestamps" spin &
		one=$!
		"$here/timestamps" spin &
		ok "record turns" ntrace record -q -o turns.data --timestamps system --privilege u -p "$one,$!" -- sleep 0.03
		kill "$one" $!
		;;
	none)
		fails "record: no such timestamps" 'no such timestamps' ntrace record -a --timestamps any -o none -- true
		fails "record: tasks" 'not all encoders support these timestamps' ntrace record --task --timestamps any -o none -- true
		;;
	esac
done
nothing_said
done_testing
