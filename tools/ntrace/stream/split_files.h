/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of ntrace split: one for each source, whole or not there at all. */
#ifndef NTRACE_TOOL_STREAM_SPLIT_FILES_H
#define NTRACE_TOOL_STREAM_SPLIT_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* As many as a formatter has sources. */
#define SPLIT_FILES_MAX 111

/**
 * struct split_file - one of them
 * @source: which one it is of
 * @path: its name at last; @temporary: its name now
 * @bytes: written
 * @messages: for the user
 * @gaps: marks of split_file_gap() in it
 */
struct split_file {
	unsigned int source;
	char *path;
	char *temporary;
	FILE *file;
	uint64_t bytes;
	uint64_t messages;
	uint64_t gaps;
};

/**
 * struct split_files - all of them
 * @directory: where they are; made when the first one is; borrowed
 * @format: their names, with one %u or %x for the source; borrowed
 * @force: existing files are replaced
 * @limit: how many there may be, at most SPLIT_FILES_MAX
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
 * split_files_get - the file of a source, which is made if there is none
 * @file: filled in
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint: there are too many, the file exists, or it
 * cannot be made.
 */
int split_files_get(struct split_files *files, unsigned int source, struct split_file **file);

/** split_file_put - write bytes. Return: EXIT_OK, or EXIT_FAILED after a complaint */
int split_file_put(struct split_file *file, const void *bytes, size_t size);

/**
 * split_file_gap - mark that trace is missing here
 * @aligned: what follows begins a message; else it may be the rest of one
 *
 * The mark is a byte with the reserved MSEO code 2, which no message has: readers report an error
 * there and go on behind the next end of a message. Return: as split_file_put().
 */
int split_file_gap(struct split_file *file, bool aligned);

/**
 * split_files_finish - the files get their names, or vanish
 * @keep: they are whole
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint. What the table needs stays.
 */
int split_files_finish(struct split_files *files, bool keep);
void split_files_free(struct split_files *files);

#endif /* NTRACE_TOOL_STREAM_SPLIT_FILES_H */
