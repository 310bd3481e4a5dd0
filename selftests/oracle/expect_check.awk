# SPDX-License-Identifier: GPL-2.0-only
# Compares the addresses of a log with payload.expect:
#   awk [-v strict=0] -f expect_check.awk SYMBOLS payload.expect LOG_PRINT
# SYMBOLS is the output of nm. Prints the first difference and fails, or prints
# the number of instructions. With strict=0, instructions that depend on the
# host's timing may differ as payload.expect describes.
BEGIN { strict = strict == "" ? 1 : strict; at = 1 }
FILENAME == ARGV[1] { address[$3] = $1; next }
FILENAME == ARGV[2] {
	if ($1 == "#" || ($1 == "~" && strict))
		next
	first = wanted + 1
	for (i = 1 + ($1 == "~"); i <= NF; i++)
		want[++wanted] = $i
	if ($1 == "~") {
		behind[first] = wanted + 1
		back[wanted] = first
	}
	next
}
$1 == "trap" { next }
!bad {
	value = hex($1)
	if (repeat != "" && value == repeat)
		next
	repeat = ""
	if ((at in behind) && value != place(want[at]))
		at = behind[at]
	if (!strict && want[at] ~ /\*$/ && value != place(want[at]))
		at++
	expect = place(want[at])
	seen++
	if (value != expect) {
		print "instruction " seen ": expected " (at in want ? want[at] : "nothing") " (" expect "), is " value
		bad = 1
	}
	if (want[at] ~ /\*$/)
		repeat = expect
	at = at in back ? back[at] : at + 1
}
END {
	if (!bad && at <= wanted) {
		print "instruction " seen + 1 ": expected " want[at] ", the log ends"
		bad = 1
	}
	if (!bad)
		print seen " instructions as expected"
	exit bad
}
function place(label,   add) {
	sub(/\*$/, "", label)
	add = sub(/\+4$/, "", label) ? 4 : 0
	return label in address ? hex(address[label]) + add : "no such label"
}
# The payload's addresses differ only in their lower 32 bits, so this converts
# only those.
function hex(text,   i, value) {
	value = 0
	text = substr("00000000" text, length(text) + 1)
	for (i = 1; i <= 8; i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value
}
