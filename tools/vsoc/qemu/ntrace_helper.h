/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_RISCV_NTRACE_HELPER_H
#define TARGET_RISCV_NTRACE_HELPER_H

#include "qemu/host-utils.h"
#include "cpu.h"

#ifdef CONFIG_USER_ONLY

#define ntrace_csrr riscv_csrr
#define ntrace_csrrw riscv_csrrw

#else

/* The hart is about to take a trap; env is as before it. */
void ntrace_trap(CPURISCVState *env, bool interrupt, target_ulong cause);

/* Supervisor context, which QEMU does not have. */
#define NTRACE_CSR_SCONTEXT 0x5a8

RISCVException ntrace_has_scontext(CPURISCVState *env, int csrno);
RISCVException ntrace_read_scontext(CPURISCVState *env, int csrno,
                                    target_ulong *value);
RISCVException ntrace_write_scontext(CPURISCVState *env, int csrno,
                                     target_ulong value);

/* riscv_csrr() and riscv_csrrw() for instructions */
RISCVException ntrace_csrr(CPURISCVState *env, int csrno, target_ulong *value);
RISCVException ntrace_csrrw(CPURISCVState *env, int csrno, target_ulong *value,
                            target_ulong new_value, target_ulong mask);

/* SCTRCLR: before anything is done, and when it is certain that it is done. */
void ntrace_ctr_clear_begin(CPURISCVState *env);
void ntrace_ctr_clear(CPURISCVState *env);

/* Fields of xctrctl, and depths as 1 << DEPTH, that the hart implements. */
static inline uint64_t ntrace_ctr_control(const CPURISCVState *env)
{
    return env->ctr_control ? env->ctr_control : UINT64_MAX;
}

static inline uint32_t ntrace_ctr_depths(const CPURISCVState *env)
{
    return env->ctr_depths ? env->ctr_depths : 0x1f;
}

/* WARL: the greatest one that is not above what was written, or the smallest. */
static inline uint32_t ntrace_ctr_legal_depth(const CPURISCVState *env,
                                              uint32_t depth)
{
    uint32_t depths = ntrace_ctr_depths(env);
    uint32_t below = depths & ((2u << depth) - 1);

    return below ? 31 - clz32(below) : ctz32(depths);
}

#endif

#endif
