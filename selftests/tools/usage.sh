#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Usage errors of the command on this machine: one clear line and an exit status other than 0.
# record.sh has the cases that need the trace hardware.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
shared=${NTRACE_SHARED:-$top/../shared}

# complains TEXT STATUS PATTERN ARGUMENT...: checks the status, and the only output, a line on stderr.
complains() {
	local text=$1 expected=$2 pattern=$3 rc=0
	shift 3
	timeout 20 "$ntrace" "$@" >"$tmp/out" 2>"$tmp/err" <"${input:-/dev/null}" || rc=$?
	if [ "$rc" = "$expected" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ] &&
		grep -qE -- "$pattern" "$tmp/err"; then
		pass "$text"
	else
		not_ok "$text"
		diag "status $rc, expected $expected and one line matching $pattern"
		diag "stderr: $(head -n 5 "$tmp/err")"
		diag "stdout: $(head -n 5 "$tmp/out")"
	fi
}

for sub in record trigger top gdb dump decode report check stat split detect encode assemble archive index ctr ingress tandem; do
	complains "$sub: unknown long option" 2 "^ntrace $sub: unknown option --nonsense" "$sub" --nonsense
	complains "$sub: unknown short option" 2 "^ntrace $sub: unknown option -Z" "$sub" -Z
	# These need no operand: assemble reads standard input.
	[ "$sub" = top ] || [ "$sub" = assemble ] || complains "$sub: nothing to work on" 2 "^ntrace $sub: " "$sub"
	is "$("$ntrace" "$sub" --help | head -n 1 | cut -c1-$((14 + ${#sub})))" "usage: ntrace $sub" "$sub --help"
	like "$sub --help has examples" "examples:" "$("$ntrace" "$sub" --help)"
	is "$("$ntrace" "$sub" --help | sed '1,/^examples:/d' | grep -E '[^ ]  +[^ #]')" "" "$sub: remarks of examples are comments of a shell"
	# The command accepts every option of its help: the error message is about something else.
	unknown=$("$ntrace" "$sub" --help | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' |
		while read -r option; do "$ntrace" "$sub" "$option" /nonexistent 2>&1 </dev/null | grep 'unknown option'; done)
	is "$unknown" "" "$sub: knows the options of its help"
	ok "$sub: has a manual page" test -s "$top/Documentation/man/ntrace-$sub.1"
done
complains "top: a command" 2 "'x': use 'ntrace record' to trace a command" top x
complains "top: harts and processes" 2 "per-process and system-wide tracing" top -a -p 1
complains "top: a delay that is none" 2 "option --delay: 'x' is not a number" top -d x
complains "top: a share of 0" 2 "option --share: '0' is not a number from 0.001 to 100" top --share 0
complains "top: unknown sort key" 2 "neither instructions nor calls" top --sort size
complains "trigger: nothing to trace" 2 "no command to trace, and no process" trigger
complains "trigger: a time without a function" 2 "over needs --call" trigger --over 1ms true
complains "trigger: a time that is none" 2 "'5' is not a time like 5ms" trigger --over 5 true
complains "trigger: a signal that is none" 2 "'NONSENSE' is not a signal" trigger --signal NONSENSE true
complains "trigger: a function in no file" 2 "in which file is 'main'" trigger --call main true
complains "trigger: a function of nothing" 2 "'main@' is not FUNCTION@FILE" trigger --call main@ true
complains "trigger: a missing file" 1 "/nonexistent: No such file" trigger --call main@/nonexistent true
complains "trigger: no such function" 1 "/ntrace: no function 'nonsense'" trigger --call "nonsense@$ntrace" true
complains "trigger: no such command" 127 "no-such-program: no such command" trigger no-such-program
complains "trigger: without synchronization" 2 "decoding cannot start without" trigger --sync off true
if [ ! -e /dev/ntrace0 ]; then
	complains "best beside stall: no hardware" 1 'no trace device' record --all --encoder best,stall -o "$tmp/none" true
	complains "trigger: no hardware" 1 'no PMU "ntrace": is the module loaded' trigger -o "$tmp/none" true
	complains "top: no hardware" 1 "no trace device.*module loaded" top -n 1
