/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Executable mappings of a process that runs, and their files; internal to the library. */
#ifndef NTRACE_PERF_TASKS_H
#define NTRACE_PERF_TASKS_H

#include <ntrace/perf.h>

/*
 * Calls @callback for each executable mapping in @proc/PID/maps, as MMAP2 with the build-id of the very file
 * that is mapped, else its inode. Return: 0, or the first result of @callback that is not 0.
 */
int task_mappings(const char *proc, int32_t pid,
		  int (*callback)(void *data, const struct ntrace_sideband *mapping), void *data);

/* The same for process @pid, 0 = all; also NTRACE_ERR_IO: there is no @proc. */
int tasks_mappings(const char *proc, int32_t pid,
		   int (*callback)(void *data, const struct ntrace_sideband *mapping), void *data);

/*
 * Opens the very file of a mapping, even if it was removed, or is in another mount namespace. Return: a
 * descriptor; -1: the process has ended, has no such mapping, or permission is missing
 */
int task_open_mapped(const char *proc, const struct ntrace_sideband *mapping);

#endif
