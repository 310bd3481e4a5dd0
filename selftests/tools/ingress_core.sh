#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# runner: seconds=90
# A core in Verilog (rtl/core.v), simulated by Icarus: its trace ingress port goes from the waveform through
# `ntrace ingress import`, `check` and `encode`. The testbench prints what retires; QEMU runs the same program. The encoder,
# the model of CTR, the tandem trace and the data accesses must agree with both. Mistakes that are planted in the core must be
# found.
set -uo pipefail
# shellcheck source=selftests/tap.sh
. "$(dirname "$0")/../tap.sh"
ntrace=$top/build/ntrace
rtl=$top/selftests/tools/rtl
cd "$tmp" || exit 1

ok "the program is compiled" riscv64-linux-gnu-gcc -march=rv64ia_zicsr -mabi=lp64 -mcmodel=medany -O1 -ffreestanding -fno-pic \
	-fno-stack-protector -nostdlib -static \
	-Wl,--no-relax,--build-id=none,-N,--section-start=.init=0x80000000,-Ttext=0x80000200,--no-warn-rwx-segments \
	-o program "$rtl/program.c" || { done_testing; exit; }
riscv64-linux-gnu-objcopy -O binary program program.bin
od -An -v -tx1 program.bin >program.hex

# The maps: the unified port and the split port of the same core.
cat >unified.map <<'END'
# The trace ingress port of core.v
ntrace-ingress 2 xlen=64 itype=4 groups=1 port=block data=unified retires=1 accesses=1 dtype=4 lsbs=0
clock testbench.clk
reset testbench.rst
priv =3
itype testbench.core.itype[3:0]
cause testbench.core.xcause
tval testbench.core.xtval
iaddr testbench.core.iaddr[63:0]
iretire.0 testbench.core.iretire
ilastsize testbench.core.ilastsize
dretire testbench.core.dretire
dtype testbench.core.dtype
daddr testbench.core.daddr
dsize testbench.core.dsize
data testbench.core.data
END
sed 's/data=unified/data=split/; s/lsbs=0/lsbs=0 lrid=2/; s/^priv .*/priv testbench.core.priv/; /^data /d' unified.map >split.map
for name in lrid lresp lid ldata sdata; do echo "$name testbench.core.$name"; done >>split.map

# simulate NAME CORE ARGUMENT...: makes NAME.log and NAME.vcd.
simulate() {
	local name=$1 core=$2
	shift 2
	iverilog -g2005 -o "$name.vvp" "$core" "$rtl/testbench.v" 2>"$name.err" &&
		vvp -n "$name.vvp" +program=program.hex "+wave=$name.vcd" "$@" >"$name.log" 2>>"$name.err"
}

# What the testbench printed, as a list of accesses or of transfers.
cat >expect.py <<'END'
import json
import struct
import sys

WHAT, LOG = sys.argv[1:3]
steps = [line.split() for line in open(LOG) if line[0] in "RTLSFAC"]
image = open("program.bin", "rb").read()


def accesses(error_every=0):
    """kind, address, bytes, store, load of each access; on a split port every 16th response is an error."""
    out, responses = [], 0
    for step in steps:
        kind, value = step[0], [int(v, 16) for v in step[1:]]
        if kind in "LA":
            responses += 1
        load = value[-1] if kind == "L" else value[-2] if kind == "A" else 0
        if error_every and kind in "LA" and responses % error_every == 0:
            load = "error"
        if kind == "L":
            out.append(["load", value[0], int(step[2]), 0, load])
        elif kind == "S":
            out.append(["store", value[0], int(step[2]), value[2], 0])
        elif kind == "F":
            out.append(["store-failure", value[0], int(step[2]), 0, 0])
        elif kind == "A":
            # The store of a split port is the operand: only its address is compared.
            out.append(["atomic", value[0], int(step[2]), None if error_every else value[3], load])
        elif kind == "C":
            out.append(["csr", value[0], 8, None if error_every else value[2], None if error_every else value[1]])
    return out


def seen():
    out, waiting = [], {}
    atomics = ("swap", "add", "and", "or", "xor", "max", "min")
    for line in sys.stdin:
        record = json.loads(line)
        for access in record.get("accesses", []):
            name = access["dtype_name"]
            kind = "atomic" if name in atomics else "csr" if name.startswith("csr") else name
            row = [kind, int(access["daddr"], 16), access["bytes"], int(access["store"], 16), int(access["load"], 16)]
            if WHAT == "split" and kind in ("atomic", "csr"):
                row[3] = None
            if WHAT == "split" and kind == "csr":
                row[4] = None
            if "lrid" in access:
                assert access["lrid"] not in waiting
                waiting[access["lrid"]] = row
            out.append(row)
        for response in record.get("responses", []):
            row = waiting.pop(response["lid"])
            row[4] = "error" if response["lresp"] == 3 else int(response["load"], 16)
    # The core ends with its last three loads in flight.
    for row in waiting.values():
        row[4] = None
    return out, len(waiting)