fi
# Both check the place of their temporary files before they look for hardware.
for command in "top -n 1" "record --live -a"; do
	# shellcheck disable=SC2086 # two or three words
	TMPDIR=/nonexistent complains "$command: no temporary directory" 1 \
		"/nonexistent: No such file or directory \(TMPDIR chooses" $command
	# shellcheck disable=SC2086
	TMPDIR=$(printf '/%0300d' 0) complains "$command: its name is too long" 1 "File name too long" $command
done
complains "the reason after a long name" 1 "none: No such file or directory" dump "$(printf './%.0s' {1..1900})none"
complains "unknown command" 2 "unknown command nonsense" nonsense
complains "a typing error in a command" 2 "unknown command recrod: did you mean record\\?" recrod
complains "also for help" 2 "unknown command repotr: did you mean report\\?" help repotr
complains "in an option" 2 "unknown option --jsno: did you mean --json\\?" report --jsno
complains "in an option with a value" 2 "unknown option --formta: did you mean --format\\?" export --formta=csv
complains "in a format" 2 "no format 'perfeto': did you mean perfetto\\?" export -f perfeto x
complains "unknown option" 2 "unknown option --nonsense" --nonsense
like "--version" "^ntrace [0-9]" "$("$ntrace" --version)"
like "--help lists the commands" "record.*report.*decode.*dump" "$("$ntrace" --help | tr '\n' ' ')"
"$ntrace" >/dev/null 2>"$tmp/err"
is $? 2 "no command is a usage error"

complains "option without its argument" 2 "option --level needs" decode --level
complains "flag with an argument" 2 "option --json takes no argument" dump --json=yes x
complains "unknown level" 2 "'everything' is not one of" decode --level everything x
complains "a parameter that is nearly one" 2 "no such key: did you mean srcbits?" dump --params srcbit=4 none
complains "a parameter that does not exist" 2 "cannot use 'colour=red': no such key; --params help" \
	dump --params srcbits=2,colour=red x
complains "frames without a loss" 2 "lossless and --framing exclude each other" dump --lossless --framing coresight x
complains "a value that cannot be" 2 "cannot use 'srcbits=13': srcbits is 0 to 12 " stat --params xlen=32,srcbits=13,mode=htm x
complains "a word that cannot be" 2 "cannot use 'mode=both': mode is any, btm or htm " encode --params mode=both x
for command in dump decode stat check detect encode report export; do
	help=$("$ntrace" $command --params help)
	is "$? $(head -n 1 <<<"$help" | cut -c-23) $(grep -c . <<<"$help")" "0 --params KEY=VALUE,...: 20" "$command --params help"
done
complains "a number that is none" 2 "'many' is not a number" report --limit many x
for command in report export; do
	complains "$command: --user and --kernel" 2 "exclude each other" $command --user --kernel x
	complains "$command: --user and --privilege" 2 "exclude each other" $command -u --privilege us x
done
complains "report: --user is --privilege u" 1 "/nonexistent: No such file" report -u --privilege U /nonexistent
complains "export: --kernel is --privilege s" 1 "/nonexistent: No such file" export -f csv -k --privilege k /nonexistent
for command in record trigger top report export ingress; do
	for privileges in x usx vm '' 'u,'; do
		complains "$command: privilege '$privileges'" 2 "option --privilege: '$privileges' is not a set of u, s, m, vu, vs" \
			$command --privilege "$privileges" x
	done
	like "$command: --privilege in the help" "privilege LETTERS .*u, s" "$("$ntrace" $command --help | grep -A 1 -- --privilege)"
