/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Changes in a log of memory; the rest of it is in <ntrace/values.h>. */
#ifndef NTRACE_VALUES_LOG_H
#define NTRACE_VALUES_LOG_H

#include <ntrace/values.h>

/** log_keep_last - of each byte only the last value is needed; before anything is written */
void log_keep_last(struct ntrace_value_log *log);

/**
 * log_changed - the time at which bytes got the value that they have at @time
 * @first, @last: the bytes
 * @when: set
 *
 * Return: false: they have not changed since nothing was known of them.
 */
bool log_changed(const struct ntrace_value_log *log, uint64_t time, uint64_t first, uint64_t last,
		 uint64_t *when);

/** log_told - the time from which on the log has what it tells of 8 bytes at @time; 0: it tells nothing */
uint64_t log_told(const struct ntrace_value_log *log, uint64_t time, uint64_t address);

/** log_changes - the first time after @time, up to @until, at which bytes change. Return: false: none */
bool log_changes(const struct ntrace_value_log *log, uint64_t time, uint64_t until, uint64_t first,
		 uint64_t last, uint64_t *when);

#endif
