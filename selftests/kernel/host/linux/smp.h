/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_SMP_H
#define HOST_LINUX_SMP_H

#include <errno.h>
#include <linux/percpu.h>
#include <linux/types.h>

/* Defined by the test, which has its own CPUs. */
extern bool host_online[nr_cpu_ids];

static inline int smp_call_function_single(unsigned int cpu, void (*call)(void *data), void *data,
					   int wait)
{
	unsigned int here = host_cpu;

	if (!host_online[cpu])
		return -ENXIO;
	host_cpu = cpu;
	call(data);
	host_cpu = here;
	return 0;
}

static inline void on_each_cpu(void (*call)(void *data), void *data, int wait)
{
	for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++)
		smp_call_function_single(cpu, call, data, wait);
}

#endif /* HOST_LINUX_SMP_H */
