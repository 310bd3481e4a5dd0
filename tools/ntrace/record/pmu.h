/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of the PMU "ntrace" in sysfs. */
#ifndef NTRACE_TOOL_RECORD_PMU_H
#define NTRACE_TOOL_RECORD_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMU "/sys/bus/event_source/devices/ntrace/"

/** pmu_read_text - read the first line of a small file; false if there is none */
bool pmu_read_text(const char *path, char *text, size_t size);

/** pmu_number - read a number from a file below PMU; @missing if there is no such file */
uint64_t pmu_number(const char *name, uint64_t missing);

/** pmu_paranoia - kernel.perf_event_paranoid */
int pmu_paranoia(void);

#endif /* NTRACE_TOOL_RECORD_PMU_H */
