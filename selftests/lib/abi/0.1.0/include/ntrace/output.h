/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Output files that exist either completely or not at all: until it is complete, a file has a temporary
 * name in the directory of its target.
 */
#ifndef NTRACE_OUTPUT_H
#define NTRACE_OUTPUT_H

#include <stdbool.h>

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_output;

/**
 * ntrace_output_open - begin an output file
 * @output: set to a new output, to be ended with ntrace_output_close()
 * @path: the target. Of a symbolic link, the file that it points to is replaced, not the link. Devices,
 *        pipes and descriptors of the process (/dev/stdout, /dev/fd/N) are written in place.
 * @replace: whether the target may exist
 *
 * The file gets the permissions of a new file; if it will replace a file, the owner of that file if
 * possible, and no more permissions than it has.
 *
 * Return: 0, NTRACE_ERR_NOMEM, or NTRACE_ERR_IO with errno, such as EACCES if the target may not be
 * written, or no file made beside it, and EEXIST.
 */
NTRACE_EXPERIMENTAL int ntrace_output_open(struct ntrace_output **output, const char *path,
					   bool replace);

/**
 * ntrace_output_fd - the descriptor to write to
 * @output: output made by ntrace_output_open()
 *
 * Return: descriptor owned by the output.
 */
NTRACE_EXPERIMENTAL int ntrace_output_fd(const struct ntrace_output *output);

/**
 * ntrace_output_name - the name under which the file can be opened meanwhile
 * @output: output made by ntrace_output_open()
 *
 * Return: temporary name, or the target's if it is written in place; owned by the output.
 */
NTRACE_EXPERIMENTAL const char *ntrace_output_name(const struct ntrace_output *output);

/**
 * ntrace_output_close - end an output file
 * @output: output made by ntrace_output_open(), is freed; or NULL
 * @keep: the file is complete and gets its name; otherwise it is removed, and what was there before is
 *        unchanged
 *
 * Return: 0, or NTRACE_ERR_IO with errno; then the file was removed, too.
 */
NTRACE_EXPERIMENTAL int ntrace_output_close(struct ntrace_output *output, bool keep);

/**
 * ntrace_output_abandon - remove all files of this process that are not complete
 *
 * For handlers of signals that end the process: it may be called by a handler, and no output can be
 * opened or closed afterwards.
 */
NTRACE_EXPERIMENTAL void ntrace_output_abandon(void);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_OUTPUT_H */
