/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace memory in pieces, for a sink that reads a table of pages. */
#ifndef NTRACE_SCATTER_H
#define NTRACE_SCATTER_H

#include <linux/types.h>

struct device;
struct ntrace_scatter;

struct ntrace_scatter *ntrace_scatter_alloc(struct device *dev, size_t size);
void ntrace_scatter_free(struct ntrace_scatter *scatter);
void *ntrace_scatter_memory(const struct ntrace_scatter *scatter);
dma_addr_t ntrace_scatter_table(const struct ntrace_scatter *scatter);
bool ntrace_scatter_find(const struct ntrace_scatter *scatter, u64 address, u32 *position);

#endif /* NTRACE_SCATTER_H */
