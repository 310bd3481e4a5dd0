/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values for `ntrace record --values`: samples of tracepoints with the registers of user space, in the rings of the
 * sideband. A decoder that replays the trace starts from them.
 */
#ifndef NTRACE_TOOL_RECORD_VALUES_H
#define NTRACE_TOOL_RECORD_VALUES_H

#include <limits.h>
#include <stddef.h>

#include <linux/perf_event.h>

/** enum values_event - one sample per system call that returns, and one per program that starts */
enum values_event {
	VALUES_SYSCALL,
	VALUES_EXEC,
	VALUES_EVENTS,
};

/* Of the functions that have made a call, in the sample of VALUES_SYSCALL: what the call has written is often there. */
#define VALUES_STACK_BYTES 512u

/**
 * struct values - the tracepoints of this kernel
 * @attrs: of one CPU, disabled; events of tasks add how they are inherited
 * @formats: the tracepoints in the form of perf's HEADER_TRACING_DATA: perf reads no file without it
 * @formats_size: bytes
 * @tracefs: where it is mounted
 */
struct values {
	struct perf_event_attr attrs[VALUES_EVENTS];
	char *formats;
	size_t formats_size;
	char tracefs[PATH_MAX];
};

/** values_open - find the tracepoints; call values_close(), also after a failure. Return: exit status */
int values_open(struct values *values);
void values_close(struct values *values);

/** values_file - a file of a tracepoint, to be freed; NULL and errno */
char *values_file(const char *tracefs, const char *group, const char *name, const char *file);

/** values_name - name of an event in perf's syntax */
const char *values_name(enum values_event event);

#endif /* NTRACE_TOOL_RECORD_VALUES_H */
