#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Compares call stacks with those of the witness, for a program with all changes of a stack (program/stack_load.c), in user
# space and with the kernel. Each stack must have the same instructions, except those below functions odd_*: there the
# trace does not determine the stack, and a difference is required (Documentation/trace/testing.md). STACK_MIN is the
# required number of instructions with the kernel, and a third of it without; RECORDINGS names other
# recordings than those of the group.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
min=${STACK_MIN:-1500000}
ok "trace it in the guest, twice" find_recordings || done_testing
stacks=$recordings/stacks load=$recordings/stacks/stack_load
root=$tmp/root
guest_files "$root"
cp "$load" "$root/root/"

# truth NAME OPTION...: sets $same, a line for plain stacks and for each odd_*
truth() {
	same=$(python3 selftests/consumers/host/stack_truth.py build/oracle/stacks "$stacks/log.0" "$load" "$stacks/us/images/kallsyms" \
		"$tmp/$1.folded" --privilege "$@" 2>"$tmp/differ") || not_ok "the comparison: $(<"$tmp/differ")"
}

section=3 want=$((min / 3))
for name in u us; do
	ok "$name: export" build/ntrace export --format folded --sysroot "$root" -o "$tmp/$name.folded" "$stacks/$name"
	truth $name --section $section
	read -r _ count _ instructions _ <<<"$same"
	like "$name: $count stacks as they were executed, $instructions instructions" '^plain: [0-9]{3,} stacks, [0-9]+ instructions, 0 differ' "$same" ||
		diag "$(grep '^plain' "$tmp/differ")" "the recording is $stacks/$name"
	ok "$name: that are $want at least" test "${instructions:-0}" -ge "$want"
	for odd in odd_levels odd_exit; do
		like "$name: $odd differs, as explained: $(grep "^$odd" <<<"$same")" " [1-9][0-9]* differ$" "$(grep "^$odd" <<<"$same")"
	done
	# Not every return: after a function without its own frame, the next return compensates.
	for forget in {0..9}; do
		truth $name --section $section --forget $((instructions / 60 + forget))
		if ! grep -q '^plain: .* 0 differ' <<<"$same"; then break; fi
	done
	like "$name: a return that is forgotten would show" '^plain: .* [1-9][0-9]* differ' "$(head -n 1 <<<"$same")"
	section=4 want=$min
done
done_testing
