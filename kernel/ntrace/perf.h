/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU "ntrace". */
#ifndef NTRACE_PERF_H
#define NTRACE_PERF_H

int ntrace_perf_init(void);
void ntrace_perf_exit(void);

#endif /* NTRACE_PERF_H */
