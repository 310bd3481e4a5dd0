// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes counts files. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format.h"
#include "grow.h"

/*
 * @group: the group being written; valid if @in_group
 * @last: the entry added last: the next may be equal; valid if @in_group
 * @block: entries of the group that are not written yet, without @last
 * @sources: streams of recordings, written at the end
 * @crc: CRC-32 of all bytes written
 */
struct ntrace_counts_writer {
	FILE *file;
	struct ntrace_counts_group group;
	struct counts_texts texts;
	struct ntrace_counts_entry last;
	struct ntrace_counts_totals totals;
	struct ntrace_counts_source *sources;
	size_t source_count, source_room;
	bool in_group;
	int error;
	uint32_t crc;
	uint32_t used;
	uint8_t block[RECORD_HEADER + BLOCK_ENTRIES * ENTRY_SIZE];
};

static int write_bytes(struct ntrace_counts_writer *writer, const uint8_t *bytes, size_t size)
{
	writer->crc = (uint32_t)crc32(writer->crc, bytes, (unsigned int)size);
	if (!writer->error && fwrite(bytes, 1, size, writer->file) != size)
		writer->error = NTRACE_ERR_IO;
	return writer->error;
}

int ntrace_counts_writer_new(struct ntrace_counts_writer **writer, FILE *file)
{
	struct ntrace_counts_writer *made = calloc(1, sizeof(*made));
	uint8_t header[FILE_HEADER] = NTRACE_COUNTS_MAGIC;
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->file = file;
	made->crc = (uint32_t)crc32(0, NULL, 0);
	put_number(header + 8, NTRACE_COUNTS_VERSION, 2);
	put_number(header + 10, ENTRY_SIZE, 2);
	error = write_bytes(made, header, sizeof(header));
	if (error) {
		free(made);
		return error;
	}
	*writer = made;
	return 0;
}

void ntrace_counts_writer_free(struct ntrace_counts_writer *writer)
{
	if (writer)
		free(writer->sources);
	free(writer);
}

static void put_record(uint8_t *at, unsigned int type, uint32_t number)
{
	memset(at, 0, RECORD_HEADER);
	at[0] = (uint8_t)type;
	put_number(at + 4, number, 4);
}

static int write_block(struct ntrace_counts_writer *writer)
{
	uint32_t count = writer->used;

	if (!count)
		return 0;
	writer->used = 0;
	put_record(writer->block, RECORD_ENTRIES, count);
	return write_bytes(writer, writer->block, RECORD_HEADER + (size_t)count * ENTRY_SIZE);
}

static int put_entry(struct ntrace_counts_writer *writer, const struct ntrace_counts_entry *entry)
{
	uint8_t *at = writer->block + RECORD_HEADER + (size_t)writer->used * ENTRY_SIZE;

	put_number(at, entry->start, 8);
	put_number(at + 8, entry->end, 8);
	put_number(at + 16, entry->from, 8);
	put_number(at + 24, entry->count, 8);
	put_number(at + 32, entry->instructions, 4);
	at[36] = entry->from_class;
	at[37] = entry->end_class;
	at[38] = entry->taken;
	at[39] = 0;
	writer->totals.entries++;
	writer->totals.saturated += entry->count == NTRACE_COUNTS_SATURATED;
	return ++writer->used == BLOCK_ENTRIES ? write_block(writer) : 0;
}

/* Return: length of the name. */
static size_t put_object(uint8_t *at, const struct ntrace_counts_object *object)
{
	size_t length = object->name ? strlen(object->name) : 0;

	memset(at, 0, OBJECT_SIZE);
	if (!object->name)
		return 0;
	at[OBJECT_ID_SIZE] = (uint8_t)object->build_id_size;
	at[OBJECT_PRESENT] = 1;
	put_number(at + OBJECT_NAME_SIZE, length, 2);
	put_number(at + OBJECT_TEXT, object->text, 8);
	if (object->build_id_size)
		memcpy(at + OBJECT_ID, object->build_id, object->build_id_size);
	else
		put_number(at + OBJECT_ID, object->contents, 8);
	return length;
}

static int write_group(struct ntrace_counts_writer *writer)
{
	const struct ntrace_counts_group *group = &writer->group;
	uint8_t record[RECORD_HEADER + GROUP_MAX], *at = record + RECORD_HEADER;
	size_t name = put_object(at, &group->object);
	size_t from_name = put_object(at + OBJECT_SIZE, &group->from_object);
	size_t label = strlen(group->label), size = GROUP_FIXED + name + from_name + label;

	put_record(record, RECORD_GROUP, (uint32_t)size);
	memset(at + GROUP_PRIVILEGE, 0, GROUP_FIXED - GROUP_PRIVILEGE);
	at[GROUP_PRIVILEGE] = (uint8_t)group->privilege;
	at[GROUP_LABEL_SIZE] = (uint8_t)label;
	at += GROUP_FIXED;
	if (name)
		memcpy(at, group->object.name, name);
	if (from_name)
		memcpy(at + name, group->from_object.name, from_name);
	memcpy(at + name + from_name, group->label, label);
	writer->totals.groups++;
	return write_bytes(writer, record, RECORD_HEADER + size);
}

