# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes to QEMU's Control Transfer Records, in the form of PLACES of `apply`."""

# Hooks: a hart can implement fewer features than QEMU does, and accesses to CTR are checked.
HOOKS = [
    ("target/riscv/cpu.h", "    uint64_t vsctrctl;\n",
     "{}    uint64_t ctr_control;   /* fields of xctrctl, 0: all */\n"
     "    uint8_t ctr_depths;     /* 1 << DEPTH, 0: all */\n"
     "    bool ctr_details;       /* records have cycles and mispredictions */\n"
     "    bool ctr_counted;       /* not cleared since the last record: CCV */\n"
     "    uint64_t ctr_since;     /* active cycles at the last record */\n"
     "    uint64_t ctr_indirect;  /* target of the last indirect transfer */\n"),
    ("target/riscv/csr.c", '#include "cpu.h"\n', '{}#include "ntrace_helper.h"\n'),
    ("target/riscv/csr.c", "    mask &= csr_mask;\n\n    if (ret_val) {\n        *ret_val = *ctl_ptr",
     "    csr_mask &= ntrace_ctr_control(env);\n{}"),
    ("target/riscv/csr.c", "        /* Update sctrstatus.WRPTR with a legal value */\n        depth = 16ULL << depth;\n",
     "        depth = ntrace_ctr_legal_depth(env, depth);\n"
     "        env->sctrdepth = set_field(env->sctrdepth, SCTRDEPTH_MASK, depth);\n\n{}"),
    ("target/riscv/op_helper.c", '#include "cpu.h"\n', '{}#include "ntrace_helper.h"\n'),
    ("target/riscv/op_helper.c", "= riscv_csrr(env, csr, &val);\n", "= ntrace_csrr(env, csr, &val);\n"),
    ("target/riscv/op_helper.c", "= riscv_csrrw(env, csr, NULL, src, mask);\n",
     "= ntrace_csrrw(env, csr, NULL, src, mask);\n"),
    ("target/riscv/op_helper.c", "= riscv_csrrw(env, csr, &val, src, write_mask);\n",
     "= ntrace_csrrw(env, csr, &val, src, write_mask);\n"),
    ("target/riscv/op_helper.c", "void helper_ctr_clear(CPURISCVState *env)\n{\n",
     "void helper_ctr_clear(CPURISCVState *env)\n{{\n    ntrace_ctr_clear_begin(env);\n"),
    ("target/riscv/op_helper.c", "    riscv_ctr_clear(env);\n", "    ntrace_ctr_clear(env);\n{}"),
]

# Cycle counts and mispredictions, which QEMU does not record (the property ctr-details).
DATA = [
    ("target/riscv/cpu_helper.c", "    env->ctr_dst[head] = dst & ~CTRTARGET_MISP;\n",
     "    env->ctr_dst[head] = (dst & ~CTRTARGET_MISP) |\n"
     "                         ntrace_ctr_misp(env, src, dst, type);\n"),
    ("target/riscv/cpu_helper.c", "    env->ctr_data[head] = set_field(0, CTRDATA_TYPE_MASK, type);\n",
     "    env->ctr_data[head] = set_field(0, CTRDATA_TYPE_MASK, type) |\n"
     "                          ntrace_ctr_cycles(env, ctrl & XCTRCTL_RASEMU);\n"),
    # The counter stands while the ring is frozen.
    ("target/riscv/cpu_helper.c", "    if (ctl & freeze_mask) {\n        env->sctrstatus |= SCTRSTATUS_FROZEN;\n",
     "    if (ctl & freeze_mask) {{\n        ntrace_ctr_freeze(env, true);\n        env->sctrstatus |= SCTRSTATUS_FROZEN;\n"),
    ("target/riscv/csr.c", "    env->sctrstatus = (env->sctrstatus & ~mask) | (new_val & mask);\n",
     "    ntrace_ctr_freeze(env, ((env->sctrstatus & ~mask) | (new_val & mask)) &\n"
     "                           SCTRSTATUS_FROZEN);\n{}"),
    ("target/riscv/csr.c", "    *ctl_ptr = (*ctl_ptr & ~mask) | (new_val & mask);\n\n",
     "    *ctl_ptr = (*ctl_ptr & ~mask) | (new_val & mask);\n"
     "    if (wr_mask) {{\n        ntrace_ctr_cycles_clear(env);\n    }}\n\n"),
    ("target/riscv/op_helper.c", "    riscv_ctr_clear(env);\n", "{}    ntrace_ctr_cycles_clear(env);\n"),
]

