/* SPDX-License-Identifier: GPL-2.0-only */
/* The directory of a recording. */
#ifndef NTRACE_TOOL_RECORD_DIRECTORY_H
#define NTRACE_TOOL_RECORD_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * recording_make - create the directory; an older recording of that name becomes NAME.old
 *
 * @kept: takes whether there was one
 *
 * Anything else of that name is left alone and is an error.
 */
int recording_make(const char *directory, bool *kept);

/**
 * recording_discard - remove the files of a recording that failed
 * @kept: there is an older one, which gets its name back
 */
void recording_discard(const char *directory, bool kept);

/**
 * recording_reserve - reserve disk space for the files that are written last
 *
 * Neither trace nor sideband can use this space until recording_release().
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int recording_reserve(const char *directory);

/**
 * recording_release - give the space back
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message: the directory is not the one of the recording any more.
 */
int recording_release(const char *directory);

/**
 * temporary_make - create a private directory in $TMPDIR, or in /tmp without it
 * @path: its name; "" on errors
 * @size: of @path in bytes
 * @name: begin of the directory's own name
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int temporary_make(char *path, size_t size, const char *name);

#endif /* NTRACE_TOOL_RECORD_DIRECTORY_H */