static int end_group(struct ntrace_counts_writer *writer)
{
	int error;

	if (!writer->in_group)
		return 0;
	writer->in_group = false;
	error = put_entry(writer, &writer->last);
	return error ? error : write_block(writer);
}

static int begin_group(struct ntrace_counts_writer *writer, const struct ntrace_counts_group *group)
{
	int error;

	if (counts_check_group(group))
		return NTRACE_ERR_INVALID;
	error = end_group(writer);
	if (error)
		return error;
	counts_copy_group(&writer->group, &writer->texts, group);
	writer->in_group = true;
	return write_group(writer);
}

int ntrace_counts_put(struct ntrace_counts_writer *writer, const struct ntrace_counts_group *group,
		      const struct ntrace_counts_entry *entry)
{
	int order, error;

	if (writer->error)
		return writer->error;
	if (counts_check_entry(group, entry))
		return NTRACE_ERR_INVALID;
	order = writer->in_group ? ntrace_counts_compare(&writer->group, NULL, group, NULL) : -1;
	if (order > 0)
		return NTRACE_ERR_INVALID;
	if (order < 0) {
		error = begin_group(writer, group);
		if (error)
			return error;
	} else {
		order = counts_compare_entries(&writer->last, entry);
		if (order > 0)
			return NTRACE_ERR_INVALID;
		if (!order) {
			writer->last.count = add_counts(writer->last.count, entry->count);
			return 0;
		}
		error = put_entry(writer, &writer->last);
		if (error)
			return error;
	}
	writer->last = *entry;
	return 0;
}

void ntrace_counts_put_losses(struct ntrace_counts_writer *writer,
			      const struct ntrace_counts_losses *losses)
{
	add_losses(&writer->totals.losses, losses);
}

int ntrace_counts_put_source(struct ntrace_counts_writer *writer,
			     const struct ntrace_counts_source *source)
{
	void *sources = writer->sources;
	size_t count = writer->source_count;
	int error;

	if (counts_check_source(source) ||
	    (count && memcmp(writer->sources[count - 1].id, source->id, sizeof(source->id)) >= 0))
		return NTRACE_ERR_INVALID;
	error = grow(&sources, count, &writer->source_room, sizeof(*source));
	writer->sources = sources;
	if (!error)
		writer->sources[writer->source_count++] = *source;
	return error;
}

static int write_sources(struct ntrace_counts_writer *writer)
{
	int error = 0;

	for (size_t at = 0; at < writer->source_count && !error; at += BLOCK_ENTRIES) {
		size_t left = writer->source_count - at, i;
		size_t count = left < BLOCK_ENTRIES ? left : BLOCK_ENTRIES;

		put_record(writer->block, RECORD_SOURCES, (uint32_t)count);
		for (i = 0; i < count; i++) {
			const struct ntrace_counts_source *source = &writer->sources[at + i];
			uint8_t *bytes = writer->block + RECORD_HEADER + i * SOURCE_SIZE;

			memcpy(bytes, source->id, sizeof(source->id));
			put_number(bytes + 16, source->part, 4);
			put_number(bytes + 20, source->parts, 4);
			put_number(bytes + 24, source->selection, 8);
		}
		error = write_bytes(writer, writer->block, RECORD_HEADER + count * SOURCE_SIZE);
	}
	return error;
}

static int write_losses(struct ntrace_counts_writer *writer)
{
	const struct ntrace_counts_losses *losses = &writer->totals.losses;
	uint8_t record[RECORD_HEADER + LOSSES_SAMPLED], *at = record + RECORD_HEADER;
	uint32_t size = losses->sampled ? LOSSES_SAMPLED : LOSSES_SIZE;

	if (!any_losses(losses))
		return 0;
	put_record(record, RECORD_LOSSES, size);
	put_number(at, losses->lost, 8);
	put_number(at + 8, losses->at_least, 8);
	put_number(at + 16, losses->gaps, 8);
	put_number(at + 24, losses->unknown, 8);
	put_number(at + LOSSES_SIZE, losses->sampled, 8);
	return write_bytes(writer, record, RECORD_HEADER + size);
}

int ntrace_counts_writer_end(struct ntrace_counts_writer *writer,
			     struct ntrace_counts_totals *totals)
{
	uint8_t record[RECORD_HEADER + END_SIZE] = { 0 }, *at = record + RECORD_HEADER;
	int error = writer->error;

	if (!error)
		error = end_group(writer);
	if (!error)
		error = write_sources(writer);
	if (!error)
		error = write_losses(writer);
	if (error)
		return error;
	put_record(record, RECORD_END, 0);
	put_number(at, writer->totals.groups, 8);
	put_number(at + 8, writer->totals.entries, 8);
	put_number(at + 16, writer->totals.saturated, 8);
	writer->crc = (uint32_t)crc32(writer->crc, record, RECORD_HEADER + 24);
	put_number(at + 24, writer->crc, 4);
	if (totals)
		*totals = writer->totals;
	return fwrite(record, 1, sizeof(record), writer->file) == sizeof(record) ? 0 :
										   NTRACE_ERR_IO;
}
