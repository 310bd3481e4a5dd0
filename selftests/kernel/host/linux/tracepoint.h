/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_TRACEPOINT_H
#define HOST_LINUX_TRACEPOINT_H

#include <linux/types.h>

/* A tracepoint without probes. */
#define TP_PROTO(...) __VA_ARGS__
#define TRACE_EVENT(name, proto, args, fields, assign, print)                                      \
	static inline void trace_##name(proto)                                                     \
	{                                                                                          \
	}

struct tracepoint {
	const char *name;
};

/* Defined by the test, which replaces the kernel. */
void for_each_kernel_tracepoint(void (*call)(struct tracepoint *tp, void *data), void *data);
int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data);
int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data);

#endif /* HOST_LINUX_TRACEPOINT_H */
