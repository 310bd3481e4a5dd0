/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_RISCV_NTRACE_HELPER_H
#define TARGET_RISCV_NTRACE_HELPER_H

#include "qemu/host-utils.h"
#include "cpu.h"

#ifdef CONFIG_USER_ONLY

#define ntrace_csrr riscv_csrr
#define ntrace_csrrw riscv_csrrw
#define ntrace_tb_state(env) 0

#else

/* Most instructions of a block that is traced; 0: no limit */
extern unsigned int ntrace_block_insns;

/* Where the hart is. In RV32, QEMU sometimes has the address sign-extended. */
static inline uint64_t ntrace_pc(const CPURISCVState *env)
{
    return env->xl == MXL_RV32 ? (uint32_t)env->pc : env->pc;
}

/* Called when the hart is about to take a trap; env is as before the trap. */
void ntrace_trap(CPURISCVState *env, bool interrupt, target_ulong cause);

/* The CSR scontext, which QEMU lacks. */
#define NTRACE_CSR_SCONTEXT 0x5a8

RISCVException ntrace_has_scontext(CPURISCVState *env, int csrno);
RISCVException ntrace_read_scontext(CPURISCVState *env, int csrno,
                                    target_ulong *value);
RISCVException ntrace_write_scontext(CPURISCVState *env, int csrno,
                                     target_ulong value);

/*
 * riscv_csrr() and riscv_csrrw() for CSR instructions, with the check of CTR.
 */
RISCVException ntrace_csrr(CPURISCVState *env, int csrno, target_ulong *value);
RISCVException ntrace_csrrw(CPURISCVState *env, int csrno, target_ulong *value,
                            target_ulong new_value, target_ulong mask);

/*
 * SCTRCLR: ntrace_ctr_clear_begin() is called before the instruction can trap,
 * ntrace_ctr_clear() after the last point at which it can.
 */
void ntrace_ctr_clear_begin(CPURISCVState *env);
void ntrace_ctr_clear(CPURISCVState *env);

/*
 * Bits of cs_base: what the translation of a block does besides its
 * instructions.
 */
#define NTRACE_TB_TRACED 1
#define NTRACE_TB_CTR 2

/*
 * Jumps and branches of a block are recorded only while CTR is on in its mode
 * and not frozen. Only an access to a CSR, which ends a block, turns it on.
 */
static inline bool ntrace_ctr_records(const CPURISCVState *env)
{
    uint64_t control = env->virt_enabled ? env->vsctrctl : env->mctrctl;
    uint64_t mode = env->priv == PRV_M ? MCTRCTL_M :
                    env->priv == PRV_S ? XCTRCTL_S : XCTRCTL_U;

    return control & mode && !(env->sctrstatus & SCTRSTATUS_FROZEN);
}

/* Translations of the same code for different states live side by side. */
static inline uint64_t ntrace_tb_state(const CPURISCVState *env)
{
    return (env->ntrace_on ? NTRACE_TB_TRACED : 0) |
           (ntrace_ctr_records(env) ? NTRACE_TB_CTR : 0);
}

/*
 * Fields of xctrctl that the hart implements; below, depths, as bits 1 <<
 * DEPTH.
 */
static inline uint64_t ntrace_ctr_control(const CPURISCVState *env)
{
    return env->ctr_control ? env->ctr_control : UINT64_MAX;
}

static inline uint32_t ntrace_ctr_depths(const CPURISCVState *env)
{
    return env->ctr_depths ? env->ctr_depths : 0x1f;
}

/*
 * Cycles and mispredictions of records, with the property ctr-details; else
 * nothing. A cycle is an instruction with -icount, and a nanosecond of the
 * virtual clock without it. CTR counts those in the modes that it records,
 * while it is not frozen.
 *
 * The predictor is simple enough to be checked from the records alone. A
 * taken branch is mispredicted if it leads forward, an indirect transfer if its
 * target differs from that of the last indirect transfer recorded. All others
 * are predicted.
 */
uint64_t ntrace_ctr_misp(CPURISCVState *env, target_ulong from,
                         target_ulong to, unsigned int type);
/* The fields CC and CCV of a new record; none for return-stack emulation */
uint64_t ntrace_ctr_cycles(CPURISCVState *env, bool rasemu);
/* SCTRCLR, or a write of xctrctl */
void ntrace_ctr_cycles_clear(CPURISCVState *env);
/* Call this before FROZEN changes to @frozen. */
void ntrace_ctr_freeze(CPURISCVState *env, bool frozen);

/*
 * WARL: the largest supported depth up to the one written, or else the
 * smallest.
 */
static inline uint32_t ntrace_ctr_legal_depth(const CPURISCVState *env,
                                              uint32_t depth)
{
    uint32_t depths = ntrace_ctr_depths(env);
    uint32_t below = depths & ((2u << depth) - 1);

    return below ? 31 - clz32(below) : ctz32(depths);
}

#endif

#endif
