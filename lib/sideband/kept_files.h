/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Where a recording keeps the code of a mapping: see kept_files.c. */
#ifndef NTRACE_SIDEBAND_KEPT_FILES_H
#define NTRACE_SIDEBAND_KEPT_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include <ntrace/perf.h>

/* The directory of the copies, below the recording. */
#define KEPT_FILES "/images/files"

/* What d_path() of the kernel adds to the path of a removed file. */
#define KEPT_DELETED " (deleted)"

/* Length of the path of a mapped file, without what the kernel adds if it was removed. */
size_t kept_path_length(const char *path);

/* Whether a mapping of this name shows memory of the process, not a file. */
bool kept_is_memory(const char *name);

/* Of such a name: whether there is a file, whose path is longer than the kernel's records (4,096 bytes). */
bool kept_is_too_long(const char *name);

/*
 * The path of the copy of a mapping's code, which may not exist. false: it is too long, or nothing identifies
 * the code.
 */
bool kept_file_path(const char *directory, const struct ntrace_sideband *mapping, char *path,
		    size_t room);

#endif
