/* SPDX-License-Identifier: GPL-2.0-only */
/* Output files of commands that appear under their name only when complete: see ntrace/output.h. */
#ifndef NTRACE_TOOL_COMMON_OUTPUT_FILE_H
#define NTRACE_TOOL_COMMON_OUTPUT_FILE_H

#include <stdio.h>

#include <ntrace/output.h>

#include "inputs.h"
#include "output.h"

/**
 * struct output_file - a file being written, by one of three ways
 * @output: output_file_open(): destination of all writes; owned
 * @stream: output_file_stream(): likewise
 * @name: name under which a writer can open the file meanwhile; borrowed
 * @path: as given, or "standard output"; borrowed
 *
 * All are NULL while it is not open.
 */
struct output_file {
	struct output *output;
	FILE *stream;
	const char *name;
	const char *path;
	/* private */
	struct ntrace_output *file;	/* NULL = standard output */
};

/**
 * output_file_open - start writing a file
 * @path: "-" is standard output; like pipes and devices it is written in place. NULL is "-".
 *
 * A file that is also an input of the command, and every ELF file, is refused.
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int output_file_open(struct output_file *file, const char *path);

/** output_file_stream - the same, for writers that take a stream. @replace: the file may exist */
int output_file_stream(struct output_file *file, const char *path, bool replace);

/** output_file_named - the same, for writers that take a name */
int output_file_named(struct output_file *file, const char *path);

/** output_needs_file - print that @path cannot take what goes back in its file. Return: EXIT_FAILED */
int output_needs_file(const char *path, const char *format);

/**
 * output_file_close - finish the file
 * @status: exit status of the command; only with EXIT_OK or EXIT_GAPS does a regular file appear
 *          under its name, otherwise an existing file is left unchanged
 *
 * Return: @status, or EXIT_FAILED after an error message if the file cannot be written. Does nothing if the file is not open.
 */
int output_file_close(struct output_file *file, int status);

/**
 * output_refuse_input - Return: EXIT_OK, or EXIT_FAILED after an error message if @path is an input or
 * an ELF file
 */
int output_refuse_input(const char *path);

/**
 * output_guard - begin a command: signals that end it remove incomplete files, and it ends if standard output or
 * standard error output is an ELF file
 */
void output_guard(void);

#endif /* NTRACE_TOOL_COMMON_OUTPUT_FILE_H */
