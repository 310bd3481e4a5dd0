/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TARGET_RISCV_NTRACE_HELPER_H
#define TARGET_RISCV_NTRACE_HELPER_H

/* The hart is about to take a trap; env is as before it. */
void ntrace_trap(CPURISCVState *env, bool interrupt, target_ulong cause);

#endif
