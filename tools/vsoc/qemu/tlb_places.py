# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes to what QEMU flushes, in the form of PLACES of `apply`. QEMU 10.0 flushes the whole TLB each
time, and with it the table that finds the code of a jump's target.

- SFENCE.VMA with an address (rs1 is not x0) flushes the translations of that page only, as the
  privileged specification allows. Linux executes it after each page fault. QEMU enters a part of
  4 KiB of a larger page; the TLB is told the size of the page, so that each address in it flushes all
  parts.
- A write of satp, and SFENCE.VMA with an ASID but no address, keep global translations: those of
  MMUIdx_S, which has no page of U, and the jumps to the upper half of the addresses. They flush all
  if, since the last such flush, that TLB, or any TLB in that half, was filled from a page table entry
  without the bit G, or in two stages.
"""

from places import literal

FLUSH = """void helper_tlb_flush(CPURISCVState *env)
{
    CPUState *cs = env_cpu(env);
    if (!env->virt_enabled &&
        (env->priv == PRV_U ||
         (env->priv == PRV_S && get_field(env->mstatus, MSTATUS_TVM)))) {
        riscv_raise_exception(env, RISCV_EXCP_ILLEGAL_INST, GETPC());
    } else if (env->virt_enabled &&
               (env->priv == PRV_U || get_field(env->hstatus, HSTATUS_VTVM))) {
        riscv_raise_exception(env, RISCV_EXCP_VIRT_INSTRUCTION_FAULT, GETPC());
    } else {
        tlb_flush(cs);
    }
}
"""

FLUSH_OR_PAGE = """static void check_tlb_flush(CPURISCVState *env, uintptr_t ra)
{
    if (!env->virt_enabled &&
        (env->priv == PRV_U ||
         (env->priv == PRV_S && get_field(env->mstatus, MSTATUS_TVM)))) {
        riscv_raise_exception(env, RISCV_EXCP_ILLEGAL_INST, ra);
    } else if (env->virt_enabled &&
               (env->priv == PRV_U || get_field(env->hstatus, HSTATUS_VTVM))) {
        riscv_raise_exception(env, RISCV_EXCP_VIRT_INSTRUCTION_FAULT, ra);
    }
}

void helper_tlb_flush(CPURISCVState *env)
{
    check_tlb_flush(env, GETPC());
    tlb_flush(env_cpu(env));
}

void helper_tlb_flush_asid(CPURISCVState *env)
{
    check_tlb_flush(env, GETPC());
    riscv_flush_address_space(env);
}

void helper_tlb_flush_page(CPURISCVState *env, target_ulong address)
{
    check_tlb_flush(env, GETPC());
    tlb_flush_page(env_cpu(env), address);
}
"""

FILL = """        tlb_set_page(cs, address & ~(tlb_size - 1), pa & ~(tlb_size - 1),
                     prot, mmu_idx, tlb_size);
"""

FILL_GLOBAL = """        address &= ~(tlb_size - 1);
        pa &= ~(tlb_size - 1);
        if ((!env->leaf_global || mmuidx_2stage(mmu_idx)) &&
            mmu_idx != MMUIdx_M && (mmu_idx == MMUIdx_S || address >> 63)) {
            env->filled_local = true;
        }
        tlb_set_page(cs, address, pa, prot, mmu_idx,
                     tlb_size == TARGET_PAGE_SIZE ? env->leaf_size : tlb_size);
"""

ADDRESS_SPACE = """/* Flushes the translations of the address space, but not the global ones. */
void riscv_flush_address_space(CPURISCVState *env)
{
    CPUState *cs = env_cpu(env);

    if (env->filled_local) {
        env->filled_local = false;
        tlb_flush(cs);
    } else {
        tlb_flush_lower_except(cs, 1 << MMUIdx_S | 1 << MMUIdx_M);
    }
}

"""

PLACES = [
    ("target/riscv/cpu.h", "    target_ulong guest_phys_fault_addr;\n",
     "{}    hwaddr leaf_size;       /* of the page that the last walk found */\n"
     "    bool leaf_global;       /* bit G of that page */\n"
     "    bool filled_local;      /* see riscv_flush_address_space() */\n"),
    ("target/riscv/cpu.h", "void riscv_cpu_swap_hypervisor_regs(CPURISCVState *env);\n",
     "{}void riscv_flush_address_space(CPURISCVState *env);\n"),
    ("target/riscv/cpu_helper.c", "    *ret_prot = prot;\n\n    return TRANSLATE_SUCCESS;\n}\n\nstatic void raise_mmu",
     "    if (first_stage) {{\n"
     "        env->leaf_size = (hwaddr)TARGET_PAGE_SIZE <<\n"
     "                         MAX(ptshift, napot_bits);\n"
     "        env->leaf_global = pte & PTE_G;\n"
     "    }}\n{}"),
    ("target/riscv/cpu_helper.c",
     "    hwaddr tlb_size = TARGET_PAGE_SIZE;\n\n    env->guest_phys_fault_addr = 0;\n",
     "{}    env->leaf_size = TARGET_PAGE_SIZE;\n    env->leaf_global = false;\n"),
    ("target/riscv/cpu_helper.c", FILL, literal(FILL_GLOBAL)),
    ("target/riscv/cpu_helper.c", "void riscv_cpu_swap_hypervisor_regs(CPURISCVState *env)\n",
     literal(ADDRESS_SPACE) + "{}"),
    ("target/riscv/csr.c",
     "         * enabled avoids leaking those invalid cached mappings.\n"
     "         */\n"
     "        tlb_flush(env_cpu(env));\n",
     "         * enabled avoids leaking those invalid cached mappings.\n"
     "         */\n"
     "        riscv_flush_address_space(env);\n"),
    ("target/riscv/helper.h", "DEF_HELPER_1(tlb_flush, void, env)\n",
     "{}DEF_HELPER_1(tlb_flush_asid, void, env)\n"
     "DEF_HELPER_2(tlb_flush_page, void, env, tl)\n"),
    ("target/riscv/op_helper.c", FLUSH, literal(FLUSH_OR_PAGE)),
    ("target/riscv/insn_trans/trans_privileged.c.inc", "    gen_helper_tlb_flush(tcg_env);\n",
     "    if (a->rs1) {{\n"
     "        DisasExtend ext = get_xl(ctx) == MXL_RV32 ? EXT_ZERO : EXT_NONE;\n"
     "\n"
     "        gen_helper_tlb_flush_page(tcg_env, get_gpr(ctx, a->rs1, ext));\n"
     "        return true;\n"
     "    }}\n"
     "    if (a->rs2) {{\n"
     "        gen_helper_tlb_flush_asid(tcg_env);\n"
     "        return true;\n"
     "    }}\n{}"),
]