done
complains "unknown sort key" 2 "not one of self, total, calls" report --sort size x
complains "unknown trace mode" 2 "neither btm nor htm" record --mode abc true
complains "sync interval that is no power of two" 2 "not a power of two" record --sync messages:100 true
complains "time stamps of no kind" 2 "not one of any, external" record --timestamps now true
complains "timestamps: an unsupported divisor" 2 "divided by 4, 16 and 64" record --timestamps system:5 true
complains "time stamps divided by no number" 2 "divided by 4, 16 and 64" record --timestamps system:4x true
complains "a feature that no encoder has" 2 "not one of best, implicit-return, repeated-history" record --encoder stall,fast true
complains "best beside others" 2 "beside best only stall" record --encoder implicit-return,best true
complains "none beside others" 2 "none stands alone" record --encoder none,stall true
complains "features that exclude each other" 2 "all-jumps hides the calls" record --encoder all-jumps,implicit-return true
complains "shared time divided" 2 "divided by 4, 16 and 64" record --timestamps shared:4 true
complains "a filter of nothing" 2 "not one of FUNCTION@FILE" record --filter @/bin/true true
complains "a filter of a missing file" 1 "nonexistent: No such file" record --filter main@/nonexistent true
complains "a filter of files for harts" 2 "per-process and system-wide tracing" record -a --filter '*@/etc/passwd' true
complains "traps of no kind" 2 "neither exceptions nor interrupts" record --traps faults true
complains "a cause that is too large" 2 "causes up to 63" record --traps exceptions:64 true
complains "traps of tasks" 2 "traps is a system-wide option" record --task --traps interrupts true
complains "a mark in a file" 2 "'main@/bin/true' is neither a function of the kernel nor an address" record --mark main@/bin/true true
complains "too many marks" 2 "option --mark: more than 8" record --mark 1 --mark 2 --mark 3 --mark 4 --mark 5 --mark 6 --mark 7 --mark 8 \
	--mark 9 true
complains "marks of tasks" 2 "only-context are system-wide options" record --task --mark 0x1000 true
complains "a window of tasks" 2 "only-context are system-wide options" record --task --from 0x1000 true
complains "a thread that is none" 2 "only-context" record --only-context 0 true
complains "--cpu without a list" 2 "option --cpu: '1-x' is not a list like" record --cpu 1-x true
for command in record top encode; do
	complains "$command: --harts" 2 "unknown option --harts: the option is --cpu" $command --harts 0
done
complains "encode: --hart" 2 "unknown option --hart: the option is --cpu" encode --hart=0
complains "report: --harts" 2 "unknown option --harts .see" report --harts 0
complains "--task and --cpu" 2 "per-process and system-wide tracing" record --task --cpu 0 true
complains "a process that is none" 2 "not a list like" record --pid 12,x
complains "no process" 2 "not a list like" record --tid 0
complains "an AUX area that is no power of two" 2 "not a power of two" record --task --aux-size 5000 true
complains "a level of compression that there is not" 2 "compression-level" record --compression-level 23 true
complains "a size of harts for tasks" 2 "per-process: --aux-size" record --task --data-size 1M true
complains "a size of tasks for harts" 2 "system-wide: --data-size" record -a --aux-size 1M true
complains "strobing that is none" 2 "not a pair of microseconds" record --strobe 100 true
complains "strobing of harts" 2 "per-process and system-wide tracing" record -a --strobe 100,900 true
complains "a snapshot without synchronization" 2 "decoding cannot start without" record --snapshot --sync off true
complains "--live of tasks" 2 "counts whole CPUs" record --live --pid 1 true
complains "--live with registers" 2 "nothing reads registers then \(--values\)" record --live --values true
complains "--live of the command" 2 "counts whole CPUs" record --live --task true
complains "--live, compressed" 2 "saves no trace that could be compressed" record --live -z true
complains "--live without the kernel" 2 "privilege without s hides it" record --live --privilege u true
complains "--live with a filter" 2 "filter, --traps, .* hide it" record --live --filter 0x1000/16 true
complains "--live of handlers" 2 "filter, --traps, .* hide it" record --live --traps interrupts true
complains "--live of one thread" 2 "only-context hide it" record --live --only-context 7 true
complains "--live up to a function" 2 "only-context hide it" record --live --until 0x1000 true
complains "--live with a trigger" 2 "starts and stops the trace" record --live --armed --trigger-in 0=on true
complains "--live with a size of tasks" 2 "per-process option" record --live --aux-size 1M true
complains "--live to the command's output" 2 "output needs a file" record --live -o - true
complains "--hold without --live" 2 "only --live decodes" record --hold true
complains "--hold of tasks" 2 "only --live decodes" record --hold --task true
complains "--hold with a small data area" 2 "at least 1M" record --live --hold --data-size 512K true
complains "--hold without a command" 2 "stops a command: there is none" record --live --hold
complains "M-mode of a task" 2 "m, vu and vs can only be traced system-wide" record --task --privilege um true
complains "no such command to record" 127 "/nonexistent/x: no such command" record /nonexistent/x
complains "no such command in PATH" 127 "no-such-program: no such command" record -- no-such-program
complains "a command that is no program" 126 "cannot be executed" record /etc/passwd
if [ -e /dev/ntrace0 ]; then
	skip "no trace device" "this machine has one"
