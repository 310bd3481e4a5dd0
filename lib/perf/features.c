// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Feature sections of perf.data, which follow the data. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"
#include "struct_size.h"

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void free_copies(struct writer_features *features)
{
	uint32_t i;

	free(features->hostname);
	free(features->release);
	free(features->version);
	free(features->arch);
	for (i = 0; i < features->argc; i++)
		free(features->argv[i]);
	free(features->argv);
	free(features->tracepoints);
	memset(features, 0, sizeof(*features));
}

void writer_free_features(struct ntrace_perf_writer *writer)
{
	free_copies(&writer->features);
}

int ntrace_perf_writer_features(struct ntrace_perf_writer *writer,
				const struct ntrace_perf_features *features)
{
	struct ntrace_perf_features full = { 0 };
	struct writer_features made;
	bool bad;
	uint32_t i;

	if (STRUCT_TAKE(&full, features))
		return NTRACE_ERR_INVALID;
	features = &full;
	made = (struct writer_features){
		.cpus_available = features->cpus_available,
		.cpus_online = features->cpus_online,
		.clock_resolution_ns = features->clock_resolution_ns,
		.branch_stacks = features->branch_stacks,
	};
	made.hostname = copy(features->hostname);
	made.release = copy(features->release);
	made.version = copy(features->version);
	made.arch = copy(features->arch);
	bad = (features->hostname && !made.hostname) || (features->release && !made.release) ||
	      (features->version && !made.version) || (features->arch && !made.arch);
	if (features->tracepoints_size) {
		made.tracepoints = malloc(features->tracepoints_size);
		bad = bad || !made.tracepoints;
	}
	if (made.tracepoints) {
		memcpy(made.tracepoints, features->tracepoints, features->tracepoints_size);
		made.tracepoints_size = features->tracepoints_size;
	}
	if (features->argc) {
		made.argv = calloc(features->argc, sizeof(*made.argv));
		bad = bad || !made.argv;
		for (i = 0; !bad && i < features->argc; i++) {
			made.argv[i] = strdup(features->argv[i]);
			bad = !made.argv[i];
			made.argc = i + 1;
		}
	}
	if (bad) {
		free_copies(&made);
		return NTRACE_ERR_NOMEM;
	}
	free_copies(&writer->features);
	writer->features = made;
	return 0;
}

int ntrace_perf_writer_build_id(struct ntrace_perf_writer *writer, bool kernel, const char *path,
				const uint8_t *build_id, size_t size)
{
	struct writer_build_id *list, *item;

	if (!size || size > sizeof(item->bytes) || strlen(path) > 4096)
		return NTRACE_ERR_INVALID;
	list = realloc(writer->build_ids, (writer->build_id_count + 1) * sizeof(*list));
	if (!list)
		return NTRACE_ERR_NOMEM;
	writer->build_ids = list;
	item = &list[writer->build_id_count];
	memset(item, 0, sizeof(*item));
	item->path = strdup(path);
	if (!item->path)
		return NTRACE_ERR_NOMEM;
	memcpy(item->bytes, build_id, size);
	item->size = (uint8_t)size;
	item->kernel = kernel;
	writer->build_id_count++;
	return 0;
}

static void put_zeros(struct ntrace_perf_writer *writer, size_t size)
{
	static const uint8_t zeros[PERF_NAME_ALIGN];

	writer_put(writer, zeros, size);
}

/* Length with padding, string, padding. */
static void put_text(struct ntrace_perf_writer *writer, const char *text)
{
	size_t length = strlen(text) + 1;
	uint32_t padded =
		(uint32_t)((length + PERF_NAME_ALIGN - 1) & ~(size_t)(PERF_NAME_ALIGN - 1));

	writer_put(writer, &padded, sizeof(padded));
	writer_put(writer, text, length);
	put_zeros(writer, padded - length);
}

static bool put_build_ids(struct ntrace_perf_writer *writer)
{
	size_t i;

	for (i = 0; i < writer->build_id_count; i++) {
		const struct writer_build_id *item = &writer->build_ids[i];
		size_t length = strlen(item->path) + 1;
		size_t padded = (length + PERF_NAME_ALIGN - 1) & ~(size_t)(PERF_NAME_ALIGN - 1);
		struct record_build_id record = {
			/* pid -1: the machine itself */
			.header.type = PERF_RECORD_HEADER_BUILD_ID,
			.header.misc = MISC_BIT_15 | (item->kernel ? PERF_RECORD_MISC_KERNEL :
								     PERF_RECORD_MISC_USER),
			.header.size = (uint16_t)(sizeof(record) + padded),
			.pid = -1,
			.size = item->size,
		};

		memcpy(record.build_id, item->bytes, sizeof(record.build_id));
		writer_put(writer, &record, sizeof(record));
		writer_put(writer, item->path, length);
		put_zeros(writer, padded - length);
	}
	return writer->build_id_count;
}

