/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of CPUs, by Linux CPU number. */
#ifndef NTRACE_TOOL_RECORD_CPUS_H
#define NTRACE_TOOL_RECORD_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#define CPUS_MAX 4096

struct cpu_mask {
	uint64_t bits[CPUS_MAX / 64];
};

static inline bool cpu_mask_has(const struct cpu_mask *mask, unsigned int cpu)
{
	return cpu < CPUS_MAX && mask->bits[cpu / 64] >> cpu % 64 & 1;
}

/** cpu_mask_online - CPUs that are online. Return: false if /sys does not list them */
bool cpu_mask_online(struct cpu_mask *online);

/**
 * cpu_mask_parse - parse a list like "0,2-3", with optional white space around it
 *
 * Return: false if @text is not a list of CPU numbers.
 */
bool cpu_mask_parse(struct cpu_mask *mask, const char *text);

#endif /* NTRACE_TOOL_RECORD_CPUS_H */