else
	complains "no trace device" 1 "no trace device .*module" record --all -- true
	complains "no PMU" 1 'no PMU "ntrace": is the module loaded' record -o "$tmp/none" -- true
fi

complains "tandem: an action that is none" 2 "'print' is not one of dump, stat, convert, verify" tandem print x
complains "tandem: an action without a file" 2 "an action .dump, stat, convert, verify. and a file" tandem dump
complains "tandem: verify without a model" 2 "verify needs --gdb" tandem verify x
complains "tandem: convert without a kind" 2 "convert needs --from and --output" tandem convert x
complains "tandem: a log of another simulator" 2 "'sail' is not one of rvfi, rvvi, ibex, cva6, spike, qemu, ingress" tandem convert --from sail -o x y
complains "tandem: an ingress recording without its program" 2 "convert --from ingress needs --elf" \
	tandem convert --from ingress -o x y
complains "tandem: a width that no hart has" 2 "xlen must be 32 or 64" tandem dump --xlen 48 x
complains "tandem: addresses that do not fit" 2 "mlen must be 64 with xlen 64" tandem dump --mlen 34 x
complains "tandem: a register that is none" 2 "'nonsense' is not a register" tandem verify --absent nonsense --gdb x x
complains "tandem: a mask that is none" 2 "'x' is not a mask" tandem verify --chosen mie:x --gdb x x
complains "tandem: a range that is none" 2 "'5' is not a range FIRST-LAST" tandem verify --device 5 --gdb x x
complains "tandem: a missing file" 1 "/nonexistent: No such file" tandem stat /nonexistent

complains "record: a trigger input that is none" 2 "an input N from 0 to 7" record --trigger-in 8=on -- true
complains "record: what no input does" 2 "an input N from 0 to 7" record --trigger-in 0=both -- true
complains "record: no output" 2 "an output N from 0 to 7" record --trigger-out on -- true
complains "record: armed without a beginning" 2 "nothing would start" record --armed --trigger-in 0=off -- true
complains "record: triggers and strobing" 2 "exclude each other" record --strobe 100,100 --trigger-in 0=off -- true

complains "file that does not exist" 1 "nonexistent: No such file" dump /nonexistent
complains "recording that does not exist" 1 "nonexistent: No such file" report /nonexistent
mkdir "$tmp/empty"
complains "report: directory that is no recording" 1 "ntrace: error: $tmp/empty is not a recording: no 'params' file" report "$tmp/empty"
complains "decode: directory that is no recording" 1 "not a recording" decode "$tmp/empty"
complains "dump: directory that is no recording" 1 "not a recording" dump "$tmp/empty"
gzip -c "$ntrace" >"$tmp/trace.gz"
complains "report: a compressed file" 1 "trace.gz: not a recording: the file is compressed by gzip" report "$tmp/trace.gz"
complains "report: a compressed trace" 1 "trace.gz: not a trace: the file is compressed by gzip" report --elf "$ntrace" "$tmp/trace.gz"
complains "report: a program" 1 "ntrace: not a trace: the file is an ELF file" report --elf "$ntrace" "$ntrace"
printf NTRCOUNT >"$tmp/counts"
complains "report: a counts file that is cut" 1 "counts: offset 8: the file ends too early" report "$tmp/counts"
complains "count: a counts file" 1 "the file is a counts file, for ntrace report, export and merge" count -o "$tmp/no" "$tmp/counts"
complains "report: a program that is none" 1 "counts: not an ELF file" report --elf "$tmp/counts" /etc/passwd
complains "report: a program that is a directory" 1 "empty: not an ELF file" report --elf "$tmp/empty" /etc/passwd
complains "export: a format that is none" 2 "no format 'flamegraph': there are autofdo, .*folded, .*perfetto" export -f flamegraph none
complains "report: file that is no recording" 1 "neither a recording nor" report /etc/passwd
printf 'PERFILE2 and more of it' >"$tmp/perf.data"
complains "dump: a damaged perf.data file" 1 "not a recording: .*neither a recording nor a perf.data file" dump "$tmp/perf.data"
complains "dump: an ELF file is no trace" 1 "not a trace.*ELF" dump "$ntrace"
complains "dump: a device is no trace" 1 "neither a trace file nor a recording" dump /dev/zero
printf '\044\005\104\050\040\000\103' >"$tmp/one.nex"
complains "decode: no program for a raw trace" 2 "--elf" decode "$tmp/one.nex"
complains "decode: ELF file that is not RISC-V" 1 "$ntrace: .*RISC-V|$ntrace: .*architecture" \
	decode --elf "$ntrace" "$tmp/one.nex"
