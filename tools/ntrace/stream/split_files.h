/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of ntrace split: one for each source, either complete or absent. */
#ifndef NTRACE_TOOL_STREAM_SPLIT_FILES_H
#define NTRACE_TOOL_STREAM_SPLIT_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/output_file.h"

/* A formatter has this many sources. */
#define SPLIT_FILES_MAX 111

/**
 * struct split_file - the file of one source
 * @source: its source
 * @path: final name
 * @bytes: written
 * @messages: counted by the caller
 * @gaps: number of gap marks
 */
struct split_file {
	unsigned int source;
	char *path;
	struct output_file file;
	uint64_t bytes;
	uint64_t messages;
	uint64_t gaps;
};

/**
 * struct split_files - all files
 * @directory: their directory, created with the first file; borrowed
 * @format: format of their names, with one %u or %x for the source; borrowed
 * @force: replace existing files
 * @limit: maximum number of files, at most SPLIT_FILES_MAX
 */
struct split_files {
	const char *directory;
	const char *format;
	bool force;
	unsigned int limit;
	unsigned int count;
	bool made_directory;
	struct split_file files[SPLIT_FILES_MAX];
};

/**
 * split_files_get - find or create the file of a source
 * @file: set
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message: too many files, the file exists, or it cannot be created.
 */
int split_files_get(struct split_files *files, unsigned int source, struct split_file **file);

/** split_file_put - write bytes. Return: EXIT_OK, or EXIT_FAILED after an error message */
int split_file_put(struct split_file *file, const void *bytes, size_t size);

/**
 * split_file_gap - mark that trace is missing here
 * @aligned: a message starts here; else the rest of one may follow
 *
 * The mark is a byte with the reserved MSEO code 2, which no message contains: readers report an
 * error and continue after the next end of a message. Return: as split_file_put().
 */
int split_file_gap(struct split_file *file, bool aligned);

/**
 * split_files_finish - give the files their names, or remove them
 * @keep: the files are complete
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message. The data of the table remains valid.
 */
int split_files_finish(struct split_files *files, bool keep);
void split_files_free(struct split_files *files);

#endif /* NTRACE_TOOL_STREAM_SPLIT_FILES_H */
