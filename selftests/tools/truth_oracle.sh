#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: guest seconds=30
# Tests the witness with a bare-metal program: it contains every way in which QEMU starts an
# instruction that does not retire, and its log is compared with a hand-written order. Also tests
# the comparison, which must detect each change of the log.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
oracle=$top/selftests/oracle
compare=$top/build/oracle/compare

# The page at 0x101000 is the RTC, which ignores a word written to offset 0: this test does not use
# QEMU's trace blocks, so it runs with any QEMU.
assemble() {
	riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -nostdlib -static -no-pie -Wl,-Ttext=0x80000000 \
		-Wl,--build-id=none -DENCODER=0x101000 "$@" || exit 1
}
assemble "$oracle/payload.S" -o "$tmp/payload"
assemble "$oracle/remote.S" -DTURNS=100000 -o "$tmp/remote"
assemble "$oracle/turns.S" -o "$tmp/turns"
riscv64-linux-gnu-nm "$tmp/payload" >"$tmp/symbols"
print=$top/build/oracle/log_print

run() {
	local name=$1
	shift
	timeout 600 "$top/build/qemu/qemu-system-riscv64" -M virt -cpu rv64 -m 128M -display none -serial none \
		-monitor none -bios none -kernel "$tmp/$name" -plugin "$top/build/plugin/exec_log.so,out=$tmp/p,base=0x101000" "$@" &&
		"$print" "$tmp/p.0" >"$tmp/p.txt" &&
		grep -q ' 0 odd' "$tmp/p.messages"
}

# If time follows the host's, the payload's timer may expire before the instruction that it should
# hit.
run_payload() {
	run payload "$@" &&
		awk -v strict="$([[ " $* " = *" -icount "* ]] && echo 1 || echo 0)" -f "$oracle/expect_check.awk" \
			"$tmp/symbols" "$oracle/payload.expect" "$tmp/p.txt"
}

ok "what retires, two harts in threads of their own" run_payload -smp 2
ok "the same with one hart" run_payload -smp 1
ok "the same with -icount" run_payload -smp 1 -icount shift=0
ok "the same with all harts in one thread" run_payload -smp 2 -accel tcg,thread=single
ok "the same with one instruction per block" run_payload -smp 2 -accel tcg,one-insn-per-tb=on

sed 's/^e5$/e4 e5/' "$oracle/payload.expect" >"$tmp/wrong"
fails "the check of the order can fail" 'expected e4' \
	awk -f "$oracle/expect_check.awk" "$tmp/symbols" "$tmp/wrong" "$tmp/p.txt"

list=(--log "$tmp/p.0" --priv usm --pcs)
ok "the comparison accepts the witness's own list" "$compare" "${list[@]}" "$tmp/p.txt"
for at in 0 1 2 100 200; do
	for kind in alter drop add; do
		fails "the comparer sees a falsified instruction $at: $kind" DIFFERENCE \
			"$compare" --mutate "$kind@$at" "${list[@]}" "$tmp/p.txt"
	done
done
sed '1itrap interrupt' "$tmp/p.txt" >"$tmp/list"
ok "of a trap before the first instruction the witness knows nothing" "$compare" "${list[@]}" "$tmp/list"
sed '2itrap interrupt' "$tmp/p.txt" >"$tmp/list"
fails "a trap before the second that was none" 'took none' "$compare" "${list[@]}" "$tmp/list"
sed '0,/^trap/{/^trap/d}' "$tmp/p.txt" >"$tmp/list"
fails "a trap that is missing" 'does not have' "$compare" "${list[@]}" "$tmp/list"
sed '0,/interrupt/s//exception/' "$tmp/p.txt" >"$tmp/list"
fails "an interrupt for an exception" 'mixed up' "$compare" "${list[@]}" "$tmp/list"
sed '10i trap exception 2' "$tmp/p.txt" >"$tmp/list"
fails "a trap that was none" 'took none' "$compare" "${list[@]}" "$tmp/list"
sed '$d' "$tmp/p.txt" | sed '$d' >"$tmp/list"
fails "an end that is missing" 'ends where' "$compare" "${list[@]}" "$tmp/list"
(cat "$tmp/p.txt"; echo '80000000 4') >"$tmp/list"
fails "an end that is too much" 'goes on' "$compare" "${list[@]}" "$tmp/list"
fails "fewer instructions than asked for" 'fewer than' "$compare" --min 1000000000 "${list[@]}" "$tmp/p.txt"
head -c $(($(stat -c %s "$tmp/p.0") - 1)) "$tmp/p.0" >"$tmp/cut"
fails "a log that is cut" 'log (ends|is damaged)' "$compare" --log "$tmp/cut" --priv usm --pcs "$tmp/p.txt"

# A list that reports losses: after every 40 instructions, five are missing and reported as lost.
# None at the end, where the number of interrupts varies: missing instructions there must be
# detected.
awk 'NR == FNR { all += !/^trap/; next }
	{ lost = n >= 40 && n % 40 < 5 && n - n % 40 + 20 < all }
	/^trap/ { if (!lost) print; next }
	{ if (lost && n % 40 == 0) print "loss"; if (!lost) print; n++ }' "$tmp/p.txt" "$tmp/p.txt" >"$tmp/lossy"
