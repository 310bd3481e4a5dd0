/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_PERCPU_H
#define HOST_LINUX_PERCPU_H

#include <linux/cpumask.h>
#include <stdlib.h>

/* The CPU that the test currently simulates. */
extern unsigned int host_cpu;

/* One instance: for tests with one CPU. */
#define DEFINE_PER_CPU(type, name) type name

#define smp_processor_id() host_cpu
#define alloc_percpu(type) ((type *)calloc(nr_cpu_ids, sizeof(type)))
#define free_percpu(memory) free(memory)
#define per_cpu_ptr(memory, cpu) (&(memory)[cpu])
#define this_cpu_ptr(memory) per_cpu_ptr(memory, host_cpu)

#endif /* HOST_LINUX_PERCPU_H */
