/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * perf.data files with trace recorded by other drivers. The trace of an AUX area becomes a file in
 * the format of recordings.
 */
#ifndef NTRACE_RECORDING_AUX_IMPORT_H
#define NTRACE_RECORDING_AUX_IMPORT_H

#include <stdio.h>

#include <ntrace/frames.h>

#include "recording.h"
#include "sideband/machine.h"

/* Pieces with positions in the file of a stream. */
struct piece_list {
	struct piece *items;
	size_t count;
};

/*
 * @name: name of the file, for notes
 * @machine: the file's sideband
 * @params: changes to the parameters, may be NULL
 * @streams: the streams found; descriptors of @files name their files
 * @files: open unnamed files
 * @pieces: pieces by stream
 *
 * The caller owns the first four and keeps them valid; aux_import_free() frees the others.
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
	char *text;			/* copy of @params, to which ISA strings of streams point */
	struct ntrace_params **of_streams;
	unsigned int of_stream_count;
};

/* Whether the file has AUXTRACE records. */
bool aux_import_has_trace(const struct machine *machine);

/*
 * Return: 0, NTRACE_ERR_FORMAT after a note, NTRACE_ERR_IO, NTRACE_ERR_NOMEM. Streams read before
 * an error stay in @import.
 */
int aux_import_read(struct aux_import *import);
void aux_import_free(struct aux_import *import);

/* The recording driver, which determines the content of AUXTRACE_INFO and the packing of bytes. */
enum aux_layout {
	AUX_UNKNOWN,	/* no AUXTRACE_INFO */
	AUX_RVTRACE,	/* plain bytes, no parameters: rvtrace, gtrace */
	AUX_SPACEMIT,	/* CoreSight frames, parameters for each hart */
	AUX_BYTES,	/* plain bytes, parameters for each hart */
};

/* Entry of AUXTRACE_INFO for a hart; the fields after src are 0 in SpacemiT's. */
struct aux_hart {
	uint64_t cpu;
	uint64_t format;
	uint64_t context;
	uint64_t no_src;	/* messages have no SRC field */
	uint64_t src_bits;
	uint64_t src;
	uint64_t packing;	/* AUX_PACKING_... */
	uint64_t version;	/* trTeVerMajor + 1, 0 = unknown */
	uint64_t xlen;
	uint64_t flags;		/* AUX_FLAG_... */
	uint64_t address_bits;
	uint64_t return_mode;
	uint64_t timestamp_bits;
	uint64_t timestamp_hz;
};

#define AUX_PACKING_BYTES 1

/* perf pads the payload of AUXTRACE to a multiple of 8 bytes. */
#define AUX_PADDING_MAX 7

#define AUX_FLAG_EXTEND_ADDRESS 1u
#define AUX_FLAG_ALL_JUMPS 2u
#define AUX_FLAG_SEPARATE 4u /* an area has only messages of its own hart */

/*
 * What an AUX record says of the format of its bytes, in flags that each PMU defines for itself
 * (PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK).
 */
#define AUX_FORMAT 0xff00u
#define AUX_FORMAT_ETRACE 0x0100u
#define AUX_FORMAT_NTRACE 0x0200u
#define AUX_FORMAT_RAW 0x0100u /* of SpacemiT's PMU: messages without frames */

/*
 * @pmu: name of the PMU, NULL if the file does not tell it; owned by the file
 * @coresight: the flags of AUX records are those of CoreSight's PMU
 */
struct aux_info {
	enum aux_layout layout;
	const char *pmu;
	bool coresight;
	struct aux_hart *harts;
	size_t hart_count;
};

/*
 * Reads AUXTRACE_INFO. Return: 0, NTRACE_ERR_NOMEM, or NTRACE_ERR_FORMAT after a note: unsupported
 * trace. The caller frees info->harts.
 */
int aux_info_read(const struct aux_import *import, const struct ntrace_perf_record *record,
		  struct aux_info *info);

/*
 * aux_format.c: who has recorded the trace, and in which format. Return: 0, or NTRACE_ERR_FORMAT after a
 * note: no trace that can be read.
 */
int aux_format_check(const struct aux_import *import, struct aux_info *info);

/* Whether the PMU is that of the framework gtrace. */
bool aux_is_gtrace(const struct aux_info *info);

/* Whether the bytes of a piece can be read, or are those of another format among others that can. */
bool aux_format_is_read(const struct aux_info *info, const struct piece *piece);

/* The sinks of gtrace and rvtrace; a piece of this size is a sink that has wrapped, as a whole. */
#define AUX_RING_SIZE (1u << 20)

/* A position in an AUX area from a record: begin or end of a piece. */
struct aux_mark {
	uint64_t position;
	bool lossy;	/* trace is missing before this position */
	bool left_out;	/* the bytes from here to the next mark are not read */
	bool ring;	/* they are the whole content of a sink, from its oldest byte on */
};

/*
 * The trace of one source of an AUX area; without frames there is one source.
 * @at: positions in the file of the area's marks
 */
struct aux_file {
	FILE *file;
	unsigned int source;
	uint64_t bytes;
	uint64_t *at;
};

/*
 * @held: the last bytes read, which may be padding
 */
struct aux_area {
	struct ntrace_perf_auxtrace about;
	struct aux_mark *marks;		/* sorted by position */
	size_t mark_count;
	size_t next_mark;
	struct aux_file *files;
	size_t file_count;
	struct ntrace_frames frames;
	uint64_t first;			/* position of the first byte read */
	uint64_t payload;		/* position of the start of the frame reader's input */
	uint64_t end;			/* position after the last byte read */
	uint64_t lost;
	uint64_t holes;
	uint64_t flagged[3];		/* AUX records: truncated, partial, collision */
	uint64_t foreign;		/* pieces left out: other formats, or perhaps overwritten */
	uint64_t rings;			/* pieces that are the content of a sink that had wrapped */
	uint64_t old;			/* bytes of these that had been handed over before */
	uint64_t before_ring;		/* end in the file of what came before the ring that is being read */
	uint64_t ring_at;		/* its position there */
	bool in_ring;
	bool shared;			/* it has messages of several CPUs */
	unsigned int src_bits;		/* found in its messages */
	uint8_t held[AUX_PADDING_MAX];
	unsigned int held_size;
	bool begun;
};

struct aux_areas {
	const struct machine *machine;
	struct aux_info info;
	struct aux_area *items;
	size_t count;
	uint64_t damaged;
	bool *traced;		/* CPUs that AUX_OUTPUT_HW_ID names: SRC of their messages; NULL: none */
};

/* aux_files.c: writes all trace to files. Return: 0, NTRACE_ERR_IO, NTRACE_ERR_NOMEM. */
int aux_files_write(struct aux_areas *areas);

/*
 * aux_sources.c: counts the messages of each SRC in a file. Return: 0, NTRACE_ERR_IO,
 * NTRACE_ERR_INVALID for bad parameters.
 */
int aux_sources_count(const struct aux_file *file, const struct ntrace_params *params,
		      uint64_t *counts);

/* SRC has at most 12 bits. */
#define AUX_SOURCES (1u << NTRACE_SRC_BITS_MAX)

/* Width of SRC in the messages of a file whose recording does not tell it. Return: as above, or bits. */
int aux_sources_width(const struct aux_areas *areas, const struct aux_area *area,
		      const struct aux_file *file, const struct ntrace_params *params);

/* Whether the piece belongs to the area. */
bool aux_area_has(const struct aux_area *area, const struct piece *piece);

#endif
