/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of a large recording, of which only those are in memory that a debugger shows. */
#ifndef NTRACE_TOOL_GDB_PARTS_H
#define NTRACE_TOOL_GDB_PARTS_H

#include "load.h"
#include "target.h"

/* Bytes of trace of a part. */
#define PARTS_SIZE ((uint64_t)64 << 20)

struct part_view;

/**
 * struct parts - a recording
 * @base: what clients use
 * @recording: borrowed
 * @options: for loading; its @history is not used
 * @stream: only this stream, -1 = all
 * @tid: see target_init()
 * @around: without @tid: a function that the process and thread shall call @calls times, or NULL
 * @calls: see @around
 * @exec: program for each target, NULL = the one that is found; borrowed
 * @exec_bias: its run-time address minus link address
 * @xlen: of the targets
 *
 * The other fields are private.
 */
struct parts {
	struct target_parts base;
	struct recording *recording;
	const struct load *options;
	int64_t stream;
	int64_t tid;
	const char *around;
	uint64_t calls;
	const char *exec;
	uint64_t exec_bias;
	unsigned int xlen;
	unsigned int streams;
	uint64_t *offset;	/* where the parts begin in each stream, and where the last one ends */
	uint64_t *time;		/* when each part begins, if timed */
	size_t room;
	bool timed;
	uint64_t first_time;
	struct part_view *views;
	bool known;		/* the process was chosen */
	int32_t pid;
	int failed;		/* why the last part could not be opened, as target_init() */
};

/**
 * parts_make - divide a recording
 * @size: bytes of trace in a part; a recording that is not larger is one part, without an index
 * @path: of the recording, for messages
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int parts_make(struct parts *parts, uint64_t size, const char *path);

/** parts_open - the target of a part. Return: NULL as struct target_parts says */
struct target *parts_open(struct parts *parts, size_t number);
void parts_free(struct parts *parts);

#endif /* NTRACE_TOOL_GDB_PARTS_H */
