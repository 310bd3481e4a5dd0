/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that a command makes: it is there as a whole, or not at all. */
#ifndef NTRACE_TOOL_COMMON_OUTPUT_FILE_H
#define NTRACE_TOOL_COMMON_OUTPUT_FILE_H

#include <sys/types.h>

#include "output.h"

/**
 * struct output_file - a file in the making
 * @output: what is written goes here; NULL while it is not open; owned
 * @path: as given; borrowed
 */
struct output_file {
	struct output *output;
	const char *path;
	/* private */
	char *target;	/* where it goes in the end, NULL: written in place */
	char *made;	/* its name until then, NULL: it has none */
};

/**
 * output_file_open - begin to make a file
 * @path: "-" is standard output; it, pipes and devices are written in place
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int output_file_open(struct output_file *file, const char *path);

/**
 * output_file_close - end it
 * @status: what the command comes to; a regular file appears under its name with EXIT_OK or
 *          EXIT_GAPS only, and a file that was there before stays as it was otherwise
 *
 * Return: @status, or EXIT_FAILED after a complaint if the file cannot be written. Nothing
 * happens if it is not open.
 */
int output_file_close(struct output_file *file, int status);

/** output_file_mode - the permissions that open() gives a new file */
mode_t output_file_mode(void);

#endif /* NTRACE_TOOL_COMMON_OUTPUT_FILE_H */
