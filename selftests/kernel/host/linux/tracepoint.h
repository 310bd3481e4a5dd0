/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_TRACEPOINT_H
#define HOST_LINUX_TRACEPOINT_H

#include <linux/types.h>

struct tracepoint {
	const char *name;
};

/* Defined by the test, which replaces the kernel. */
void for_each_kernel_tracepoint(void (*call)(struct tracepoint *tp, void *data), void *data);
int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data);
int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data);

#endif /* HOST_LINUX_TRACEPOINT_H */
