# SPDX-License-Identifier: GPL-2.0-or-later
"""A change to QEMU's SFENCE.VMA, in the form of PLACES of `apply`: with an address (rs1 is not
x0), it flushes the translations of that page only, as the privileged specification allows.

QEMU 10.0 flushes the whole TLB, and with it the table that finds the code of a jump's target.
Linux executes SFENCE.VMA with an address after each page fault. QEMU enters a part of 4 KiB of a
larger page; the TLB is told the size of the page, so that each address in it flushes all parts.
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

void helper_tlb_flush_page(CPURISCVState *env, target_ulong address)
{
    check_tlb_flush(env, GETPC());
    tlb_flush_page(env_cpu(env), address);
}
"""

PLACES = [
    ("target/riscv/cpu.h", "    target_ulong guest_phys_fault_addr;\n",
     "{}    hwaddr leaf_size;       /* of the page that the last walk found */\n"),
    ("target/riscv/cpu_helper.c", "    *ret_prot = prot;\n\n    return TRANSLATE_SUCCESS;\n}\n\nstatic void raise_mmu",
     "    if (first_stage) {{\n"
     "        env->leaf_size = (hwaddr)TARGET_PAGE_SIZE <<\n"
     "                         MAX(ptshift, napot_bits);\n"
     "    }}\n{}"),
    ("target/riscv/cpu_helper.c",
     "    hwaddr tlb_size = TARGET_PAGE_SIZE;\n\n    env->guest_phys_fault_addr = 0;\n",
     "{}    env->leaf_size = TARGET_PAGE_SIZE;\n"),
    ("target/riscv/cpu_helper.c",
     "        tlb_set_page(cs, address & ~(tlb_size - 1), pa & ~(tlb_size - 1),\n"
     "                     prot, mmu_idx, tlb_size);\n",
     "        address &= ~(tlb_size - 1);\n"
     "        pa &= ~(tlb_size - 1);\n"
     "        tlb_set_page(cs, address, pa, prot, mmu_idx,\n"
     "                     tlb_size == TARGET_PAGE_SIZE ? env->leaf_size : tlb_size);\n"),
    ("target/riscv/helper.h", "DEF_HELPER_1(tlb_flush, void, env)\n",
     "{}DEF_HELPER_2(tlb_flush_page, void, env, tl)\n"),
    ("target/riscv/op_helper.c", FLUSH, literal(FLUSH_OR_PAGE)),
    ("target/riscv/insn_trans/trans_privileged.c.inc", "    gen_helper_tlb_flush(tcg_env);\n",
     "    if (a->rs1) {{\n"
     "        DisasExtend ext = get_xl(ctx) == MXL_RV32 ? EXT_ZERO : EXT_NONE;\n"
     "\n"
     "        gen_helper_tlb_flush_page(tcg_env, get_gpr(ctx, a->rs1, ext));\n"
     "        return true;\n"
     "    }}\n{}"),
]
