#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=15
# What was lost while recording: every kind of loss, and what every command says of it. The trace itself has no gap, so a command
# knows of the loss from the recording alone. test_record_parts has the same for the recorder.
set -uo pipefail
# shellcheck source=selftests/tools/small_recordings.sh
. "$(dirname "$0")/small_recordings.sh"
cd "$tmp" || exit 1
small_recordings "$tmp" 1 || not_ok "a recording is made"

# Kind of loss, lines of a stream in params, and what all commands must say. "event" makes a recording of a task of it.
kinds=(
	'exact|lost 1200|1200 bytes of trace lost while recording'
	'at-least|lost 1200,lost_exact 0|at least 1200 bytes of trace lost while recording'
	'gaps|gaps 3|trace lost while recording, in 3 places'
	'one-gap|gaps 1|trace lost while recording, in 1 place'
	'lapped|loss 1,lost 5,lost_exact 0,gaps 1|at least 5 bytes of trace lost .*the sink overwrote trace .*--sink-size'
	'data-full|loss 2,lost 5,gaps 1|recording, in 1 place: .*the data area was full .*--data-size'
	'encoder|loss 4|trace lost while recording: the encoder overflowed'
	'sink-full|loss 8,gaps 1|the sink was full'
	'debugger|loss 16,gaps 1|a debugger took the encoder'
	'several|loss 5,lost 9,gaps 2|the sink overwrote trace .*; the encoder overflowed'
	'task-area|event 1,loss 2,lost_exact 0,gaps 1|the AUX area was full .*--aux-size'
	'task-lapped|event 1,loss 1,lost_exact 0,gaps 1|the sink overwrote trace before the kernel copied it'
	'task-switch|event 1,loss 32,lost_exact 0,gaps 1|a task was switched out before the kernel had copied its trace'
	'task-shared|event 1,loss 64,lost_exact 0,gaps 1|held back in a sink that CPUs share'
)

declare -A commands=(
	[report]='report DIR'
	[report-json]='report --json DIR'
	[html]='report --html page.html DIR'
	[decode]='decode DIR'
	[stat]='stat DIR'
	[count]='count -o sum DIR'
	[csv]='export -f csv DIR'
	[folded]='export -f folded DIR'
	[sqlite]='export -f sqlite -o base.db DIR'
)
whole='none: the trace is whole|nothing lost|Nothing was lost'

# run NAME DIRECTORY: what the command says, without code and counts
run() {
	rm -f page.html sum base.db
	# shellcheck disable=SC2086 # words
	"$ntrace" ${commands[$1]/DIR/$2} >out 2>err
	echo "status $?"
	cat err
	case $1 in
	report) head -n 12 out ;;
	report-json) grep -o '"lost":{[^}]*}' out ;;
	html) grep -o '"losses":{"recording":"[^"]*"' page.html ;;
	esac
}

for name in "${!commands[@]}"; do
	said=$(run "$name" r1)
	case $name in
	report) like "whole: $name" "$whole" "$said" ;;
	report-json) like "whole: $name" '"bytes":0,"exact":true,"places":0,"text":""' "$said" ;;
	html) like "whole: $name" '"recording":""' "$said" ;;
	*) is "$(grep -cE 'status 3|lost' <<<"$said")" 0 "whole: $name" || diag "$said" ;;
	esac
done

for kind in "${kinds[@]}"; do
	IFS='|' read -r what lines sentence <<<"$kind"
	rm -rf lossy
	cp -r r1 lossy
	# The first stream only. New keys come after those that it has.
	awk -v lines="$lines" 'BEGIN { count = split(lines, line, ","); for (i = 1; i <= count; i++) { split(line[i], word, " "); value[word[1]] = word[2] } }
		$1 == "stream" { first = !seen++; print; next }
		first && $1 in value { $2 = value[$1]; delete value[$1] }
		{ print }
		first && $1 == "gaps" { for (key in value) { print key, value[key]; delete value[key] } }' r1/params >lossy/params
	for name in "${!commands[@]}"; do
		said=$(run "$name" lossy)
		is "$(grep -cE "$whole" <<<"$said")" 0 "$what: $name does not call it whole" || diag "$said"
		case $name in
		# Its file has numbers only.
		count) like "$what: $name says so" 'code executed in lost trace is not counted' "$said" ;;
		decode | stat) like "$what: $name says so" "status 3.*$sentence" "${said//$'\n'/ }" ;;
		*) like "$what: $name says so" "$sentence" "$said" ;;
		esac
	done
done

# Ends of the trace that the hardware made itself are said, and are no losses. The encoder of r1 ends with EVCODE 0.
like "report: ends by the hardware" $'losses +none: the trace is whole\nends +2 by the hardware' "$("$ntrace" report r1 2>&1)"
like "report --json: ends by the hardware" '"trace_off":2,"hardware_ends":2,"gaps":0' "$("$ntrace" report --json r1 2>&1 | head -n 1)"
cp -r r1 stopped
for i in 0 1; do
	"$ntrace" dump --lossless --params "$small_params" r1/aux.$i | sed -E '/ProgTraceCorrelation/s/"EVCODE": ?0/"EVCODE":4/; /ProgTraceCorrelation/s/, ?"bytes": ?"[^"]*"//' |
		"$ntrace" assemble -o stopped/aux.$i - 2>err || not_ok "a trace that the driver ends: $(<err)"
done
like "report: an end by the driver" $'losses +none: the trace is whole\n[^e]' "$("$ntrace" report stopped 2>&1)"
done_testing
