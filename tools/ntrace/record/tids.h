/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads that are traced, or were until lately. */
#ifndef NTRACE_TOOL_RECORD_TIDS_H
#define NTRACE_TOOL_RECORD_TIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct tid_list - zeroed at first
 * @tid: negative = the thread has ended: records of it may be read later
 */
struct tid_list {
	pid_t *tid;
	size_t count;
};

/** tid_list_has - true if the thread was added, also if it has ended lately */
bool tid_list_has(const struct tid_list *list, pid_t tid);

/** tid_list_add - add a thread; when out of memory, it stays unknown */
void tid_list_add(struct tid_list *list, pid_t tid);

/** tid_list_end - note that a thread has ended */
void tid_list_end(struct tid_list *list, pid_t tid);

void tid_list_free(struct tid_list *list);

#endif
