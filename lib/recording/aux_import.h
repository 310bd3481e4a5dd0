/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * perf.data files with trace in them, as other drivers have it recorded. The trace of an AUX area
 * becomes a file as recordings have them.
 */
#ifndef NTRACE_RECORDING_AUX_IMPORT_H
#define NTRACE_RECORDING_AUX_IMPORT_H

#include <stdio.h>

#include <ntrace/frames.h>

#include "recording.h"
#include "sideband/machine.h"

/* Pieces with places in the file of a stream. */
struct piece_list {
	struct piece *items;
	size_t count;
};

/*
 * @name: of the file, for notes
 * @machine: what its sideband says
 * @params: changes to the parameters, may be NULL
 * @streams: the streams found; descriptors of @files name their files
 * @files: open, without names
 * @pieces: by stream
 *
 * The first four are the caller's, who keeps them as long; the rest is freed by aux_import_free().
 */
struct aux_import {
	const char *name;
	const struct machine *machine;
	const char *params;
	const struct notes *notes;
	struct ntrace_stream *streams;
	unsigned int stream_count;
	FILE **files;
	size_t file_count;
	struct piece_list *pieces;
	unsigned int piece_lists;
	char *text;			/* copy of @params, where ISA strings of streams are */
	struct ntrace_params **of_streams;
	unsigned int of_stream_count;
};

/* Are there AUXTRACE records? */
bool aux_import_has_trace(const struct machine *machine);

/*
 * Return: 0, NTRACE_ERR_FORMAT after a note, NTRACE_ERR_IO, NTRACE_ERR_NOMEM. Streams that were
 * read before an error stay in @import.
 */
int aux_import_read(struct aux_import *import);
void aux_import_free(struct aux_import *import);

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
int aux_info_read(const struct aux_import *import, const struct ntrace_perf_record *record,
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
	const struct machine *machine;
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
