#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# ntrace report --annotate for the kernel and a module: lines from their debug files, compared with addr2line, and the
# message if there are no debug files.
# shellcheck source=selftests/consumers/common.sh
. "$(dirname "$0")/common.sh"
ok "trace a program and the kernel in the guest" record_timed || done_testing
release=$(sed -n 's/^release //p' "$timed/recording/params")
pattern=${release//+/\\+}
module=build/kernel/ntrace/ntrace.ko

annotate() { build/ntrace report --kernel --sysroot "$timed_root" --annotate "$@" "$timed/recording" 2>&1; }
# placed FILE START: prints "OFFSET FILE:LINE" for each instruction of an annotation; START is the first OFFSET.
placed() {
	python3 - "$@" <<-'END'
		import re, sys
		offset, line, first = int(sys.argv[2], 16), "?", None
		for text in open(sys.argv[1]):
		    source = re.match(r"(\S+\.[chS]:[\d?]+)( |$)", text)
		    code = re.match(r"[ \d,]{16}  [ \d,]{13}  ([ 0-9a-f]{8,16}):  ", text)
		    if source:
		        line = source.group(1)
		    elif code:
		        address = int(code.group(1), 16)
		        first = address if first is None else first
		        print(f"{address - first + offset:x} {line}")
	END
}
# same TEXT ANNOTATION ELF FUNCTION OPTION...: the annotation has lines, equal to those of addr2line OPTION...
same() {
	local start
	start=$(riscv64-linux-gnu-nm "$3" | sed -n "s/ [tT] $4\$//p")
	placed "$2" "$start" >"$tmp/ours"
	cut -d' ' -f1 "$tmp/ours" | riscv64-linux-gnu-addr2line "${@:5}" -e "$3" | sed 's/ (disc.*//; s,.*/,,' |
		paste -d' ' <(cut -d' ' -f1 "$tmp/ours") - >"$tmp/theirs"
	ok "$1: $(wc -l <"$tmp/ours") instructions, $(cut -d' ' -f2 "$tmp/ours" | sort -u | wc -l) lines: those of addr2line" \
		diff -u "$tmp/theirs" "$tmp/ours"
	ok "$1: they are many" test "$(cut -d' ' -f2 "$tmp/ours" | sort -u | grep -c ':[0-9]')" -gt 4
}

# The module, which is not linked: the sections of its file have no addresses.
annotate ntrace_drain_step --debug-dir "${module%/*}" >"$tmp/module"
like "a module: says where lines come from" "note: source lines are those of $module" "$(<"$tmp/module")"
same "a module" "$tmp/module" "$module" ntrace_drain_step -j .text
like "with inlined functions" '\[ntrace_[a-z_]+ inlined, line [0-9]+\]' "$(<"$tmp/module")"
mkdir -p "$timed_root/usr/lib/debug/lib/modules/$release/misc"
cp "$module" "$timed_root/usr/lib/debug/lib/modules/$release/misc/ntrace.ko.debug"
annotate ntrace_drain_step >"$tmp/installed"
is "$(grep -v ^note "$tmp/installed")" "$(grep -v ^note "$tmp/module")" "as where Debian's debug package has it"
rm -r "$timed_root/usr/lib/debug/lib/modules"

# The kernel: a file with functions at the distances of the recorded ones, except for the load address.
# vmlinux FILE GAP: each function is GAP bytes further from the previous one than in the recorded kernel.
function=handle_mm_fault
vmlinux() {
	python3 - "$timed/recording/images/kallsyms" "$function" "$2" >"$tmp/kernel.S" <<-'END'
		import re, sys
		path, wanted, gap = sys.argv[1:]
		found = {}
		for line in open(path):
		    word = line.split()
		    if len(word) == 3 and word[1] in "tT" and re.match(r"[a-z_]\w*$", word[2]):
		        found.setdefault(int(word[0], 16), word[2])
		start = next(address for address, name in found.items() if name == wanted)
		near = sorted(address for address in found if abs(address - start) < 16384)
		print(".option norvc\n.option norelax\n.text")
		seen = set()
		for i, address in enumerate(near):
		    if found[address] in seen:
		        continue
		    seen.add(found[address])
		    print(f".org {address - near[0] + i * int(gap)}\n.type {found[address]}, @function\n{found[address]}:")
		    print("nop\n" * 8 * (found[address] == wanted), end="")
	END
	riscv64-linux-gnu-as -g -o "$tmp/kernel.o" "$tmp/kernel.S" &&
		riscv64-linux-gnu-ld -e 0 -Ttext=0xffffffff40000000 -o "$1" "$tmp/kernel.o"
}
like "no debug file: a message" \
	"note: no debug file of the kernel of Linux $pattern is here: no source can be shown; .* --debug-dir says where" "$(annotate $function | head -n 5)"
ok "a kernel with lines" vmlinux "$tmp/vmlinux" 0
annotate $function --debug-dir "$tmp" >"$tmp/kernel"
like "the kernel: says where lines come from" "note: source lines are those of $tmp/vmlinux" "$(<"$tmp/kernel")"
# The file has no lines after the eight instructions.
head -n $(($(grep -n 'kernel.S:' "$tmp/kernel" | tail -n 1 | cut -d: -f1) + 1)) "$tmp/kernel" >"$tmp/first"
same "the kernel" "$tmp/first" "$tmp/vmlinux" $function
mkdir -p "$timed_root/usr/lib/debug/boot"
cp "$tmp/vmlinux" "$timed_root/usr/lib/debug/boot/vmlinux-$release"
is "$(annotate $function | grep -v ^note)" "$(annotate $function --debug-dir "$tmp" | grep -v ^note)" "as where Debian's debug package has it"
ok "one of another build" vmlinux "$timed_root/usr/lib/debug/boot/vmlinux-$release" 4
like "is told of" "note: .*/vmlinux-$pattern is of another build: its functions are elsewhere" "$(annotate $function | head -n 5)"
riscv64-linux-gnu-strip --strip-debug -o "$timed_root/usr/lib/debug/boot/vmlinux-$release" "$tmp/vmlinux"
like "one without lines" "note: .*/vmlinux-$pattern has no line numbers" "$(annotate $function | head -n 5)"
fails "no --debug-dir without --annotate" '--debug-dir needs --annotate' build/ntrace report --debug-dir "$tmp" "$timed/recording"
done_testing