complains "decode: program that is no ELF file" 1 "/etc/passwd: " decode --elf /etc/passwd "$tmp/one.nex"
complains "decode: program that does not exist" 1 "/nonexistent: No such file" \
	decode --elf /nonexistent "$tmp/one.nex"
printf '\044\120\001\000\013\044\124\001\000\013' >"$tmp/two.nex"
if [ -e "$shared/data/refcode/xrle.elf" ]; then
	complains "decode --level pc: two SRC, none chosen" 2 "has SRC 0 and 1: choose with --src" \
		decode --level pc --params srcbits=2 --elf "$shared/data/refcode/xrle.elf" "$tmp/two.nex"
	complains "decode: --src that the trace cannot have" 2 "no SRC of the trace is 4" \
		decode --params srcbits=2 --src 4 --elf "$shared/data/refcode/xrle.elf" "$tmp/two.nex"
else
	skip "decode: SRC" "no $shared/data/refcode"
fi
complains "decode: JSON of the PC level" 2 "no --json" decode --json --level pc --raw /etc/passwd@0 "$tmp/one.nex"
complains "decode: --raw without an address" 2 "lacks @ADDR" decode --raw /etc/passwd "$tmp/one.nex"
input=$ntrace complains "decode: standard input that is no trace" 1 "standard input: not a trace" \
	decode --raw /etc/passwd@0 -

complains "check: list of SRC that is none" 2 "'3-1' is not a list" check --sources 3-1 "$tmp/one.nex"
complains "check: SRC that cannot be" 2 "'4096' is not a list" check --sources 4096 "$tmp/one.nex"
complains "check: --list and a trace" 2 "--list takes no trace" check --list "$tmp/one.nex"
complains "check: --raw without an address" 2 "lacks @ADDR" check --raw /etc/passwd "$tmp/one.nex"
complains "--raw beyond the last address" 1 "at this address it would reach beyond the last one, 0xffffffffffffffff: give a lower @ADDR" \
	decode --raw /etc/passwd@0xffffffffffffffff "$tmp/one.nex"
for sub in decode check stat browse; do
	complains "$sub: two traces" 2 "one trace file or recording is needed" "$sub" "$tmp/one.nex" "$tmp/one.nex"
done
for sub in decode check stat dump browse gdb detect split encode assemble; do
	complains "$sub: -p, which is --pid elsewhere" 2 "^ntrace $sub: unknown option -p: the option is --params" "$sub" -p srcbits=2
done
printf '\177ELF' >"$tmp/prog.elf"
for sub in decode check stat browse gdb report export; do
	complains "$sub: a trace and a program" 2 "one .* is needed: $tmp/prog.elf is a program: --elf $tmp/prog.elf" "$sub" "$tmp/one.nex" "$tmp/prog.elf"
done
for sub in report index archive; do
	complains "$sub: two recordings" 2 "one recording .*is needed" "$sub" "$tmp/one.nex" "$tmp/one.nex"
