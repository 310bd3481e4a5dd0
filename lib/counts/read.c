// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reads counts files, and refuses whatever the writer would not have written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format.h"
#include "grow.h"

/*
 * @offset: of the next byte of the file
 * @record: offset of the record being read, or of the value that cannot be used
 * @group: the group of the entries; valid if @in_group
 * @entry: the last entry; valid if @group_entries
 * @group_entries: number of entries of the group so far
 * @count: number of entries in @block, of which @used have been returned
 * @short_block: the last block was not full: none may follow it
 * @version: of the file
 * @only_end: the last record must be followed by the end
 * @sources: streams of recordings; after them come neither groups nor entries
 * @short_sources: the last record of sources was not full
 */
struct ntrace_counts_reader {
	FILE *file;
	uint64_t offset;
	uint64_t record;
	const char *reason;
	int error;
	uint32_t crc;
	struct ntrace_counts_group group;
	struct counts_texts texts;
	struct ntrace_counts_group next_group;
	struct counts_texts next_texts;
	struct ntrace_counts_entry entry;
	struct ntrace_counts_totals totals;
	uint64_t group_entries;
	uint32_t count;
	uint32_t used;
	bool in_group;
	bool short_block;
	unsigned int version;
	bool only_end;
	struct ntrace_counts_source *sources;
	size_t source_count, source_room;
	bool short_sources;
	bool started;
	bool ended;
	uint8_t bytes[BLOCK_ENTRIES * ENTRY_SIZE > GROUP_MAX ? BLOCK_ENTRIES *ENTRY_SIZE :
							       GROUP_MAX];
};

int ntrace_counts_reader_new(struct ntrace_counts_reader **reader, FILE *file)
{
	*reader = calloc(1, sizeof(**reader));
	if (!*reader)
		return NTRACE_ERR_NOMEM;
	(*reader)->file = file;
	(*reader)->crc = (uint32_t)crc32(0, NULL, 0);
	return 0;
}

void ntrace_counts_reader_free(struct ntrace_counts_reader *reader)
{
	if (reader)
		free(reader->sources);
	free(reader);
}

const char *ntrace_counts_reader_problem(const struct ntrace_counts_reader *reader,
					 uint64_t *offset)
{
	if (offset)
		*offset = reader->record;
	return reader->reason;
}

const struct ntrace_counts_losses *
ntrace_counts_reader_losses(const struct ntrace_counts_reader *reader)
{
	static const struct ntrace_counts_losses none;

	return reader->ended ? &reader->totals.losses : &none;
}

const struct ntrace_counts_source *
ntrace_counts_reader_sources(const struct ntrace_counts_reader *reader, size_t *count)
{
	*count = reader->ended ? reader->source_count : 0;
	return reader->ended ? reader->sources : NULL;
}

static int refuse(struct ntrace_counts_reader *reader, uint64_t offset, int error,
		  const char *reason)
{
	reader->record = offset;
	reader->reason = reason;
	reader->error = error;
	return error;
}

static int bad(struct ntrace_counts_reader *reader, const char *reason)
{
	return refuse(reader, reader->record, NTRACE_ERR_FORMAT, reason);
}

/* Reads all of @size bytes. */
static int take(struct ntrace_counts_reader *reader, uint8_t *bytes, size_t size)
{
	size_t got;

	errno = 0;
	got = fread(bytes, 1, size, reader->file);
	reader->offset += got;
	if (got == size)
		return 0;
	if (ferror(reader->file)) {
		reader->error = NTRACE_ERR_IO;
		return reader->error;
	}
	return refuse(reader, reader->offset, NTRACE_ERR_TRUNCATED, "the file ends too early");
}

/* Reads bytes that the CRC covers. */
static int take_checked(struct ntrace_counts_reader *reader, uint8_t *bytes, size_t size)
{
	int error = take(reader, bytes, size);

	if (!error)
		reader->crc = (uint32_t)crc32(reader->crc, bytes, (unsigned int)size);
	return error;
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
	while (size)
		if (bytes[--size])
			return false;
	return true;
}

