/* SPDX-License-Identifier: GPL-2.0-only */
/* Sideband: records of the kernel about mappings, tasks and switches, in a perf.data file. */
#ifndef NTRACE_TOOL_RECORD_SIDEBAND_H
#define NTRACE_TOOL_RECORD_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

struct sideband;
struct tid_list;
struct values;

/**
 * sideband_open - create the perf.data file @path
 * @values: registers of user space are recorded, too: see values.h
 */
int sideband_open(struct sideband **sideband, const char *path, bool values);

/** sideband_values - the tracepoints to record; NULL: none */
const struct values *sideband_values(const struct sideband *sideband);

/** sideband_attr - attributes of a dummy event that delivers sideband records */
void sideband_attr(struct perf_event_attr *attr);

/** sideband_cpus - open and enable one event for each online CPU */
int sideband_cpus(struct sideband *sideband);

/**
 * sideband_enable_values - record values from now on, or no more
 *
 * They begin and end with the trace: before and after it, the recorder itself makes thousands of system calls to
 * copy the kernel. Return: exit status.
 */
int sideband_enable_values(struct sideband *sideband, bool on);

/**
 * sideband_contents - record memory that system calls write, too, if values are recorded and the kernel permits it
 * @tids: threads to record, with all that they start; NULL: the whole system, from sideband_enable_values() on
 *
 * To be called after the events of values are open. Says if it is not permitted. Return: exit status.
 */
int sideband_contents(struct sideband *sideband, const struct tid_list *tids);

/** sideband_event - declare an event whose records will appear in a ring */
int sideband_event(struct sideband *sideband, const struct perf_event_attr *attr,
		   const uint64_t *ids, size_t count, const char *name);

/**
 * sideband_ring - map the ring buffer of an event; its records go to the file
 * @fd: event; the caller keeps it open until sideband_close()
 * @cpu: of the event, -1: that of a thread
 * @size: bytes, a power of two
 *
 * Return: the control page, or NULL and errno.
 */
struct perf_event_mmap_page *sideband_ring(struct sideband *sideband, int fd, int cpu, size_t size);

/** sideband_look - call @look for each record before it is written to the file */
void sideband_look(struct sideband *sideband,
		   void (*look)(void *data, const struct perf_event_header *record), void *data);

/**
 * sideband_divert - pass the records of the rings to @take from now on, instead of writing them
 * @take: gets whole records, which are valid during the call. Return: 0 or enum ntrace_error
 *
 * The file has everything that was written so far. Return: exit status.
 */
int sideband_divert(struct sideband *sideband,
		    int (*take)(void *data, const void *bytes, size_t count), void *data);

/**
 * sideband_kernel - write records for the kernel's text, its modules and its BPF programs
 * @kallsyms: symbols of the kernel; the copy in a recording is much faster to read than
 *            /proc/kallsyms
 */
int sideband_kernel(struct sideband *sideband, const char *kallsyms);

/** sideband_keep - copy code that cannot be found later into the recording @directory */
int sideband_keep(struct sideband *sideband, const char *directory);

/** sideband_tasks - write records for existing tasks; @pid: one process only, 0 = all */
int sideband_tasks(struct sideband *sideband, pid_t pid);

/** sideband_fds - file descriptors to poll. Return: their number */
unsigned int sideband_fds(const struct sideband *sideband, const int **fds);

/** sideband_drain - write the records that the kernel has made so far */
int sideband_drain(struct sideband *sideband);

/** sideband_save - drain, and leave nothing in memory that would be lost with the process */
int sideband_save(struct sideband *sideband);

/**
 * sideband_close - drain, write the header, free
 * @sideband: may be NULL
 * @argv: the recorded command
 * @lost: set to the number of records that the kernel could not deliver
 */
int sideband_close(struct sideband *sideband, int argc, char **argv, uint64_t *lost);

#endif /* NTRACE_TOOL_RECORD_SIDEBAND_H */
