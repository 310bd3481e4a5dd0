# SPDX-License-Identifier: GPL-2.0-only
"""Writes the log of the core (rvfi_NAME=VALUE) in the formats of other tracers: logs.py rvvi|ibex|cva6 LOG."""
import sys

FORMAT, LOG = sys.argv[1:3]
CSRS = {"mstatus": 0x300, "mie": 0x304, "mtvec": 0x305, "mscratch": 0x340, "mepc": 0x341, "mcause": 0x342, "mtval": 0x343,
        "mip": 0x344}
CAUSES = {2: "ILLEGAL_INSTR", 8: "ENV_CALL_UMODE", 11: "ENV_CALL_MMODE"}
rows = [{name[5:]: int(value, 16) for name, value in (word.split("=") for word in line.split())} for line in open(LOG)]


def rvvi(row, after):
    """What the next instruction finds in the CSRs is what this one left. An interrupt is told with the first of its handler."""
    out = [f"HART 0 ORDER {row['order']} MODE {row['mode']} {'TRAP' if row['trap'] else 'RET'}", f"{row['pc_rdata']:08x} 'text'",
           f"0x{row['insn']:08x}"]
    if row["rd_addr"]:
        out.append(f"X {row['rd_addr']} {row['rd_wdata']:08x}")
    for name, number in CSRS.items():
        of_trap = name in ("mcause", "mepc", "mtval", "mstatus")
        old, new = row[f"csr_{name}_rdata"], after[f"csr_{name}_rdata"] if after else row[f"csr_{name}_rdata"]
        interrupted = after and after["intr"] and not row["trap"] and of_trap
        if row["intr"] and row["csr_mcause_rdata"] >> 31 and of_trap:
            out.append(f"C {number:x} '{name}' {old:08x}")
        elif row[f"csr_{name}_wmask"]:
            out.append(f"C {number:x} '{name}' {row[f'csr_{name}_wdata']:08x}")
        elif not interrupted and (old != new or (row["trap"] and of_trap)):
            out.append(f"C {number:x} '{name}' {new:08x}")
    return " ".join(out)


def ibex(row):
    out = [f"{row['order'] * 10:15d}\t{row['order']:10d}\t{row['pc_rdata']:08x}\t{row['insn']:08x}\ttext x1, 5(x2)\t"]
    if row["rd_addr"]:
        out.append(f"x{row['rd_addr']}=0x{row['rd_wdata']:08x}")
    if row["rs1_addr"]:
        out.append(f"x{row['rs1_addr']}:0x{row['rs1_rdata']:08x}")
    if row["mem_rmask"] or row["mem_wmask"]:
        out.append(f"PA:0x{row['mem_addr']:08x}")
        out.append(f"store:0x{row['mem_wdata']:08x}" if row["mem_wmask"] else "load:0x00000000")
    return " ".join(out)


def cva6(row, after):
    place = f"0x{row['pc_rdata']:08x} (0x{row['insn']:08x})"
    if row["trap"]:
        return f"{CAUSES[after['csr_mcause_rdata']]} exception @ {place}"
    out = [f"core   0: {place} DASM({row['insn']:08x})\n{row['mode']} {place}"]
    if row["rd_addr"]:
        out.append(f"x{row['rd_addr']:2d} 0x{row['rd_wdata']:08x}")
        if row["mem_rmask"]:
            out.append(f"mem 0x{row['mem_addr']:08x}")
    if row["mem_wmask"]:
        out.append(f"mem 0x{row['mem_addr']:08x} 0x{row['mem_wdata']:08x}")
    return " ".join(out)


if FORMAT == "rvvi":
    print("VERSION 0 1\nVENDOR \"core\" 0 1\nPARAMS 2 ILEN 32 XLEN 32")
if FORMAT == "ibex":
    print("Time\tCycle\tPC\tInsn\tDecoded instruction\tRegister and memory contents")
for row, after in zip(rows, rows[1:] + [None]):
    print(ibex(row) if FORMAT == "ibex" else rvvi(row, after) if FORMAT == "rvvi" else cva6(row, after))
