/* SPDX-License-Identifier: GPL-2.0-only */
/* scontext of traced harts: the id of the running task. */
#ifndef NTRACE_CONTEXT_H
#define NTRACE_CONTEXT_H

void ntrace_context_init(void);
void ntrace_context_exit(void);
int ntrace_context_get(void);
void ntrace_context_put(void);
int ntrace_context_start(unsigned int cpu);
void ntrace_context_stop(unsigned int cpu);

#endif /* NTRACE_CONTEXT_H */
