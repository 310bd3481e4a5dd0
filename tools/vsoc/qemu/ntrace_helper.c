/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace port of a hart: functions that translated code and the trap entry call.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "ntrace_helper.h"
#include "hart.h"

unsigned int ntrace_block_insns;

void HELPER(ntrace_block)(CPURISCVState *env, uint32_t block)
{
    unsigned int mark = env->ntrace_mark;

    env->ntrace_mark = HART_MARK_NONE;
    hart_enter(env->ntrace, env->pc, block, mark);
}

static unsigned int privilege(const CPURISCVState *env)
{
    if (env->virt_enabled) {
        return env->priv == PRV_U ? NTRACE_PRIV_VU : NTRACE_PRIV_VS;
    }
    return env->priv;
}

/* At this point QEMU does not distinguish the ECALLs of the modes yet. */
static target_ulong real_cause(const CPURISCVState *env, target_ulong cause)
{
    if (cause != RISCV_EXCP_U_ECALL || env->priv == PRV_U) {
        return cause;
    }
    if (env->priv == PRV_M) {
        return RISCV_EXCP_M_ECALL;
    }
    return env->virt_enabled ? RISCV_EXCP_VS_ECALL : RISCV_EXCP_S_ECALL;
}

void ntrace_trap(CPURISCVState *env, bool interrupt, target_ulong cause)
{
    unsigned int mark = env->ntrace_mark;

    if (!env->ntrace_on) {
        return;
    }
    env->ntrace_mark = HART_MARK_NONE;
    if (!interrupt && cause == RISCV_EXCP_SEMIHOST) {
        /*
         * No trap: the emulator executes the EBREAK itself and continues after
         * it.
         */
        hart_step(env->ntrace, env->pc, privilege(env), mark);
    } else {
        hart_trap(env->ntrace, env->pc, interrupt,
                  interrupt ? cause : real_cause(env, cause), privilege(env),
                  mark);
    }
}

RISCVException ntrace_has_scontext(CPURISCVState *env, int csrno)
{
    if (!env->ntrace || env->ntrace->te->parameters.v0 ||
        !env->ntrace->te->parameters.context_bits) {
        return RISCV_EXCP_ILLEGAL_INST;
    }
    if (env->ntrace->te->parameters.context_closed && env->priv < PRV_M) {
        return RISCV_EXCP_ILLEGAL_INST;
    }
    return smstateen_acc_ok(env, 0, SMSTATEEN0_HSCONTXT);
}

RISCVException ntrace_read_scontext(CPURISCVState *env, int csrno,
                                    target_ulong *value)
{
    *value = env->ntrace->te->context;
    return RISCV_EXCP_NONE;
}

/* The write ends a block that the hart has entered and not yet retired. */
RISCVException ntrace_write_scontext(CPURISCVState *env, int csrno,
                                     target_ulong value)
{
    trace_encoder_context(env->ntrace->te, value);
    return RISCV_EXCP_NONE;
}

static struct ctr_check *ctr_check(CPURISCVState *env)
{
    return env->ntrace ? env->ntrace->ctr : NULL;
}

static RISCVException csr(CPURISCVState *env, int csrno, target_ulong *value,
                          target_ulong new_value, target_ulong mask,
                          bool write)
{
    return write ? riscv_csrrw(env, csrno, value, new_value, mask) :
                   riscv_csrr(env, csrno, value);
}

static RISCVException csr_checked(CPURISCVState *env, int csrno,
                                  target_ulong *value, target_ulong new_value,
                                  target_ulong mask, bool write)
{
    struct ctr_access access = {
        .csr = csrno,
        .priv = privilege(env),
        .has_value = value,
        .new_value = new_value,
        .mask = mask,
    };
    RISCVException result;

    ctr_check_before(ctr_check(env), csrno);
    result = csr(env, csrno, value, new_value, mask, write);
    if (result == RISCV_EXCP_VIRT_INSTRUCTION_FAULT) {
        access.result = NTRACE_CTR_VIRTUAL;
    } else if (result != RISCV_EXCP_NONE) {
        access.result = NTRACE_CTR_ILLEGAL;
    }
    if (value) {
        access.value = *value;
    }
    ctr_check_access(ctr_check(env), &access);
    return result;
}

RISCVException ntrace_csrr(CPURISCVState *env, int csrno, target_ulong *value)
{
    return (ctr_check(env) ? csr_checked : csr)(env, csrno, value, 0, 0, false);
}

RISCVException ntrace_csrrw(CPURISCVState *env, int csrno, target_ulong *value,
                            target_ulong new_value, target_ulong mask)
{
    return (ctr_check(env) ? csr_checked : csr)(env, csrno, value, new_value,
                                                mask, true);
}

void ntrace_ctr_clear_begin(CPURISCVState *env)
{
    if (ctr_check(env)) {
        ctr_check_before(ctr_check(env), 0);
    }
}

void ntrace_ctr_clear(CPURISCVState *env)
{
    if (ctr_check(env)) {
        ctr_check_clear(ctr_check(env), privilege(env));
    }
}
