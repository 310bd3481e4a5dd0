// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decompresses files of perf record -z. All compressed records of a file form one zstd stream, those
 * of a file data.N another one, which contains one chain of records. A record of the chain may cross from one compressed record
 * into the next.
 */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "grow.h"
#include "file.h"

/* Sideband is small and does not expand a thousandfold: larger output is not sideband. */
#define EXPANDED_MAX (UINT64_C(1) << 32)
#define EXPANDED_TIMES_MAX 1024
#define STEP (UINT64_C(1) << 16)

struct expanding {
	struct ntrace_perf_file *file;
	ZSTD_DCtx *context;
	uint64_t max;
	size_t room;		/* room of file->expanded */
	size_t part_room;	/* room of file->parts */
	size_t thread;		/* the next one of file->threads */
};

/* The compressed bytes of a record; false if it has none. */
static bool find_content(const struct ntrace_perf_record *record, ZSTD_inBuffer *content)
{
	size_t head = sizeof(struct perf_event_header);
	uint64_t size;

	if (record->type == PERF_RECORD_COMPRESSED) {
		*content = (ZSTD_inBuffer){ record->data + head, record->size - head, 0 };
		return true;
	}
	/* The record is padded to 8 bytes, so it contains the size. */
	if (record->type != PERF_RECORD_COMPRESSED2 || record->size < head + sizeof(size))
		return false;
	memcpy(&size, record->data + head, sizeof(size));
	head += sizeof(size);
	if (size > record->size - head)
		return false;
	*content = (ZSTD_inBuffer){ record->data + head, (size_t)size, 0 };
	return true;
}

static int make_room(struct expanding *expanding)
{
	struct ntrace_perf_file *file = expanding->file;
	uint64_t room = expanding->room ? 2 * (uint64_t)expanding->room : STEP;
	uint8_t *bytes;

	if (expanding->room - file->expanded_size >= STEP)
		return 0;
	if (file->expanded_size >= expanding->max)
		return NTRACE_ERR_TRUNCATED;
	bytes = realloc(file->expanded, room);
	if (!bytes)
		return NTRACE_ERR_NOMEM;
	file->expanded = bytes;
	expanding->room = room;
	return 0;
}

/* Return: 0, NTRACE_ERR_TRUNCATED if the data is damaged or too long, NTRACE_ERR_NOMEM. */
static int expand_content(struct expanding *expanding, ZSTD_inBuffer *content)
{
	struct ntrace_perf_file *file = expanding->file;
	bool full = true;

	/* A full output buffer means that more output may follow. */
	while (content->pos < content->size || full) {
		ZSTD_outBuffer out;
		int error = make_room(expanding);

		if (error)
			return error;
		out = (ZSTD_outBuffer){ file->expanded + file->expanded_size,
					expanding->room - file->expanded_size, 0 };
		if (ZSTD_isError(ZSTD_decompressStream(expanding->context, &out, content)))
			return NTRACE_ERR_TRUNCATED;
		file->expanded_size += out.pos;
		full = out.pos == out.size;
	}
	return 0;
}

static int add_part(struct expanding *expanding, uint64_t position)
{
	struct ntrace_perf_file *file = expanding->file;

	if (grow((void **)&file->parts, file->part_count, &expanding->part_room,
		 sizeof(*file->parts)))
		return NTRACE_ERR_NOMEM;
	file->parts[file->part_count++] = (struct expanded_part){ position, file->expanded_size };
	return 0;
}

static int take_record(void *data, const struct ntrace_perf_record *record)
{
	struct expanding *expanding = data;
	size_t before = expanding->file->expanded_size;
	ZSTD_inBuffer content;
	int error;

	if (record->type != PERF_RECORD_COMPRESSED && record->type != PERF_RECORD_COMPRESSED2)
		return 0;
	if (!find_content(record, &content))
		return NTRACE_ERR_TRUNCATED;
	while (expanding->thread < expanding->file->thread_count &&
	       record->position >= expanding->file->threads[expanding->thread].at) {
		ZSTD_DCtx_reset(expanding->context, ZSTD_reset_session_only);
		expanding->thread++;
	}
	error = expand_content(expanding, &content);
	/* Output of a damaged record is incomplete, and later records depend on it. */
	if (error)
		expanding->file->expanded_size = before;
	return error ? error : add_part(expanding, record->position);
}

int perf_file_expand(struct ntrace_perf_file *file)
{
	struct expanding expanding = { .file = file };
	int error;

	expanding.max = file->size * EXPANDED_TIMES_MAX;
	if (expanding.max > EXPANDED_MAX)
		expanding.max = EXPANDED_MAX;
	expanding.context = ZSTD_createDCtx();
	if (!expanding.context)
		return NTRACE_ERR_NOMEM;
	error = ntrace_perf_file_records(file, take_record, &expanding);
	ZSTD_freeDCtx(expanding.context);
	/* Damage is no error here: unreadable records are counted when a caller reads them. */
	return error == NTRACE_ERR_NOMEM ? error : 0;
}
