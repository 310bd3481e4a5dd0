#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Speed of reading a tandem trace, of the executor, and of verifying a trace through a linked model, through a GDB stub and with the
# executor as the model, in seconds of the processor: of the model and of the verifier. tandem.gdb.step is the most that a GDB stub
# allows: steps in a second without anything between them.
set -euo pipefail
# shellcheck source=selftests/bench/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=selftests/tandem/stub.sh
. "$top/selftests/tandem/stub.sh"
rounds=${BENCH_ROUNDS:-5}
build tandem_speed
"$tmp/tandem_speed" "$rounds" >"$tmp/out"
of() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/out"; }
# shellcheck disable=SC2046 # numbers
figure tandem.read "$(median $(of read))" MB/s "$rounds" ">=500"
# shellcheck disable=SC2046 # numbers
figure tandem.state "$(median $(of state))" MB/s "$rounds"

# shellcheck disable=SC2046 # numbers
figure tandem.exec "$(median $(of exec))" instructions/s "$rounds" ">=20000000"

# The program of the tests, with about 250 instructions a round.
riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie -Wl,-Ttext=0x80000000 -Wl,--build-id=none \
	-DROUNDS=4000 -o "$tmp/program" "$top/selftests/tandem/program.S"
machine=("$top/build/qemu/qemu-system-riscv64" -M virt -cpu rv64 -m 128M -display none -serial none -monitor none -bios none
	-kernel "$tmp/program")
device=0x2000000-0x200ffff
"${machine[@]}" -icount shift=0 -plugin "$top/build/plugin/tandem_log.so,out=$tmp/trace,max=400000" 2>/dev/null

# rate COMMAND...: groups of the last line of its output in a second
rate() {
	local TIMEFORMAT='%U %S' seconds
	seconds=$({ time "$@" >"$tmp/out" 2>/dev/null; } 2>&1)
	sed -n 's/.*"groups":\([0-9]*\).*/\1/p' "$tmp/out" | awk -v seconds="$seconds" '{ split(seconds, s); printf "%.0f\n", $1 / (s[1] + s[2]) }'
}
# at_stub COMMAND...: with a new model that waits at $tmp/gdb
at_stub() {
	rm -f "$tmp/gdb"
	"${machine[@]}" -S -gdb "unix:$tmp/gdb,server=on,wait=off" >/dev/null 2>&1 &
	local model=$!
	stub_ready "$tmp/gdb" "$model"
	"$@"
	kill "$model"
	wait "$model" || true
}
through_gdb() {
	at_stub "$top/build/ntrace" tandem verify --gdb "$tmp/gdb" --device "$device" --json --limit 10000 "$tmp/trace"
}
rates=()
for ((i = 0; i < rounds; i++)); do
	rates+=("$(at_stub python3 -c 'import socket, sys, time
stub, count = socket.socket(socket.AF_UNIX), 5000
stub.connect(sys.argv[1])
begin = time.monotonic()
for _ in range(count):
    stub.send(b"+\x24s#73")
    answer = b""
    while b"#" not in answer[:-2]:
        answer += stub.recv(4096)
print(round(count / (time.monotonic() - begin)))' "$tmp/gdb")")
done
figure tandem.gdb.step "$(median "${rates[@]}")" steps/s "$rounds"
for what in linked gdb builtin; do
	rates=()
	for ((i = 0; i < rounds; i++)); do
		if [ "$what" = linked ]; then
			rates+=("$(rate "${machine[@]}" -plugin "$top/build/plugin/tandem_model.so,device=$device,json=on,trace=$tmp/trace")")
		elif [ "$what" = builtin ]; then
			rates+=("$(rate "$top/build/ntrace" tandem verify --model builtin --device "$device" --json "$tmp/trace")")
		else
			rates+=("$(rate through_gdb)")
		fi
	done
	limits=()
	[ "$what" != builtin ] || limits=(">=20000")
	figure "tandem.verify.$what" "$(median "${rates[@]}")" instructions/s "$rounds" "${limits[@]}"
done
write_figures
