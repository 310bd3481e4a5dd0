// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writer of perf.data: header, ids, attrs, data, features, in the order of perf record. The header
 * is written twice: at the first record with data.size 0, which perf takes as "not finished", and
 * at close.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "writer.h"

int ntrace_perf_writer_open(struct ntrace_perf_writer **writer, const char *path)
{
	struct ntrace_perf_writer *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->file = fopen(path, "wbe");
	if (!made->file) {
		free(made);
		return NTRACE_ERR_IO;
	}
	*writer = made;
	return 0;
}

/* All output uses this function; the first error is kept for close. */
int writer_put(struct ntrace_perf_writer *writer, const void *data, size_t size)
{
	if (writer->error)
		return NTRACE_ERR_IO;
	if (fwrite(data, 1, size, writer->file) != size) {
		writer->error = errno ? errno : EIO;
		return NTRACE_ERR_IO;
	}
	writer->position += size;
	return 0;
}

int ntrace_perf_writer_event(struct ntrace_perf_writer *writer, const struct perf_event_attr *attr,
			     const uint64_t *ids, size_t count, const char *name)
{
	struct writer_event *events, *event;

	if (writer->started || attr->size < PERF_ATTR_SIZE_VER0 || attr->size > 4096 ||
	    (writer->event_count && attr->size != writer->events[0].attr->size))
		return NTRACE_ERR_INVALID;
	events = realloc(writer->events, (writer->event_count + 1) * sizeof(*events));
	if (!events)
		return NTRACE_ERR_NOMEM;
	writer->events = events;
	event = &events[writer->event_count];
	memset(event, 0, sizeof(*event));
	event->attr = calloc(1, attr->size > sizeof(*attr) ? attr->size : sizeof(*attr));
	event->ids = calloc(count ? count : 1, sizeof(*event->ids));
	event->name = strdup(name ? name : "");
	if (!event->attr || !event->ids || !event->name) {
		free(event->attr);
		free(event->ids);
		free(event->name);
		return NTRACE_ERR_NOMEM;
	}
	memcpy(event->attr, attr, attr->size);
	if (count)
		memcpy(event->ids, ids, count * sizeof(*ids));
	event->id_count = count;
	writer->event_count++;
	return 0;
}

static int put_header(struct ntrace_perf_writer *writer)
{
	struct perf_file_header header = {
		.magic = PERF_FILE_MAGIC,
		.size = sizeof(header),
		.attrs.offset = writer->attrs_at,
		.data.offset = writer->data_at,
		.data.size = writer->data_size,
	};
	size_t attr_size = writer->event_count ? writer->events[0].attr->size : PERF_ATTR_SIZE_VER0;

	header.attr_size = attr_size + sizeof(struct perf_file_section);
	header.attrs.size = header.attr_size * writer->event_count;
	memcpy(header.features, writer->feature_bits, sizeof(header.features));
	return writer_put(writer, &header, sizeof(header));
}

static int start(struct ntrace_perf_writer *writer)
{
	uint64_t ids_at = sizeof(struct perf_file_header);
	size_t i;

	if (writer->started)
		return writer->error ? NTRACE_ERR_IO : 0;
	writer->started = true;
	put_header(writer); /* reserves its place; rewritten below and at close */
	for (i = 0; i < writer->event_count; i++)
		writer_put(writer, writer->events[i].ids, 8 * writer->events[i].id_count);
	writer->attrs_at = writer->position;
	for (i = 0; i < writer->event_count; i++) {
		const struct writer_event *event = &writer->events[i];
		struct perf_file_section ids = { ids_at, 8 * event->id_count };

		writer_put(writer, event->attr, event->attr->size);
		writer_put(writer, &ids, sizeof(ids));
		ids_at += ids.size;
	}
	writer->data_at = writer->position;
	return writer_rewrite_header(writer);
}

int writer_rewrite_header(struct ntrace_perf_writer *writer)
{
	uint64_t position = writer->position;

	if (!writer->error && fseek(writer->file, 0, SEEK_SET))
		writer->error = errno;
	put_header(writer);
	if (!writer->error && fseeko(writer->file, (off_t)position, SEEK_SET))
		writer->error = errno;
	writer->position = position;
	return writer->error ? NTRACE_ERR_IO : 0;
}

int ntrace_perf_writer_records(struct ntrace_perf_writer *writer, const void *records, size_t size)
{
	const uint8_t *at = records;
	size_t rest = size;

	while (rest) {
		struct perf_event_header header;

		if (rest < sizeof(header))
			return NTRACE_ERR_INVALID;
		memcpy(&header, at, sizeof(header));
		if (header.size < sizeof(header) || header.size > rest)
			return NTRACE_ERR_INVALID;
		at += header.size;
		rest -= header.size;
	}
	if (start(writer) || writer_put(writer, records, size))
		return NTRACE_ERR_IO;
	writer->data_size += size;
	return 0;
}

int ntrace_perf_writer_sideband(struct ntrace_perf_writer *writer,
				const struct ntrace_sideband *sideband)
{
	const struct writer_event *event = writer->event_count ? &writer->events[0] : NULL;
	uint64_t sample_type = 0, id = 0;
	size_t size;

	if (event && event->attr->sample_id_all) {
		sample_type = event->attr->sample_type;
		id = event->id_count ? event->ids[0] : 0;
		/* The id is the only field that distinguishes events of these types. */
		if (sideband->type == NTRACE_SIDEBAND_AUX ||
		    sideband->type == NTRACE_SIDEBAND_ITRACE_START)
			id = sideband->id;
	}
	size = record_build(sideband, sample_type, id, writer->record, sizeof(writer->record));
	if (!size)
		return NTRACE_ERR_INVALID;
	return ntrace_perf_writer_records(writer, writer->record, size);
}

int ntrace_perf_writer_finish_round(struct ntrace_perf_writer *writer)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_FINISHED_ROUND,
		.size = sizeof(header),
	};

	return ntrace_perf_writer_records(writer, &header, sizeof(header));
}

int ntrace_perf_writer_flush(struct ntrace_perf_writer *writer)
{
	if (!start(writer) && fflush(writer->file))
		writer->error = errno;
	if (writer->error)
		errno = writer->error;
	return writer->error ? NTRACE_ERR_IO : 0;
}

static void free_writer(struct ntrace_perf_writer *writer)
{
	size_t i;

	for (i = 0; i < writer->event_count; i++) {
		free(writer->events[i].attr);
		free(writer->events[i].ids);
		free(writer->events[i].name);
	}
	free(writer->events);
	for (i = 0; i < writer->build_id_count; i++)
		free(writer->build_ids[i].path);
	free(writer->build_ids);
	writer_free_features(writer);
	free(writer);
}

int ntrace_perf_writer_close(struct ntrace_perf_writer *writer)
{
	int error;

	if (!writer)
		return 0;
	start(writer);
	writer_put_features(writer);
	writer_rewrite_header(writer);
	if (fclose(writer->file) && !writer->error)
		writer->error = errno;
	error = writer->error;
	free_writer(writer);
	if (error)
		errno = error;
	return error ? NTRACE_ERR_IO : 0;
}
