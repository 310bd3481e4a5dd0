/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that system calls write, for `ntrace record --values`: a BPF program at raw_syscalls:sys_exit copies it to the
 * rings of the sideband. Nothing of it stays in the kernel when the recorder ends, however it ends.
 */
#ifndef NTRACE_TOOL_RECORD_CONTENTS_H
#define NTRACE_TOOL_RECORD_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tids.h"

struct contents;
struct perf_event_attr;

/* The event's name in perf's syntax */
#define CONTENTS_NAME "bpf-output"

/**
 * contents_open - begin to record; after the events of values.h, so that a call's registers come before its contents
 * @tracefs: where it is mounted
 * @rings: an event with a ring for each CPU
 * @cpus: their CPUs
 * @count: number of both
 * @tids: the threads to record, with all that they start from now on; NULL: all of the system but the recorder's, when
 *        contents_enable() was called
 *
 * Return: to be closed with contents_close(); NULL and errno: the kernel does not permit it.
 */
struct contents *contents_open(const char *tracefs, const int *rings, const int *cpus, size_t count,
			       const struct tid_list *tids);
void contents_close(struct contents *contents);

/** contents_enable - record from now on, or no more. Return: 0 or errno */
int contents_enable(const struct contents *contents, bool on);

/** contents_event - what the file has to know of the events. Return: the ids, one of each CPU */
const uint64_t *contents_event(const struct contents *contents, struct perf_event_attr *attr);

#endif /* NTRACE_TOOL_RECORD_CONTENTS_H */