# Fixes for QEMU 10.0 where it differs from the specification (Documentation/trace/riscv-ctr.rst).
FIXES = [
    # Only an external trap from VU needs vsctrctl.STE; one from VS does not.
    ("target/riscv/cpu_helper.c",
     "    target_long tgt_prv = env->priv;\n    bool res = true;\n",
     "    bool from_vu = src_virt && src_prv == PRV_U;\n{}"),
    ("target/riscv/cpu_helper.c",
     "    /* VU mode is an outlier here. */\n    if (src_virt && src_prv == PRV_U) {\n",
     "    /* VU mode is an outlier here. */\n    if (from_vu) {{\n"),
    # If V changes, in either direction, vsctrctl controls filters and RASEMU.
    ("target/riscv/cpu_helper.c",
     "    uint64_t tgt_ctrl = riscv_ctr_get_control(env, env->priv, tgt_virt);\n",
     "{}    uint64_t ctrl = src_virt ? env->vsctrctl : tgt_ctrl;\n"),
] + [
    ("target/riscv/cpu_helper.c", text, text.replace("tgt_ctrl", "ctrl").replace("{", "{{"))
    for text in [
        "    if (tgt_ctrl & XCTRCTL_RASEMU &&\n        type != CTRDATA_TYPE_INDIRECT_CALL",
        "    if (!(tgt_ctrl & XCTRCTL_RASEMU) && !ext_trap) {",
        "        bool check = tgt_ctrl & BIT_ULL(",
        "    if (tgt_ctrl & XCTRCTL_RASEMU && type == CTRDATA_TYPE_RETURN) {",
        "    if (tgt_ctrl & XCTRCTL_RASEMU && type == CTRDATA_TYPE_CO_ROUTINE_SWAP) {",
    ]
] + [
    # Without the property ctr-details, cycle counts and mispredictions are never recorded, so those bits
    # are read-only 0.
    ("target/riscv/csr.c", "    const uint64_t mask = wr_mask & CTRDATA_MASK;\n",
     "    const uint64_t mask = wr_mask & (env->ctr_details ?\n"
     "                                     CTRDATA_MASK : CTRDATA_TYPE_MASK);\n"),
    ("target/riscv/csr.c",
     "    env->ctr_dst[idx] = (env->ctr_dst[idx] & ~wr_mask) | (new_val & wr_mask);\n",
     "    if (!env->ctr_details) {{\n        wr_mask &= ~(target_ulong)CTRTARGET_MISP;\n    }}\n{}"),
    # mstateen0.CTR and hstateen0.CTR lock the entries as well as the registers.
    ("target/riscv/csr.c",
     "        ret = rmw_xireg_ctr(env, csrno, isel, val, new_val, wr_mask);\n",
     "        ret = smstateen_acc_ok(env, 0, SMSTATEEN0_CTR);\n"
     "        if (ret != RISCV_EXCP_NONE) {{\n            return ret;\n        }}\n{}"),
    # A hart without the hypervisor extension has no vsctrctl.
    ("target/riscv/csr.c",
     "    RISCVException ret = smstateen_acc_ok(env, 0, SMSTATEEN0_CTR);\n"
     "    if (ret == RISCV_EXCP_NONE && csrno == CSR_SCTRDEPTH &&\n",
     "    if (csrno == CSR_VSCTRCTL && !riscv_has_ext(env, RVH)) {{\n"
     "        return RISCV_EXCP_ILLEGAL_INST;\n    }}\n\n{}"),
    # MNRET is a trap return too, and its record needs a source address.
    ("target/riscv/insn_trans/trans_privileged.c.inc",
     "    REQUIRE_SMRNMI(ctx);\n    decode_save_opc(ctx, 0);\n", "{}    gen_update_pc(ctx, 0);\n"),
    ("target/riscv/op_helper.c",
     "    env->mnstatus = set_field(env->mnstatus, MNSTATUS_MNPELP, 0);\n\n",
     "{}    if (riscv_cpu_cfg(env)->ext_smctr || riscv_cpu_cfg(env)->ext_ssctr) {{\n"
     "        riscv_ctr_add_entry(env, env->pc, retpc, CTRDATA_TYPE_EXCEP_INT_RET,\n"
     "                            PRV_M, false);\n    }}\n\n"),
] + [
    # Check mstateen0.CSRIND first: an access that M-mode locks is an illegal instruction in VU,
    # too.
    ("target/riscv/csr.c",
     f"static RISCVException csrind_{name}(CPURISCVState *env, int csrno)\n{{\n"
     f"    if (!csrind_{present}extensions_present(env)) {{\n"
     "        return RISCV_EXCP_ILLEGAL_INST;\n    }\n",
     "{}\n    RISCVException locked = smstateen_acc_ok(env, 0, SMSTATEEN0_SVSLCT);\n"
     "    if (locked != RISCV_EXCP_NONE) {{\n        return locked;\n    }}\n")
    for name, present in [("smode", ""), ("or_aia_smode", "or_aia_"), ("hmode", ""), ("or_aia_hmode", "or_aia_")]
]