static int read_header(struct ntrace_counts_reader *reader)
{
	uint8_t header[FILE_HEADER];
	int error = take_checked(reader, header, sizeof(header));

	if (error == NTRACE_ERR_TRUNCATED && reader->offset < 8)
		return refuse(reader, 0, NTRACE_ERR_FORMAT, "not a counts file");
	if (error)
		return error;
	if (memcmp(header, NTRACE_COUNTS_MAGIC, 8))
		return refuse(reader, 0, NTRACE_ERR_FORMAT, "not a counts file");
	reader->version = (unsigned int)get_number(header + 8, 2);
	if (!reader->version || reader->version > NTRACE_COUNTS_VERSION)
		return refuse(
			reader, 8, NTRACE_ERR_UNSUPPORTED,
			"another version of counts files: this library reads versions 1 to 4");
	if (get_number(header + 10, 2) != ENTRY_SIZE)
		return refuse(reader, 10, NTRACE_ERR_FORMAT, "the size of an entry is not 40");
	if (!all_zero(header + 12, 4))
		return refuse(reader, 12, NTRACE_ERR_FORMAT, "reserved bytes are not 0");
	return 0;
}

/* Parses the fixed part of an object. @version: of the file; @name_size: length of its name */
static const char *parse_object(const uint8_t *at, unsigned int version,
				struct ntrace_counts_object *object, uint8_t *build_id,
				size_t *name_size)
{
	size_t used = at[OBJECT_ID_SIZE];

	*name_size = (size_t)get_number(at + OBJECT_NAME_SIZE, 2);
	object->build_id_size = used;
	object->text = get_number(at + OBJECT_TEXT, 8);
	object->contents = 0;
	if (!used && version > 3) {
		used = 8;
		object->contents = get_number(at + OBJECT_ID, 8);
	}
	object->build_id = build_id;
	memcpy(build_id, at + OBJECT_ID, NTRACE_BUILD_ID_MAX);
	if (at[OBJECT_PRESENT] > 1)
		return "an object is neither known nor unknown";
	if (object->build_id_size > NTRACE_BUILD_ID_MAX)
		return "a build-id is too long";
	if (!all_zero(build_id + used, NTRACE_BUILD_ID_MAX - used))
		return "the bytes after a build-id are not 0";
	if (*name_size > NTRACE_COUNTS_NAME_MAX)
		return "the name of an object is too long";
	if (!at[OBJECT_PRESENT] && *name_size)
		return "an unknown object has a name";
	return NULL;
}

static bool take_text(char *text, const uint8_t *bytes, size_t size)
{
	memcpy(text, bytes, size);
	text[size] = '\0';
	return !memchr(bytes, 0, size);
}

static const char *take_group(struct ntrace_counts_reader *reader, size_t size)
{
	struct ntrace_counts_group *group = &reader->next_group;
	struct counts_texts *texts = &reader->next_texts;
	const uint8_t *at = reader->bytes;
	size_t name, from_name, label = at[GROUP_LABEL_SIZE];
	const char *reason =
		parse_object(at, reader->version, &group->object, texts->build_id, &name);

	if (!reason)
		reason = parse_object(at + OBJECT_SIZE, reader->version, &group->from_object,
				      texts->from_build_id, &from_name);
	if (reason)
		return reason;
	if (size != GROUP_FIXED + name + from_name + label)
		return "the size of a group is not that of its names";
	if (!all_zero(at + GROUP_RESERVED, GROUP_FIXED - GROUP_RESERVED))
		return "reserved bytes are not 0";
	if (!take_text(texts->name, at + GROUP_FIXED, name) ||
	    !take_text(texts->from_name, at + GROUP_FIXED + name, from_name) ||
	    !take_text(texts->label, at + GROUP_FIXED + name + from_name, label))
		return "a name contains a NUL";
	group->object.name = at[OBJECT_PRESENT] ? texts->name : NULL;
	group->from_object.name = at[OBJECT_SIZE + OBJECT_PRESENT] ? texts->from_name : NULL;
	group->label = texts->label;
	group->privilege = at[GROUP_PRIVILEGE];
	reason = counts_check_group(group);
	if (!reason && reader->in_group &&
	    ntrace_counts_compare(&reader->group, NULL, group, NULL) >= 0)
		reason = "a group is out of order";
	return reason;
}

