/* SPDX-License-Identifier: GPL-2.0-only */
/* The encoders of traced harts learn the id of the running task. */
#ifndef NTRACE_CONTEXT_H
#define NTRACE_CONTEXT_H

#include <linux/io.h>
#include <linux/types.h>

void ntrace_context_init(void);
void ntrace_context_exit(void);
int ntrace_context_get(void);
void ntrace_context_put(void);
int ntrace_context_start(unsigned int cpu, bool stored);
void ntrace_context_stop(unsigned int cpu);
void ntrace_context_store_to(unsigned int cpu, void __iomem *stimulus);

#endif /* NTRACE_CONTEXT_H */
