#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=30
# The runner of the virtual SoC: the files it copies back, and its reports of failures.
# shellcheck disable=SC2016 # what is in single quotes is for the guest
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
run=$top/tools/vsoc/run

# One guest tests all results of a run, and the options that wire blocks and inject faults.
rc=0
"$run" --quiet --smp 4 --topology chain --fault funnel:newer-minor@1 --fault encoder:wrong-type@1 --fault encoder:no-empty \
	--append iomem=relaxed --put "$top/Makefile:/root/put/" --get "/root/made:$tmp/back" --dmesg "$tmp/dmesg" -- \
	sh -c 'echo "to stdout: $(nproc) harts, $(sha256sum </root/put/Makefile)"
		echo "to stderr" >&2; mkdir /root/made; seq 100000 >/root/made/file
		for address in 6080000 6081000 6000000 6001000; do
			devmem 0x$address 32 1
			echo "$(devmem 0x$address 32) $(devmem 0x${address%???}004 32)"
		done
		devmem 0x6001e00 32 0
		echo "$(devmem 0x6001000 32) $(devmem 0x6001004 32)"; exit 42' >"$tmp/out" 2>"$tmp/err" || rc=$?
is "$rc" 42 "the command's exit status comes back"
is "$(head -n 1 "$tmp/out")" "to stdout: 4 harts, $(sha256sum <"$top/Makefile")" "so does its standard output, the file put there was seen"
like "and its standard error, apart" "^to stderr" "$(cat "$tmp/err")"
is "$(seq 100000 | sha256sum)" "$(sha256sum <"$tmp/back/made/file")" "a file is brought back whole"
like "the kernel log is kept" "Linux version" "$(cat "$tmp/dmesg")"
is "$(tail -n +2 "$tmp/out" | tr '\n' ' ')" "0x00000009 0x00000801 0x00000009 0x00000811 0x01000001 0x00010101 0x01000001 0x00010F01 0x01000009 0x00010101 " \
	"blocks are wired and broken as asked for, and mended by their fault register"

rc=0
"$run" --smp 1 --timeout 1 -- sleep 1000 >"$tmp/out" 2>&1 || rc=$?
is "$rc" 124 "a run that takes too long is killed"
like "and a message says it" "timed out after 1 s" "$(cat "$tmp/out")"

rc=0
"$run" --quiet --smp 1 -- sh -c 'echo c >/proc/sysrq-trigger' >"$tmp/out" 2>&1 || rc=$?
is "$rc" 126 "a kernel panic ends the run at once"
like "and is named" "error: .*Kernel panic" "$(cat "$tmp/out")"
like "with the end of the console" "sysrq: Trigger a crash" "$(cat "$tmp/out")"

# This QEMU begins with what the model of a sink says that has missed its Limit.
cat >"$tmp/qemu" <<END
#!/bin/sh
echo "qemu: ntrace-ram-sink 0: 4 bytes written outside the buffer" >&2
exec $("$top/tools/vsoc/qemu/build" --path) "\$@"
END
chmod +x "$tmp/qemu"
rc=0
"$run" --quiet --qemu "$tmp/qemu" --smp 1 --reboot-ok -- sh -c 'echo "boot $NTRACE_BOOT"; [ "$NTRACE_BOOT" = 2 ] && exit; reboot -f; sleep 100' \
	>"$tmp/out" 2>"$tmp/err" || rc=$?
is "$(tr '\n' ' ' <"$tmp/out")" "boot 1 boot 2 " "a guest may reboot where that is asked for"
is "$rc" 1 "a run fails if a sink has written outside its buffer"
like "and a message says it" "error: .*ntrace-ram-sink 0: 4 bytes written outside the buffer" "$(cat "$tmp/err")"

fails "no fault" "is not BLOCK:NAME" "$run" --quiet --fault no-empty -- true

fails "no command" "no command" "$run" --quiet
fails "unknown option" "unknown option" "$run" --no-such-option -- true
fails "no such file to put" "does not exist" "$run" --put "$tmp/none:/root/x" -- true

done_testing