def transfers():
    """The type of CTR, from and to of each control transfer; the classes are those of the E-Trace specification."""
    flow = [(step[0], int(step[1], 16), step[2:]) for step in steps if step[0] in "RT"]
    out = []
    for (kind, pc, more), (_, to, _) in zip(flow, flow[1:]):
        insn, = struct.unpack_from("<I", image, pc - 0x80000000)
        rd, rs1, link = insn >> 7 & 31, insn >> 15 & 31, (1, 5)
        type = 0
        if kind == "T":
            type = 2 if more[0] == "99" else 1
        elif insn & 0x7f == 0x63:
            type = 4 if to == pc + 4 else 5
        elif insn & 0x7f == 0x6f:
            type = 9 if rd in link else 15 if rd else 11
        elif insn & 0x7f == 0x67:
            if rd in link:
                type = 12 if rs1 in link and rs1 != rd else 8
            else:
                type = 13 if rs1 in link else 14 if rd else 10
        elif insn == 0x30200073:
            type = 3
        if type:
            out.append((pc, to, type))
    return out


def groups():
    """Retired instructions, traps and stores of a tandem trace, as the testbench prints them."""
    pc = None
    for line in sys.stdin:
        words = line.split()[1:]
        if words[0] == "begin":
            insn, init, regs, state = None, False, {}, {}
        elif words[0] in ("insn32", "init", "next-pc"):
            insn = words[1] if words[0] == "insn32" else insn
            init = init or words[0] == "init"
            if words[0] == "next-pc":
                state["pc"] = pc + 4
        elif words[0] == "register":
            regs[words[1]] = int(words[3], 16)
        elif words[0] == "state":
            state[words[1]] = int(words[3], 16)
        elif words[0] == "end":
            if "mcause" in regs:
                cause = regs["mcause"]
                yield ("T", regs.get("mepc", pc), 99 if cause >> 63 else cause, regs.get("mtval", 0))
            elif not init:
                assert int(insn, 16) == struct.unpack_from("<I", image, pc - 0x80000000)[0]
                yield ("R", pc)
                for bits in (8, 16, 32, 64):
                    if f"store{bits}" in state:
                        yield ("S", state["eaddr"], bits // 8, state[f"store{bits}"])
            pc = state.get("pc")


if WHAT == "tandem":
    told = [(s[0], int(s[1], 16)) if s[0] == "R" else ("T", int(s[1], 16), int(s[2]), int(s[4], 16)) if s[0] == "T" else
            ("S", int(s[1], 16), int(s[2]), int(s[3], 16) & (1 << 8 * int(s[2])) - 1) for s in steps if s[0] in "RTS"]
    # A port need not tell where an interrupt is taken after a jump.
    got = [t if g[:2] == ("T", None) and t[2] == 99 else g for g, t in zip(groups(), told + [()] * 9)]
    print(len(got) - len(told), sum(a != b for a, b in zip(got, told)), [p for p in zip(got, told) if p[0] != p[1]][:2])
elif WHAT == "transfers":
    for index, (pc, to, type) in enumerate(transfers()[:-257:-1]):
        print("%d %x %x %x" % (index, pc | 1, to, type))
elif WHAT == "types":
    print(*sorted({type for _, _, type in transfers()}))
else:
    got, left = seen()
    want = accesses(16 if WHAT == "split" else 0)
    for row, expected in zip(got, want):
        if row[4] is None and expected[0] in ("load", "atomic"):
            expected[4] = None
    wrong = [(row, expected) for row, expected in zip(got, want) if row != expected]
    print(len(got) - len(want), len(wrong), left, wrong[:2])
END

# port NAME PORT: the port of a simulation, from its waveform.
port() {
	local name=$1 port=$2 text="$1, $2 port"
	ok "$text: imported" "$ntrace" ingress import --map "$port.map" -o "$name.$port" "$name.vcd" || return
	cp "$tmp/.ok.err" said
	like "$text: the summary counts the retired instructions" ", $(grep -c ^R "$name.log") groups, $(grep -c '^[LSFAC]' "$name.log") accesses" \
		"$(cat said)"
	"$ntrace" ingress check "$name.$port" >found
	is "$? $(sed 's/.*: //' found)" "0 0 errors, 0 warnings" "$text: obeys all rules" || diag "$(head -n 3 found)"
	"$ntrace" ingress check --elf program "$name.$port" >found
	is "$? $(sed 's/.*: //' found)" "0 0 errors, 0 warnings" "$text: and is the port of the program" || diag "$(head -n 3 found)"
	is "$("$ntrace" ingress dump --data --json "$name.$port" | python3 expect.py "$port" "$name.log" | cut -d' ' -f1,2)" "0 0" \
		"$text: each access of the testbench, and no other" ||
		diag "$("$ntrace" ingress dump --data --json "$name.$port" | python3 expect.py "$port" "$name.log")"
	for mode in htm btm; do
		ok "$text: encoded, $mode" "$ntrace" ingress encode "$name.$port" --mode $mode -o trace --record-ingress again
		ok "$text: recorded again as the same" cmp again "$name.$port"
		"$ntrace" decode --level pc --elf program trace >pcs
		ok "$text: $mode: the trace has the instructions of the testbench" cmp pcs "$name.pcs"
	done
	"$ntrace" ctr model --control 0x1000000007 --depth 256 "$name.$port" >ring
	is "$("$ntrace" ctr compare --has type "$name.transfers" ring)" "256 entries, no difference" \
		"$text: CTR has the transfers of the testbench"
	ok "$text: converted to a tandem trace" "$ntrace" tandem convert --from ingress --elf program -o tandem "$name.$port"
	is "$("$ntrace" tandem dump tandem | python3 expect.py tandem "$name.log")" "0 0 []" \
		"$text: the tandem trace has the instructions, traps and stores of the testbench"
}

# run NAME ARGUMENT...
run() {
	local name=$1
	shift
	ok "$name: simulated" simulate "$name" "$rtl/core.v" "$@" || { diag "$(head -n 3 "$name.err")"; return; }
	awk '$1 == "R" { sub("^0*", "", $2); print "0x" $2 }' "$name.log" >"$name.pcs"
	like "$name: the program ends" "^S 0000000000100000 4 0*5555$" "$(tail -n 1 "$name.log")"
	python3 expect.py transfers "$name.log" >"$name.transfers"
	port "$name" unified
	port "$name" split
}
run plain
is "$(python3 expect.py types plain.log)" "1 3 4 5 8 9 10 11 12 13 14 15" "the program has transfers of every type but interrupts"
is "$("$ntrace" ingress dump --json plain.unified | grep -o '"dtype":[0-9]*' | sort -u | cut -d: -f2 | sort -n | tr '\n' ' ')" \
	"0 1 4 5 6 8 9 10 11 12 13 14 15 " "and accesses of every type"
run interrupted +stall +irq=97
like "interrupts are among its transfers" "^1 2 3 " "$(python3 expect.py types interrupted.log)"
like "and cycles that retire nothing" "idle=" "$(cat interrupted.unified)"

# QEMU executes the same instructions. Its log goes on until it has ended.
"$("$top/tools/vsoc/qemu/build" --path)" -M virt -bios program -display none -serial none -monitor none \
	-accel tcg,one-insn-per-tb=on -d exec,nochain -D qemu.log
awk '$1 == "R" || $1 == "T" { print $2 }' plain.log >plain.executed
sed -n 's/^Trace 0: .*\/\(0000000080[0-9a-f]*\)\/.*/\1/p' qemu.log | head -n "$(wc -l <plain.executed)" >qemu.executed
ok "QEMU executes what the core executes: $(wc -l <plain.executed) instructions and traps" cmp plain.executed qemu.executed

# A recording that does not come from a waveform: QEMU's log up to the first trap. The testbench is the oracle again.
awk '$1 == "T" { exit } $1 == "R"' plain.log >log.log
awk '{ sub("^0*", "", $2); print "0x" $2 }' log.log >log.pcs
grep '^Trace 0: .*/0000000080' qemu.log | head -n "$(wc -l <log.log)" >log.exec
for mode in htm btm; do
	ok "QEMU's log: recorded, $mode" "$ntrace" encode --exec-log log.exec --elf program --mode $mode -o log.trace --record-ingress log.ingress
	ok "QEMU's log: encoded from the recording, $mode" "$ntrace" ingress encode log.ingress --mode $mode -o trace
	ok "QEMU's log: $mode: the same trace" cmp trace log.trace
	"$ntrace" decode --level pc --elf program trace >pcs
	ok "QEMU's log: $mode: the trace has the instructions of the testbench" cmp pcs log.pcs
done
python3 expect.py transfers log.log >log.transfers
"$ntrace" ctr model --control 0x1000000007 --depth 256 log.ingress >ring
is "$("$ntrace" ctr compare --has type log.transfers ring)" "256 entries, no difference" "QEMU's log: CTR has the transfers of the testbench"
ok "QEMU's log: converted to a tandem trace" "$ntrace" tandem convert --from ingress --elf program -o tandem log.ingress
is "$("$ntrace" tandem dump tandem | python3 expect.py tandem log.log)" "0 0 []" \
	"QEMU's log: the tandem trace has the instructions of the testbench"

# One mistake in the port of each copy, which must be found in its line.
relay mistakes python3 -B "$top/selftests/tools/ingress_mistakes.py" "$ntrace" program plain.unified "${SEED:-1}"

# A filter shows the same accesses as a search.
is "$("$ntrace" ingress dump --dtype store --bytes 1,2 --json plain.unified | grep -c '"dtype":1,')" \
	"$(grep -cE '^S [0-9a-f]+ [12] ' plain.log)" "filter: stores of one and two bytes"
stack=$(riscv64-linux-gnu-nm program | awk '$3 == "stack" { print substr($1, 9) }')
is "$("$ntrace" ingress dump --daddr "0x$stack-0x$(printf %x $((0x$stack + 4095)))" --dtype load plain.unified | grep -vc '^#')" \
	"$(awk -v first="00000000$stack" -v last="00000000$(printf %x $((0x$stack + 4095)))" \
		'$1 == "L" && $2 "" >= first "" && $2 "" <= last ""' plain.log | wc -l)" "filter: loads from the stack"
is "$("$ntrace" ingress dump --iaddr 0x80000040-0x80000077 --dtype csr plain.unified | grep -vc '^#')" \
	"$((5 * $(grep -c ^T plain.log)))" "filter: CSR accesses of the handler"

# Mistakes that a core may have: a replacement in core.v, and the rule that finds it.
while IFS='|' read -r text port rule edit; do
	sed "$edit" "$rtl/core.v" >broken.v
	if cmp -s broken.v "$rtl/core.v"; then
		not_ok "$text: not planted"
		continue
	fi
	simulate broken broken.v +stall
	"$ntrace" ingress import --map "$port.map" -o broken.ingress broken.vcd 2>broken.err
	"$ntrace" ingress check --json broken.ingress >found
	rc=$?
	is "$rc $(grep -o '"rule":"[^"]*"' found | sort -u | cut -d'"' -f4 | tr '\n' ' ')" "1 $rule " "core: $text" ||
		diag "$(cat broken.err)" "$(head -n 2 found)"
done <<'END'
branches that are reported as not taken|unified|not-contiguous|s/kind = taken ? 5 : 4/kind = 4/
returns without an itype|unified|exception-address not-contiguous|s/kind = 13;/kind = 0;/
a trap at the next instruction|unified|exception-address|s/iaddr = retires .. traps ? pc/iaddr = traps ? pc + 4 : retires ? pc/
stalled instructions that are reported twice|unified|exception-address not-contiguous|s/iretire = retires ?/iretire = retires || stall ?/; s/iaddr = retires .. traps/iaddr = retires || traps || stall/; s/itype = traps/itype = stall ? 4'd0 : traps/
an itype of 3 bits|unified|itype-reserved|s/retires ? kind : /retires ? kind == 10 ? 4'd6 : kind : /
supervisor mode without a trap return|split|ecall-priv priv-change|s/priv = 3;/priv = pc[31:0] >= 32'h80000200 ? 1 : 3;/
the cause of a call from user mode|unified|ecall-priv|s/cause = 11;/cause = 8;/
loads that share an id|split|lid-unknown lrid-reused|s/lrid <= lrid + 1/lrid <= 0/
responses without a request|split|lid-unknown|s/wait0 <= {has_response, lrid/wait0 <= {has_response || (retires \&\& csr_op), lrid/
a dtype that does not exist|unified|dtype-reserved|s/? 4'd15 : 4'd1/? 4'd7 : 4'd1/
an access of a branch|unified|access-transfer atomic-size|s/dretire = retires \&\& (loads/dretire = retires \&\& (loads || kind == 5/
accesses in cycles without instructions|unified|dblock-unused|s/dretire = retires \&\& (loads/dretire = (retires || (traps \&\& cause == 5)) \&\& (loads/
CSR accesses of 4 bytes|unified|csr-size|s/^\t\t\t\tsize = 3;/\t\t\t\tsize = 2;/
CSR numbers with the bits above|unified|csr-number|s/{52'd0, insn\[31:20\]}/{48'd0, insn[31:16]}/
END

# Signals that are not known, with their time and name.
sed "s/itype = traps/itype = traps ? 4'bxx01 : traps/" "$rtl/core.v" >unknown.v
simulate unknown unknown.v
is "$("$ntrace" ingress import --map unified.map -o unknown.ingress unknown.vcd 2>&1 >/dev/null; echo $?)" \
	"ntrace: error: unknown.vcd: time $(awk '$1 == "T" { print $4; exit }' unknown.log): itype.0, which is testbench.core.itype[3:0], is not known: xx01
1" "x is an error, with its time and signal"
ok "no file is left" test ! -e unknown.ingress
done_testing