done
complains "check: --raw with a word for an address" 2 "'here' is no address" check --raw /etc/passwd@here "$tmp/one.nex"
complains "check: --raw that does not exist" 2 "/nonexistent: No such file" check --raw /nonexistent@0 "$tmp/one.nex"
complains "check: --raw that is no file" 2 "not a file, or empty" check --raw /@0 "$tmp/one.nex"
complains "check: an ISA that is none" 2 "contradict" check --params isa=pdp11 --raw /etc/passwd@0 "$tmp/one.nex"
complains "check: --stream of a raw trace" 2 "apply to recordings only" check --stream 1 "$tmp/one.nex"
complains "stat: --stream of a raw trace" 2 "apply to recordings only" stat --stream 1 "$tmp/one.nex"
complains "stat: file that does not exist" 1 "nonexistent: No such file" stat /nonexistent
complains "stat: program that does not exist" 1 "/nonexistent: No such file" stat --elf /nonexistent "$tmp/one.nex"
complains "stat: an ISA that is none" 1 "contradict" stat --params isa=pdp11 --raw /etc/passwd@0 "$tmp/one.nex"
for sub in stat check; do
	complains "$sub: directory that is no recording" "$([ "$sub" = check ] && echo 2 || echo 1)" "not a recording" "$sub" "$tmp/empty"
done
complains "ingress: an unknown verb" 2 "'show' is not one of dump, check, encode, import" ingress show x
complains "ingress: an option of another verb" 2 "--map is not for dump" ingress dump --map x y
complains "ingress: --list and a file" 2 "--list takes no file" ingress check --list x
complains "ingress: no file" 2 "dump needs one file" ingress dump
complains "ingress: two files" 2 "check needs one file" ingress check x y
complains "ingress: no map" 2 "import needs --map FILE and --output FILE" ingress import -o x y
complains "ingress: no output" 2 "import needs --map FILE and --output FILE" ingress import --map x y
complains "ingress: nothing to encode" 2 "encode needs a file before its options" ingress encode --mode htm
complains "ingress: a dtype that is none" 2 "'loads' is not one of load, store, csr, atomic" ingress dump --dtype store,loads x
complains "ingress: a size that is none" 2 "'3' is not one of 1, 2, 4, 8, 16" ingress dump --bytes 3 x
# A directory where a file is needed can be opened, but not read.
riscv64-linux-gnu-gcc -x assembler -nostdlib -static -Wl,--build-id=none,-e,0 -o "$tmp/nothing" - <<<'nop'
while read -r status arguments; do
	read -ra words <<<"$arguments"
	complains "${words[0]}: a directory instead of a file: $arguments" "$status" "^ntrace: error: /: Is a directory$" \
		"${words[@]/%ELF/$tmp/nothing}"
done <<'END'
1 encode --pcs / --elf ELF --mode htm -o /dev/null
1 encode --exec-log / --elf ELF --mode htm -o /dev/null
1 encode --ingress / --mode htm -o /dev/null
1 ingress dump /
2 ingress check /
1 ingress import --map / -o /dev/null x
1 tandem dump /
1 tandem stat /
1 tandem convert --from spike -o /dev/null /
1 tandem convert --from qemu -o /dev/null /
1 merge -o /dev/null /
1 ctr dump /
END
complains "an unknown command" 2 "^ntrace: unknown command nonsense" nonsense more
complains "an unknown option instead of a command" 2 "^ntrace: unknown option --nonsense" --nonsense more
for sub in dump "decode --elf x" "gdb --elf x" "browse --elf x"; do
	read -ra words <<<"$sub"
	complains "${words[0]}: a SRC of 13 bits" 2 "option --src: 4096 is not between 0 and 4095" "${words[@]}" --src 4096 x
done
for word in cs csrs cst atomi atomics ato loa stor; do
	complains "ingress: a dtype that is almost one: $word" 2 "'$word' is not one of load, store, csr, atomic" ingress dump --dtype "$word" x
done
for range in 5 5-4 x-y 1-2-3 -5 1--2; do
	complains "ingress: the range $range" 2 "'$range' is not a range FIRST-LAST" ingress dump "--daddr=$range" x
