/* SPDX-License-Identifier: GPL-2.0-only */
/* An output file that exists either completely or not at all. */
#ifndef NTRACE_TOOL_COMMON_OUTPUT_FILE_H
#define NTRACE_TOOL_COMMON_OUTPUT_FILE_H

#include <sys/types.h>

#include "output.h"

/**
 * struct output_file - a file being written
 * @output: destination of all writes; NULL while not open; owned
 * @path: as given; borrowed
 */
struct output_file {
	struct output *output;
	const char *path;
	/* private */
	char *target;	/* final path; NULL = written in place */
	char *made;	/* temporary path; NULL = unnamed */
};

/**
 * output_file_open - start writing a file
 * @path: "-" is standard output; like pipes and devices it is written in place
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int output_file_open(struct output_file *file, const char *path);

/**
 * output_file_close - finish the file
 * @status: exit status of the command; only with EXIT_OK or EXIT_GAPS does a regular file appear
 *          under its name, otherwise an existing file is left unchanged
 *
 * Return: @status, or EXIT_FAILED after an error message if the file cannot be written. Does nothing if the file is not open.
 */
int output_file_close(struct output_file *file, int status);

/** output_file_mode - permissions that open() gives a new file */
mode_t output_file_mode(void);

#endif /* NTRACE_TOOL_COMMON_OUTPUT_FILE_H */
