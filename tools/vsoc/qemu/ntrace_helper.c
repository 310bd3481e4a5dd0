/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace port of a hart: functions that translated code and the trap entry call.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "pmu.h"
#include "ntrace_helper.h"
#include "hart.h"

unsigned int ntrace_block_insns;

void HELPER(ntrace_block)(CPURISCVState *env, uint32_t block)
{
    unsigned int mark = env->ntrace_mark;

    env->ntrace_mark = HART_MARK_NONE;
    hart_enter(env->ntrace, ntrace_pc(env), block, mark);
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
        hart_step(env->ntrace, ntrace_pc(env), privilege(env), mark);
    } else {
        hart_trap(env->ntrace, ntrace_pc(env), interrupt,
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

/* The draft of CTR, which QEMU lacks: its registers are those of the model. */
static RISCVException csr_of_model(CPURISCVState *env,
                                   struct ctr_access *access,
                                   target_ulong *value, bool write)
{
    if (!ctr_check_execute(ctr_check(env), access)) {
        return csr(env, access->csr, value, access->new_value, access->mask,
                   write);
    }
    if (value) {
        *value = access->value;
    }
    return access->result == NTRACE_CTR_ILLEGAL ? RISCV_EXCP_ILLEGAL_INST :
           access->result == NTRACE_CTR_VIRTUAL ?
           RISCV_EXCP_VIRT_INSTRUCTION_FAULT : RISCV_EXCP_NONE;
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

    if (!ctr_check(env)->ops->observe) {
        return csr_of_model(env, &access, value, write);
    }
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

uint64_t ntrace_ctr_misp(CPURISCVState *env, target_ulong from,
                         target_ulong to, unsigned int type)
{
    bool misp;

    switch (env->ctr_details ? type : CTRDATA_TYPE_NONE) {
    case CTRDATA_TYPE_TAKEN_BRANCH:
        return to > from ? CTRTARGET_MISP : 0;
    case CTRDATA_TYPE_INDIRECT_CALL:
    case CTRDATA_TYPE_INDIRECT_JUMP:
    case CTRDATA_TYPE_OTHER_INDIRECT_JUMP:
    case CTRDATA_TYPE_CO_ROUTINE_SWAP:
        misp = to != env->ctr_indirect;
        env->ctr_indirect = to;
        return misp ? CTRTARGET_MISP : 0;
    default:
        return 0;
    }
}

/* Cycles so far in the modes that are recorded, frozen or not */
static uint64_t active_cycles(CPURISCVState *env)
{
    CPUState *cs = env_cpu(env);
    const PMUFixedCtrState *cycles = &env->pmu_fixed_ctrs[0];
    bool can_do_io = cs->neg.can_do_io;
    uint64_t sum = 0;

    /*
     * A jump ends its block, and the instructions of a block are counted when
     * it begins: the count is exact although the block may not do I/O.
     */
    cs->neg.can_do_io = true;
    riscv_pmu_update_fixed_ctrs(env, env->priv, env->virt_enabled);
    cs->neg.can_do_io = can_do_io;
    sum += env->mctrctl & MCTRCTL_M ? cycles->counter[PRV_M] : 0;
    sum += env->mctrctl & XCTRCTL_S ? cycles->counter[PRV_S] : 0;
    sum += env->mctrctl & XCTRCTL_U ? cycles->counter[PRV_U] : 0;
    sum += env->vsctrctl & XCTRCTL_S ? cycles->counter_virt[PRV_S] : 0;
    sum += env->vsctrctl & XCTRCTL_U ? cycles->counter_virt[PRV_U] : 0;
    return sum;
}

uint64_t ntrace_ctr_cycles(CPURISCVState *env, bool rasemu)
{
    uint64_t now, cc;
    bool counted = env->ctr_counted;

    if (!env->ctr_details || rasemu) {
        return 0;
    }
    now = active_cycles(env);
    cc = ntrace_ctr_cycles_encode(now - env->ctr_since, 4);
    env->ctr_since = now;
    env->ctr_counted = true;
    return counted ? cc << 16 | CTRDATA_CCV : 0;
}

void ntrace_ctr_cycles_clear(CPURISCVState *env)
{
    if (env->ctr_details) {
        env->ctr_counted = false;
        env->ctr_since = env->sctrstatus & SCTRSTATUS_FROZEN ? 0 :
                         active_cycles(env);
    }
}

/* While the ring is frozen, ctr_since is what has been counted. */
void ntrace_ctr_freeze(CPURISCVState *env, bool frozen)
{
    if (env->ctr_details && frozen != !!(env->sctrstatus & SCTRSTATUS_FROZEN)) {
        env->ctr_since = active_cycles(env) - env->ctr_since;
    }
}