done
complains "ingress: a file that does not exist" 1 "/nonexistent: No such file" ingress dump /nonexistent
complains "ingress: check: cannot be read" 2 "/nonexistent: No such file" ingress check /nonexistent
complains "ingress: a map that does not exist" 1 "/nonexistent: No such file" ingress import --map /nonexistent -o "$tmp/x" y
complains "dump: --bytes and --json" 2 "exclude each other" dump --bytes --json "$tmp/one.nex"
complains "dump: --src without SRC" 2 "has no SRC" dump --src 1 "$tmp/one.nex"
complains "dump: --stream of a raw trace" 2 "applies to recordings only" dump --stream 1 "$tmp/one.nex"

"$ntrace" dump "$tmp/one.nex" >/dev/full 2>"$tmp/err"
is $? 1 "output to a full disk fails"
like "and a message says it" "No space left" "$(cat "$tmp/err")"

# Random bytes never make the command crash, hang or use much memory; sanitizers check it too.
: >"$tmp/zero.nex"
truncate -s 50M "$tmp/zeros.nex"
python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(300000))' >"$tmp/random.nex"
if [ -e "$shared/data/refcode/xrle.elf" ]; then
	for file in zero zeros random; do
		# Without messages, nothing is shown.
		none=3
		[ $file = zero ] && none=1
		rc=0
		(ulimit -v 400000 && timeout 600 "$ntrace" decode --level pc --elf "$shared/data/refcode/xrle.elf" \
			"$tmp/$file.nex" >/dev/null 2>&1) || rc=$?
		is $((rc == 0 || rc == 3 || rc == none)) 1 "decode survives $file.nex (status $rc)"
		(ulimit -v 400000 && timeout 600 "$ntrace" dump --json "$tmp/$file.nex" >/dev/null 2>&1) || rc=$?
		is $((rc == 0 || rc == 3 || rc == none)) 1 "dump survives $file.nex (status $rc)"
		for sub in stat check; do
			rc=0
			(ulimit -v 400000 && timeout 600 "$ntrace" "$sub" --params srcbits=12 --elf "$shared/data/refcode/xrle.elf" \
				"$tmp/$file.nex" >/dev/null 2>&1) || rc=$?
			[ "$sub" = check ] && [ $rc -eq 1 ] && rc=0
			[ "$sub" = check ] && [ $file = zero ] && [ $rc -eq 2 ] && rc=0
			is $((rc == 0 || rc == 3 || rc == none)) 1 "$sub survives $file.nex (status $rc)"
		done
	done
else
	skip "decode and dump survive rubbish" "no $shared/data/refcode"
fi

# Numbers out of range, with signs or of more than 64 bits are refused, with the range; nothing is taken modulo anything.
touch "$tmp/file"
for port in 65536 99999999 18446744073709551617 -1 "" http; do
	complains "gdb: port '$port'" 2 "'127.0.0.1:$port': the port is not between 0 and 65535" gdb --listen "127.0.0.1:$port" none
done
complains "a number above 64 bits" 2 "option --limit: 18446744073709551616 is not between 0 and [0-9]+ " report --limit 18446744073709551616 none
complains "a suffix that goes above 64 bits" 2 "option --memory: 18014398509481984K is not between 1 and [0-9]+ " count --memory 18014398509481984K -o none none
# Every option of the help that takes numbers: decimal digits, of a SIZE with a suffix, and nothing else.
# shellcheck disable=SC2086 # sub may be two words
for sub in $("$ntrace" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p') "ctr trace"; do
	while read -r option argument; do
		wrong=("+5" " 5" "5x" "-5" "")
		case $argument in
		SIZE) wrong+=("0x" "K" "4096KB") ;;
		N | PID | BITS | DEPTH) wrong+=("0x10" "5k" "16K" "5.0") ;;
		SECONDS | PERCENT | TIME) wrong+=("0x1p3" "nan" "inf" "+1") ;;
		LIST) wrong+=("1,+2" "1, 2" "0x1") ;;
		A,B) wrong=("+5,6" " 5,6" "5, 6" "0x,6" "5x,6") ;;
		I/N) wrong=("+1/2" "1/ 2" "1/0x2" "1/2K") ;;
		"ON,OFF") wrong=("+5,6" " 5,6" "5, 6" "0x5,6") ;;
		"KIND[:N]") wrong=("messages:+64" "messages: 64" "system:+4" "system: 4" "messages:64x") ;;
		*) continue ;;
		esac
		case $sub$option in
		# Names; and times in words, which are read with the recording.
		ctr--has | encode--mode | ingress--dtype | record--encoder | gdb--time | browse--time) continue ;;
		esac
		bad=
		for value in "${wrong[@]}"; do
			timeout 20 "$ntrace" $sub "$option=$value" "$tmp/file" >"$tmp/out" 2>&1 </dev/null
			[ $? = 2 ] && grep -q "option $option: " "$tmp/out" || bad+=" '$value': $(head -n 1 "$tmp/out")"
		done
		is "$bad" "" "$sub $option $argument: refuses what is no number"
	done < <("$ntrace" $sub --help | sed -nE 's/^ +(-., )?(--[a-z0-9-]+) ([A-Z][^ ]*) .*/\2 \3/p')