static int read_group(struct ntrace_counts_reader *reader, uint32_t size)
{
	const char *reason;
	int error;

	if (reader->in_group && !reader->group_entries)
		return bad(reader, "a group has no entries");
	if (size < GROUP_FIXED || size > GROUP_MAX)
		return bad(reader, "the size of a group is not that of its names");
	error = take_checked(reader, reader->bytes, size);
	if (error)
		return error;
	reason = take_group(reader, size);
	if (reason)
		return bad(reader, reason);
	counts_copy_group(&reader->group, &reader->texts, &reader->next_group);
	reader->in_group = true;
	reader->short_block = false;
	reader->group_entries = 0;
	reader->totals.groups++;
	return 0;
}

static int read_block(struct ntrace_counts_reader *reader, uint32_t count)
{
	if (!reader->in_group)
		return bad(reader, "entries come before a group");
	if (reader->short_block)
		return bad(reader, "entries follow a block that is not full");
	if (!count || count > BLOCK_ENTRIES)
		return bad(reader, "the number of entries is not between 1 and 1024");
	if (take_checked(reader, reader->bytes, (size_t)count * ENTRY_SIZE))
		return reader->error;
	reader->used = 0;
	reader->count = count;
	reader->short_block = count < BLOCK_ENTRIES;
	return 0;
}

static int read_losses(struct ntrace_counts_reader *reader, uint32_t size)
{
	struct ntrace_counts_losses *losses = &reader->totals.losses;
	uint8_t bytes[LOSSES_SAMPLED] = { 0 };
	int error;

	if (size != LOSSES_SIZE && (size != LOSSES_SAMPLED || reader->version < 4))
		return bad(reader, "the size of losses is not 32, or 40");
	if (reader->in_group && !reader->group_entries)
		return bad(reader, "a group has no entries");
	error = take_checked(reader, bytes, size);
	if (error)
		return error;
	losses->lost = get_number(bytes, 8);
	losses->at_least = get_number(bytes + 8, 8);
	losses->gaps = get_number(bytes + 16, 8);
	losses->unknown = get_number(bytes + 24, 8);
	losses->sampled = get_number(bytes + LOSSES_SIZE, 8);
	if (!any_losses(losses) || (size > LOSSES_SIZE && !losses->sampled))
		return bad(reader, "there are no losses");
	reader->only_end = true;
	return 0;
}

static int add_source(struct ntrace_counts_reader *reader, const uint8_t *bytes)
{
	struct ntrace_counts_source source = { .part = (uint32_t)get_number(bytes + 16, 4),
					       .parts = (uint32_t)get_number(bytes + 20, 4) };
	const struct ntrace_counts_source *last = reader->sources + reader->source_count;
	void *sources = reader->sources;
	const char *reason;
	int error;

	memcpy(source.id, bytes, sizeof(source.id));
	if (reader->version > 3)
		source.selection = get_number(bytes + 24, 8);
	reason = counts_check_source(&source);
	if (!reason && reader->source_count &&
	    memcmp((last - 1)->id, source.id, sizeof(source.id)) >= 0)
		reason = "a source is out of order";
	if (reason)
		return bad(reader, reason);
	error = grow(&sources, reader->source_count, &reader->source_room, sizeof(source));
	reader->sources = sources;
	if (error) {
		reader->error = error;
		return error;
	}
	reader->sources[reader->source_count++] = source;
	return 0;
}

static int read_sources(struct ntrace_counts_reader *reader, uint32_t count)
{
	size_t size = reader->version > 3 ? SOURCE_SIZE : SOURCE_SIZE_V3;
	int error;

	if (reader->in_group && !reader->group_entries)
		return bad(reader, "a group has no entries");
	if (reader->short_sources)
		return bad(reader, "sources follow a record of sources that is not full");
	if (!count || count > BLOCK_ENTRIES)
		return bad(reader, "the number of sources is not between 1 and 1024");
	error = take_checked(reader, reader->bytes, count * size);
	for (uint32_t i = 0; i < count && !error; i++)
		error = add_source(reader, reader->bytes + i * size);
	reader->short_sources = count < BLOCK_ENTRIES;
	return error;
}