losses=$(grep -c loss "$tmp/lossy")
ok "the list has $losses losses" test "$losses" -gt 3
ok "the comparison accepts a list with losses" "$compare" "${list[@]}" "$tmp/lossy"
sed '0,/^loss/{/^loss/d}' "$tmp/lossy" >"$tmp/list"
fails "a loss that is not reported" DIFFERENCE "$compare" "${list[@]}" "$tmp/list"
sed '10i loss' "$tmp/p.txt" >"$tmp/list"
fails "a loss that was none" 'is not in the log' "$compare" "${list[@]}" "$tmp/list"
for at in 1 2 3; do
	sed "$(grep -n loss "$tmp/lossy" | sed -n "${at}s/:.*//p"),\$ { /^[0-9a-f]/ { s/^/f/; :a n; ba } }" "$tmp/lossy" >"$tmp/list"
	fails "a falsified instruction after loss $at" 'is not in the log' "$compare" "${list[@]}" "$tmp/list"
done
(cat "$tmp/lossy"; echo '80000000 4') >"$tmp/list"
fails "an end that is too much, after losses" 'is not in the log' "$compare" "${list[@]}" "$tmp/list"
sed '$d' "$tmp/lossy" | sed '$d' >"$tmp/list"
fails "an end that is missing, after losses" 'ends where' "$compare" "${list[@]}" "$tmp/list"

# Six turns of a loop; only the fifth has a trap, to a privilege that is not compared: the turns before it have the same addresses.
# turn_lost N: the first turn; the fifth, with its trap before instruction N; and the end of the sixth
turn_lost() {
	sed -n '1,9p' "$tmp/turns.txt"
	echo loss
	sed -n "37,45{$((36 + $1))itrap exception 5
		p}" "$tmp/turns.txt"
	echo loss
	tail -n 2 "$tmp/turns.txt"
} >"$tmp/list"
ok "a loop with a trap in one turn" run turns
grep ' U$' "$tmp/p.txt" >"$tmp/turns.txt"
turns=("$compare" --losses --log "$tmp/p.0" --priv u --pcs "$tmp/list")
turn_lost 7
ok "after a loss, the turn with the trap is found" "${turns[@]}"
turn_lost 3
fails "no turn has a trap elsewhere" 'took none' "${turns[@]}"
run payload -smp 1 -icount shift=0

# After a loss, code of users may be unknown, and then callers anywhere, until the next sync.
# list_errors LINE...: the list of losses with these lines after the second loss
list_errors() {
	local at
	at=$(grep -n loss "$tmp/lossy" | sed -n '2s/:.*//p')
	{ head -n "$at" "$tmp/lossy"; printf '%s\n' "$@"; tail -n +$((at + 1)) "$tmp/lossy"; } >"$tmp/list"
}
user=10000 kernel=ffffffff80a7488e lossy=("$compare" --losses "${list[@]}" "$tmp/list")
list_errors "error wire 0" "error nomap $user" "error indirect $kernel" "error indirect $user"
ok "after a loss, unknown code of users and returns to unknown callers are accepted" "${lossy[@]}"
fails "without --losses none is" 'NOT OK: 4 errors' "$compare" "${list[@]}" "$tmp/list"
for wrong in "nomap $user" "wire 0,nomap $kernel" "wire 0,indirect $user" "wire 0,nomap $user,sync,indirect $user" \
	"wire 0,nomap $user,sync,indirect $kernel"; do
	mapfile -t lines < <(tr , '\n' <<<"$wrong" | sed '/sync/!s/^/error /')
	list_errors "${lines[@]}"
	fails "an error that no loss explains: $wrong" 'NOT OK: 1 error' "${lossy[@]}"
done

# The hart leaves the privileges that are traced, and comes back: a loss there may take only messages without instructions.
awk '/^trap/ { trap = $0; next }
	$3 == "M" { away = count; trap = ""; next }
	{ if (away) print "loss"; else if (trap != "") print trap; away = 0; trap = ""; count++; print }' "$tmp/p.txt" >"$tmp/list"
losses=$(grep -c loss "$tmp/list")
ok "the hart was $losses times in M-mode" test "$losses" -ge 1
ok "a loss while the hart was in M-mode takes no instruction" "$compare" --log "$tmp/p.0" --priv us --pcs "$tmp/list"
sed -i '/^loss/{n;s/$/\nloss/}' "$tmp/list"
fails "a loss after that, which was none" 'is not in the log' "$compare" --log "$tmp/p.0" --priv us --pcs "$tmp/list"

# Another hart starts and stops the trace: one block at each end may be in only one of log and
# trace.
remote() {
	"$compare" "${list[@]}" "$tmp/list" >"$tmp/result" && cat "$tmp/result" && grep -q "$1" "$tmp/result"
}
for how in multi single; do
	ok "$how: a hart that is started by another" run remote -smp 2 -accel tcg,thread=$how
	cp "$tmp/p.txt" "$tmp/list"
	ok "$how: the whole list" remote 'start by another hart: 0 only in the log, 0 only decoded; stop by another hart: 0'
	sed '1d' "$tmp/p.txt" >"$tmp/list"
	ok "$how: one less at the start is counted" remote 'start by another hart: 1 only in the log'
	sed '$d' "$tmp/p.txt" >"$tmp/list"
	ok "$how: one less at the end is counted" remote 'stop by another hart: 1 only in the log'
	sed '1,40d' "$tmp/p.txt" >"$tmp/list"
	fails "$how: more than a block is missing at the start" DIFFERENCE "$compare" "${list[@]}" "$tmp/list"
	head -n -40 "$tmp/p.txt" >"$tmp/list"
	fails "$how: more than a block is missing at the end" 'ends where' "$compare" "${list[@]}" "$tmp/list"
done
done_testing
