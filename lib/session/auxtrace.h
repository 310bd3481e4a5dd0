/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * perf.data files with trace in them, as other drivers have it recorded. The trace of an AUX area
 * becomes a file as recordings have them; for lib/session only.
 */
#ifndef NTRACE_SESSION_AUXTRACE_H
#define NTRACE_SESSION_AUXTRACE_H

#include <stdio.h>

#include <ntrace/frames.h>

#include "session.h"

/* Who recorded it, which says what AUXTRACE_INFO holds and how the bytes are packed. */
enum aux_layout {
	AUX_UNKNOWN,	/* no AUXTRACE_INFO */
	AUX_RVTRACE,	/* plain bytes, no parameters */
	AUX_SPACEMIT,	/* CoreSight frames, parameters for each hart */
};

/* What SpacemiT's AUXTRACE_INFO says of a hart. */
struct aux_hart {
	uint64_t cpu;
	uint64_t format;
	uint64_t context;
	uint64_t no_src;	/* messages have no SRC field */
	uint64_t src_bits;
	uint64_t src;
};

struct aux_info {
	enum aux_layout layout;
	struct aux_hart *harts;
	size_t hart_count;
};

/*
 * Reads AUXTRACE_INFO. Return: 0, NTRACE_ERR_NOMEM, or NTRACE_ERR_FORMAT after a note: it is not
 * trace that can be read. The caller frees info->harts.
 */
int aux_info_read(const struct ntrace_session *session, const struct ntrace_perf_record *record,
		  struct aux_info *info);

/* A place in an AUX area that a record names, where a piece begins or ends. */
struct aux_mark {
	uint64_t position;
	bool lossy;	/* of what came before it something is missing */
};

/*
 * The trace of one source of an AUX area; without frames there is one source.
 * @at: where in the file the marks of the area are
 */
struct aux_file {
	FILE *file;
	unsigned int source;
	uint64_t bytes;
	uint64_t *at;
};

struct aux_area {
	struct ntrace_perf_auxtrace about;
	struct aux_mark *marks;		/* by position */
	size_t mark_count;
	size_t next_mark;
	struct aux_file *files;
	size_t file_count;
	struct ntrace_frames frames;
	uint64_t first;			/* position of the first byte that was read */
	uint64_t payload;		/* position at which the reader of frames had been fed nothing */
	uint64_t end;			/* position behind the last byte that was read */
	uint64_t lost;
	uint64_t holes;
	uint64_t flagged[3];		/* AUX records: truncated, partial, collision */
	bool begun;
};

struct aux_areas {
	struct ntrace_session *session;
	struct aux_info info;
	struct aux_area *items;
	size_t count;
	uint64_t damaged;
};

/* aux_files.c: writes the trace of all areas into files. Return: 0, NTRACE_ERR_IO, NTRACE_ERR_NOMEM. */
int aux_files_write(struct aux_areas *areas);

/* Is the piece of this area? */
bool aux_area_has(const struct aux_area *area, const struct piece *piece);

#endif
