/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_CPUMASK_H
#define HOST_LINUX_CPUMASK_H

#include <stdbool.h>

#define nr_cpu_ids 4

typedef unsigned long cpumask_t;

static inline bool cpumask_test_cpu(unsigned int cpu, const cpumask_t *mask)
{
	return *mask >> cpu & 1;
}

static inline bool cpumask_test_and_set_cpu(unsigned int cpu, cpumask_t *mask)
{
	bool set = *mask >> cpu & 1;

	*mask |= 1UL << cpu;
	return set;
}

static inline void cpumask_set_cpu(unsigned int cpu, cpumask_t *mask)
{
	*mask |= 1UL << cpu;
}

static inline bool cpumask_empty(const cpumask_t *mask)
{
	return !*mask;
}

#define for_each_possible_cpu(cpu) for (cpu = 0; cpu < nr_cpu_ids; cpu++)
#define for_each_cpu(cpu, mask)		\
	for_each_possible_cpu(cpu)	\
		if (cpumask_test_cpu(cpu, mask))

#endif /* HOST_LINUX_CPUMASK_H */
