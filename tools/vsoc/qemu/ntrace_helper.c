/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trace port of a hart: what translated code and the trap entry call. */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "ntrace_helper.h"
#include "hart.h"

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

void ntrace_trap(CPURISCVState *env, bool interrupt, target_ulong cause)
{
    unsigned int mark = env->ntrace_mark;

    if (!env->ntrace_on) {
        return;
    }
    env->ntrace_mark = HART_MARK_NONE;
    if (!interrupt && cause == RISCV_EXCP_SEMIHOST) {
        /* No trap: the emulator does the work of the EBREAK and goes on behind it. */
        hart_step(env->ntrace, env->pc, privilege(env), mark);
    } else {
        hart_trap(env->ntrace, env->pc, interrupt, privilege(env), mark);
    }
}