done
for id in +1 " 1" 1x -1; do
	complains "--framing coresight:$id" 2 "option --framing: '.*$id' is not a source ID" dump --framing "coresight:$id" "$tmp/file"
done
for number in -1 " -1" +1 " 1" "" 0x; do
	complains "a number with a sign, a blank, or no digits: '$number'" 2 "option --limit: '.*' is not a number" report --limit "$number" none
done
for address in -1 " 1" +1 18446744073709551616; do
	complains "--elf at '$address'" 2 "option --elf: '.*' is not an address" decode --elf "$ntrace@$address" "$tmp/file"
	complains "--raw at '$address'" 2 "option --raw: '.*' is no address" decode --raw "$ntrace@$address" "$tmp/file"
done
for pair in start=16 start=256 stop=99 stop=4294967295; do
	complains "--encoder $pair" 2 "option --encoder: cannot use '$pair': the field has 4 bits" encode --encoder "$pair"
done
complains "--encoder with a privilege that none is" 2 "cannot use 'privmask=0x100': the mask has 8 bits" encode --encoder privmask=0x100
printf 'ntrace-ingress 1 xlen=64 itype=4 groups=1 port=block\nstart 1\n' >"$tmp/port"
for pair in icntbits=33 icntfull=4294967295 histbits=32 hrepeatbits=19 bcntbits=19 retbits=64 syncmax=16 fifo=1; do
	complains "--encoder $pair" 2 "invalid encoder options: " encode --encoder "$pair" --ingress "$tmp/port" --mode htm -o "$tmp/none"
done
complains "a signal with something after it" 2 "'11x' is not a signal" trigger --signal 11x true
complains "a signal modulo 2^32" 2 "'4294967307' is not a signal" trigger --signal 4294967307 true
complains "the number of an execution" 2 "not between 1 and 18446744073709551615" browse --around main:18446744073709551616 none
complains "a mask with a sign" 2 "'-1' is not a mask" tandem verify --gdb x:1 --chosen a0:-1 "$tmp/file"
complains "a device with a sign" 2 "'5--1' is not a range" tandem verify --gdb x:1 --device 5--1 "$tmp/file"
complains "a range of data of more than 64 bits" 2 "is not a range" ingress dump --daddr 0-18446744073709551616 "$tmp/file"

# "-" is standard output wherever a file is written; a directory cannot go there.
cd "$tmp" || exit 1
complains "record -o -" 2 "a recording is a directory and cannot go to standard output" record -o - true
complains "trigger -o -" 2 "a recording is a directory and cannot go to standard output" trigger -o - -p 1
complains "collect -o -" 2 "a directory cannot go to standard output" collect -o - -a
complains "split -o -" 2 "a directory cannot go to standard output" split -o - "$tmp/file"
complains "split -o ''" 2 "option --output: no name" split -o "" "$tmp/file"
mkdir sub
ln -s . link
while read -r trace record; do
	complains "encode -o $trace --record-ingress $record" 2 "the trace and --record-ingress are the same file: '$record'" \
		encode --pcs "$tmp/file" --elf "$ntrace" --mode htm -o "$trace" --record-ingress "$record"
done <<-'END'
	new new
	new ./new
	link/new sub/../new
	- -
	- /dev/stdout
END
ok "no file of them" test ! -e new
ok "no file '-'" test ! -e -
done_testing
