#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Call stacks against those that the witness saw, of a program with all that a stack goes through
# (program/stack_load.c): in user space, and with the kernel. Each stack must have the same
# instructions, but for those that hang from functions odd_*: there the trace does not say what
# happened, and the difference must be there (Documentation/trace/testing.md).
# STACK_ROUNDS makes it longer, STACK_MIN is how many instructions are wanted with the kernel, and a
# third of that without.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
rounds=${STACK_ROUNDS:-30} min=${STACK_MIN:-4000000}
load=$tmp/stack_load
# Static: so all code but the kernel's and the vDSO's has its names in one file.
# What is thrown through is split into hot and cold parts, as profiled programs are: names of their own.
flags=(-Wall -Wextra -Werror -O2 -static)
ok "the part in C" riscv64-linux-gnu-gcc -std=gnu11 "${flags[@]}" -fexceptions -c selftests/consumers/program/stack_load.c \
	-o "$load.o" || done_testing
ok "a program with all that a stack goes through" riscv64-linux-gnu-g++ "${flags[@]}" -freorder-blocks-and-partition \
	selftests/consumers/program/stack_throw.cc "$load.o" -o "$load" || done_testing

record() {
	local ntrace='ntrace record --sink-size 4M --data-size 32M'
	cp build/riscv64/ntrace "$tmp/ntrace"
	tools/vsoc/run --quiet --timeout "${STACK_TIMEOUT:-600}" --smp 1 --icount --check-dmesg --modules \
		--put "$load:/root/stack_load" --put "$tmp/ntrace:/usr/local/bin/ntrace" \
		--plugin "$top/build/plugin/exec_log.so,out=$tmp/log,stacks=on" --get "/tmp/u:$tmp" --get "/tmp/us:$tmp" -- \
		sh -c "$ntrace --privilege u -o /tmp/u -- /root/stack_load $rounds && $ntrace --privilege us -o /tmp/us -- /root/stack_load $rounds" &&
		grep -q ' 0 odd' "$tmp/log.messages"
}
root=$tmp/root
guest_files "$root"
cp "$load" "$root/root/"
cp build/riscv64/ntrace "$root/usr/local/bin/"

# What differs may not come again: where the signals fall is another place each time.
keep() {
	rm -rf build/stack_truth.differs
	mkdir -p build/stack_truth.differs
	cp -r "$tmp"/{u,us,log.*} "$load" build/stack_truth.differs/
	diag "the recordings are kept in build/stack_truth.differs" "$(grep '^plain' "$tmp/differ")"
}

# truth NAME OPTION...: sets $same, a line for what is plain and for each odd_*
truth() {
	same=$(python3 selftests/consumers/host/stack_truth.py build/oracle/stacks "$tmp/log.0" "$load" "$tmp/us/images/kallsyms" \
		"$tmp/$1.folded" --privilege "$@" 2>"$tmp/differ") || not_ok "the comparison: $(<"$tmp/differ")"
}
ok "trace it in the guest, twice" record || { diag "$(tail -n 5 "$tmp/log.messages")"; done_testing; }

section=0 want=$((min / 3))
for name in u us; do
	ok "$name: export" build/ntrace export --format folded --sysroot "$root" -o "$tmp/$name.folded" "$tmp/$name"
	truth $name --section $section
	read -r _ count _ instructions _ <<<"$same"
	like "$name: $count stacks as they were executed, $instructions instructions" '^plain: [0-9]{3,} stacks, [0-9]+ instructions, 0 differ' "$same" || keep
	ok "$name: that are $want at least" test "${instructions:-0}" -ge "$want"
	for odd in odd_levels odd_exit; do
		like "$name: $odd differs, as explained: $(grep "^$odd" <<<"$same")" " [1-9][0-9]* differ$" "$(grep "^$odd" <<<"$same")"
	done
	# Not each one: behind a function without a frame of its own the next return makes up for it.
	for forget in {0..9}; do
		truth $name --section $section --forget $((instructions / 60 + forget))
		if ! grep -q '^plain: .* 0 differ' <<<"$same"; then break; fi
	done
	like "$name: a return that is forgotten would show" '^plain: .* [1-9][0-9]* differ' "$(head -n 1 <<<"$same")"
	section=1 want=$min
done
done_testing
