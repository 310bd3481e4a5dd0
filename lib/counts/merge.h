/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of the merger for the other files of lib/counts. */
#ifndef NTRACE_COUNTS_MERGE_H
#define NTRACE_COUNTS_MERGE_H

#include "format.h"

/* A file without a name in the merger's directory. Return: 0, NTRACE_ERR_NOMEM or NTRACE_ERR_IO. */
int merger_temporary(struct ntrace_counts_merger *merger, FILE **file);

/*
 * Adds an input: a path (allocated) or a temporary file; both belong to the merger from here on.
 * Return: 0 or an error, which is final.
 */
int merger_add(struct ntrace_counts_merger *merger, unsigned int level, char *path, FILE *file);

/* The error of an earlier call, or 0. */
int merger_failed(const struct ntrace_counts_merger *merger);

/* Remembers that an operation on a temporary file failed; keeps errno. Return: @error */
int merger_fail(struct ntrace_counts_merger *merger, int error);

/* The name and address that a sum keeps of two equal objects. */
void merger_join_objects(struct ntrace_counts_object *sum, const struct ntrace_counts_object *more);

#endif