static int read_end(struct ntrace_counts_reader *reader, uint32_t number)
{
	const struct ntrace_counts_totals *totals = &reader->totals;
	uint8_t end[END_SIZE];
	int error;

	if (number)
		return bad(reader, "reserved bytes are not 0");
	if (reader->in_group && !reader->group_entries)
		return bad(reader, "a group has no entries");
	error = take_checked(reader, end, 24);
	if (!error)
		error = take(reader, end + 24, END_SIZE - 24);
	if (error)
		return error;
	if (get_number(end, 8) != totals->groups || get_number(end + 8, 8) != totals->entries ||
	    get_number(end + 16, 8) != totals->saturated)
		return bad(reader, "the totals are not those of the entries");
	if (get_number(end + 24, 4) != reader->crc)
		return bad(reader, "the checksum is wrong: the file is damaged");
	if (!all_zero(end + 28, 4))
		return bad(reader, "reserved bytes are not 0");
	if (getc(reader->file) != EOF)
		return refuse(reader, reader->offset, NTRACE_ERR_FORMAT,
			      "bytes follow the end of the file");
	if (reader->version == 1)
		reader->totals.losses.unknown = 1;
	reader->ended = true;
	return 0;
}

static int read_record(struct ntrace_counts_reader *reader)
{
	static const uint8_t last[] = { 0, RECORD_END, RECORD_LOSSES, RECORD_SOURCES,
					RECORD_SOURCES };
	uint8_t header[RECORD_HEADER];
	uint32_t number;
	int error;

	reader->record = reader->offset;
	error = take_checked(reader, header, sizeof(header));
	if (error)
		return error;
	if (!all_zero(header + 1, 3))
		return bad(reader, "reserved bytes are not 0");
	number = (uint32_t)get_number(header + 4, 4);
	if (header[0] > last[reader->version])
		return bad(reader, "the type of a record does not exist");
	if (reader->source_count && (header[0] == RECORD_GROUP || header[0] == RECORD_ENTRIES))
		return bad(reader, "a record follows the sources");
	if (reader->only_end && header[0] != RECORD_END)
		return bad(reader, "a record follows the losses");
	switch (header[0]) {
	case RECORD_GROUP:
		return read_group(reader, number);
	case RECORD_ENTRIES:
		return read_block(reader, number);
	case RECORD_LOSSES:
		return read_losses(reader, number);
	case RECORD_SOURCES:
		return read_sources(reader, number);
	case RECORD_END:
		return read_end(reader, number);
	default:
		return bad(reader, "the type of a record does not exist");
	}
}

static int take_entry(struct ntrace_counts_reader *reader)
{
	const uint8_t *at = reader->bytes + (size_t)reader->used * ENTRY_SIZE;
	const struct ntrace_counts_entry entry = {
		.start = get_number(at, 8),
		.end = get_number(at + 8, 8),
		.from = get_number(at + 16, 8),
		.count = get_number(at + 24, 8),
		.instructions = (uint32_t)get_number(at + 32, 4),
		.from_class = at[36],
		.end_class = at[37],
		.taken = at[38] & 1,
		.reserved = at[39],
	};
	const char *reason = at[38] > 1 ? "reserved bits are not 0" :
					  counts_check_entry(&reader->group, &entry);

	if (!reason && reader->group_entries && counts_compare_entries(&reader->entry, &entry) >= 0)
		reason = "an entry is out of order";
	if (reason)
		return refuse(reader,
			      reader->offset -
				      (uint64_t)(reader->count - reader->used) * ENTRY_SIZE,
			      NTRACE_ERR_FORMAT, reason);
	reader->entry = entry;
	reader->used++;
	reader->group_entries++;
	reader->totals.entries++;
	reader->totals.saturated += entry.count == NTRACE_COUNTS_SATURATED;
	return 1;
}

int ntrace_counts_next(struct ntrace_counts_reader *reader,
		       const struct ntrace_counts_group **group,
		       const struct ntrace_counts_entry **entry)
{
	int error = reader->error;

	*group = &reader->group;
	*entry = &reader->entry;
	if (!error && !reader->started)
		error = read_header(reader);
	reader->started = true;
	while (!error && !reader->ended && reader->used == reader->count)
		error = read_record(reader);
	if (error || reader->ended)
		return error;
	return take_entry(reader);
}

bool counts_begins_group(const struct ntrace_counts_reader *reader)
{
	return reader->group_entries == 1;
}
