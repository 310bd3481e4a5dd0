# SPDX-License-Identifier: GPL-2.0-only
# Holds the addresses of a log against payload.expect:
#   awk -f expect_check.awk SYMBOLS payload.expect LOG_PRINT
# SYMBOLS is the output of nm. Prints the first difference and fails, or prints
# the number of instructions.
FILENAME == ARGV[1] { address[$3] = $1; next }
FILENAME == ARGV[2] {
	if ($1 == "#")
		next
	for (i = 1; i <= NF; i++)
		want[++wanted] = $i
	next
}
$1 == "trap" { next }
!bad {
	if (repeat != "" && hex($1) == repeat)
		next
	repeat = ""
	name = want[++seen]
	label = name
	add = sub(/\+4$/, "", label) ? 4 : 0
	many = sub(/\*$/, "", label)
	if (!(label in address)) {
		print "instruction " seen ": nothing expected" (name == "" ? "" : ", unknown label " name) ", is " $1
		bad = 1
		next
	}
	expect = hex(address[label]) + add
	if (hex($1) != expect) {
		print "instruction " seen ": expected " name " (" expect "), is " hex($1)
		bad = 1
	}
	if (many)
		repeat = expect
}
END {
	if (!bad && seen < wanted) {
		print "instruction " seen + 1 ": expected " want[seen + 1] ", the log ends"
		bad = 1
	}
	if (!bad)
		print seen " instructions as expected"
	exit bad
}
# The lower 32 bits as a number are all that the payload's addresses differ in.
function hex(text,   i, value) {
	value = 0
	text = substr("00000000" text, length(text) + 1)
	for (i = 1; i <= 8; i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value
}