static bool put_feature_text(struct ntrace_perf_writer *writer, const char *text)
{
	if (text)
		put_text(writer, text);
	return text;
}

static bool put_cpus(struct ntrace_perf_writer *writer)
{
	uint32_t counts[2] = { writer->features.cpus_available, writer->features.cpus_online };

	if (counts[0])
		writer_put(writer, counts, sizeof(counts));
	return counts[0];
}

static bool put_command_line(struct ntrace_perf_writer *writer)
{
	uint32_t i;

	if (!writer->features.argc)
		return false;
	writer_put(writer, &writer->features.argc, sizeof(writer->features.argc));
	for (i = 0; i < writer->features.argc; i++)
		put_text(writer, writer->features.argv[i]);
	return true;
}

static bool put_event_names(struct ntrace_perf_writer *writer)
{
	uint32_t head[2];
	size_t i;

	if (!writer->event_count || !writer->events[0].name[0])
		return false;
	head[0] = (uint32_t)writer->event_count;
	head[1] = writer->events[0].attr->size;
	writer_put(writer, head, sizeof(head));
	for (i = 0; i < writer->event_count; i++) {
		const struct writer_event *event = &writer->events[i];
		uint32_t count = (uint32_t)event->id_count;

		writer_put(writer, event->attr, event->attr->size);
		writer_put(writer, &count, sizeof(count));
		put_text(writer, event->name);
		writer_put(writer, event->ids, 8 * event->id_count);
	}
	return true;
}

static bool put_number(struct ntrace_perf_writer *writer, uint64_t number)
{
	if (number)
		writer_put(writer, &number, sizeof(number));
	return number;
}

/* Writes one feature; false if it has no content. */
static bool put_feature(struct ntrace_perf_writer *writer, unsigned int feature)
{
	const struct writer_features *features = &writer->features;

	switch (feature) {
	case PERF_FEATURE_TRACING_DATA:
		if (features->tracepoints_size)
			writer_put(writer, features->tracepoints, features->tracepoints_size);
		return features->tracepoints_size;
	case PERF_FEATURE_BUILD_ID:
		return put_build_ids(writer);
	case PERF_FEATURE_HOSTNAME:
		return put_feature_text(writer, features->hostname);
	case PERF_FEATURE_OSRELEASE:
		return put_feature_text(writer, features->release);
	case PERF_FEATURE_VERSION:
		return put_feature_text(writer, features->version);
	case PERF_FEATURE_ARCH:
		return put_feature_text(writer, features->arch);
	case PERF_FEATURE_NRCPUS:
		return put_cpus(writer);
	case PERF_FEATURE_CMDLINE:
		return put_command_line(writer);
	case PERF_FEATURE_EVENT_DESC:
		return put_event_names(writer);
	case PERF_FEATURE_BRANCH_STACK:
		return features->branch_stacks;
	case PERF_FEATURE_CLOCKID:
		return put_number(writer, features->clock_resolution_ns);
	default:
		return false;
	}
}

/*
 * The table of sections comes first, with one entry for each bit set, but its length is known last.
 */
int writer_put_features(struct ntrace_perf_writer *writer)
{
	struct perf_file_section sections[PERF_FEATURES];
	uint64_t table_at = writer->data_at + writer->data_size;
	unsigned int feature, count = 0, round;

	for (round = 0; round < 2; round++) {
		if (!writer->error &&
		    fseeko(writer->file, (off_t)(table_at + count * sizeof(sections[0])), SEEK_SET))
			writer->error = errno;
		writer->position = table_at + count * sizeof(sections[0]);
		count = 0;
		/* The first round only counts the features. */
		for (feature = 0; feature < PERF_FEATURES; feature++) {
			uint64_t start = writer->position;

			if (!put_feature(writer, feature))
				continue;
			sections[count++] =
				(struct perf_file_section){ start, writer->position - start };
			writer->feature_bits[feature / 64] |= UINT64_C(1) << feature % 64;
		}
	}
	if (!writer->error && fseeko(writer->file, (off_t)table_at, SEEK_SET))
		writer->error = errno;
	writer->position = table_at;
	return writer_put(writer, sections, count * sizeof(sections[0]));
}
