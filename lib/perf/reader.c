// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reader of perf.data. All sizes and offsets in the file are checked against the size of the file. A directory
 * is a file "data"; perf record --threads adds files data.N, which have records alone. These are mapped after it,
 * so that a position says which byte of which file is meant.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bisect.h"
#include "file.h"
#include "grow.h"
#include "record.h"
#include "regular.h"

static bool inside(const struct ntrace_perf_file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->head && size <= file->head - offset;
}

static int add_event(struct ntrace_perf_file *file, const uint8_t *attr, size_t attr_size,
		     const uint8_t *ids, size_t id_count)
{
	struct perf_event_attr *attrs;
	struct event_id *all;
	size_t i;

	attrs = realloc(file->attrs, (file->attr_count + 1) * sizeof(*attrs));
	if (!attrs)
		return NTRACE_ERR_NOMEM;
	file->attrs = attrs;
	memset(&attrs[file->attr_count], 0, sizeof(*attrs));
	memcpy(&attrs[file->attr_count], attr,
	       attr_size < sizeof(*attrs) ? attr_size : sizeof(*attrs));
	if (id_count) {
		all = realloc(file->ids, (file->id_count + id_count) * sizeof(*all));
		if (!all)
			return NTRACE_ERR_NOMEM;
		file->ids = all;
		for (i = 0; i < id_count; i++) {
			memcpy(&all[file->id_count].id, ids + 8 * i, 8);
			all[file->id_count++].event = file->attr_count;
		}
	}
	file->attr_count++;
	return 0;
}

static int read_attrs(struct ntrace_perf_file *file, const struct perf_file_header *header)
{
	uint64_t attr_size = header->attr_size, at, i;
	uint64_t id_room = file->head / 8; /* ids of all events together, unless events share ids */

	if (attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct perf_file_section) ||
	    attr_size > 65536 || !inside(file, header->attrs.offset, header->attrs.size))
		return NTRACE_ERR_FORMAT;
	attr_size -= sizeof(struct perf_file_section);
	for (i = 0; i < header->attrs.size / header->attr_size; i++) {
		struct perf_file_section ids;
		int error;

		at = header->attrs.offset + i * header->attr_size;
		memcpy(&ids, file->bytes + at + attr_size, sizeof(ids));
		if (!inside(file, ids.offset, ids.size) || ids.size / 8 > id_room)
			return NTRACE_ERR_FORMAT;
		id_room -= ids.size / 8;
		error = add_event(file, file->bytes + at, attr_size, file->bytes + ids.offset,
				  ids.size / 8);
		if (error)
			return error;
	}
	return 0;
}

/* A length, then a padded string. */
static void take_text(struct ntrace_perf_file *file, uint64_t feature, const uint8_t *bytes,
		      uint64_t size)
{
	uint32_t length;

	if (feature < NTRACE_PERF_HOSTNAME || feature > NTRACE_PERF_ARCH || file->texts[feature] ||
	    size < sizeof(length))
		return;
	memcpy(&length, bytes, sizeof(length));
	if (length > size - sizeof(length))
		return;
	file->texts[feature] = strndup((const char *)bytes + sizeof(length), length);
}

/* Adds an entry of the BUILD_ID table; one that is damaged, or of the kernel, is left out. */
static int take_build_id(struct ntrace_perf_file *file, const uint8_t *bytes, size_t size)
{
	struct record_build_id record;
	struct file_build_id *entry;
	int error;

	if (size <= sizeof(record))
		return 0;
	memcpy(&record, bytes, sizeof(record));
	if (record.header.type != PERF_RECORD_HEADER_BUILD_ID ||
	    (record.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return 0;
	error = grow((void **)&file->build_ids, file->build_id_count, &file->build_id_room,
		     sizeof(*entry));
	if (error)
		return error;
	entry = &file->build_ids[file->build_id_count];
	entry->size = record.header.misc & MISC_BIT_15 ? record.size : sizeof(record.build_id);
	if (!entry->size || entry->size > sizeof(record.build_id))
		return 0;
	memcpy(entry->bytes, record.build_id, sizeof(entry->bytes));
	entry->path = (const char *)bytes + sizeof(record);
	entry->length = strnlen(entry->path, size - sizeof(record));
	file->build_id_count++;
	return 0;
}

static int take_build_ids(struct ntrace_perf_file *file, const uint8_t *bytes, uint64_t size)
{
	struct perf_event_header header;
	int error = 0;

	while (!error && size >= sizeof(header)) {
		memcpy(&header, bytes, sizeof(header));
		if (header.size < sizeof(header) || header.size > size)
			break;
		error = take_build_id(file, bytes, header.size);
		bytes += header.size;
		size -= header.size;
	}
	return error;
}

static int compare_paths(const char *left, size_t left_length, const char *right,
			 size_t right_length)
{
	size_t both = left_length < right_length ? left_length : right_length;
	int order = memcmp(left, right, both);

	return order || left_length == right_length ? order : left_length < right_length ? -1 : 1;
}

static int compare_build_ids(const void *left, const void *right)
{
	const struct file_build_id *a = left, *b = right;
	int order = compare_paths(a->path, a->length, b->path, b->length);

	return order ? order : a->path < b->path ? -1 : a->path > b->path;
}

/* perf record puts no build-id into its mappings before Linux 6.18; the table has those of all files. */
static void add_build_id(const struct ntrace_perf_file *file, struct ntrace_sideband *sideband)
{
	size_t low = 0, length = strlen(sideband->name);

	BISECT(low, file->build_id_count, middle,
	       compare_paths(file->build_ids[middle].path, file->build_ids[middle].length,
			     sideband->name, length) < 0);
	if (low == file->build_id_count ||
	    compare_paths(file->build_ids[low].path, file->build_ids[low].length, sideband->name,
			  length))
		return;
	sideband->build_id_size = file->build_ids[low].size;
	memcpy(sideband->build_id, file->build_ids[low].bytes, sizeof(sideband->build_id));
}

static int take_feature(struct ntrace_perf_file *file, uint64_t feature, const uint8_t *bytes,
			uint64_t size)
{
	if (feature == PERF_FEATURE_BUILD_ID)
		return take_build_ids(file, bytes, size);
	take_text(file, feature, bytes, size);
	return perf_file_read_pmus(file, feature, bytes, size);
}

static int read_features(struct ntrace_perf_file *file, const struct perf_file_header *header)
{
	uint64_t at = file->data_end;
	unsigned int feature;
	int error = 0;

	for (feature = 0; feature < PERF_FEATURES && !error; feature++) {
		struct perf_file_section section;

		if (!(header->features[feature / 64] >> feature % 64 & 1))
			continue;
		if (!inside(file, at, sizeof(section)))
			break;
		memcpy(&section, file->bytes + at, sizeof(section));
		at += sizeof(section);
		if (inside(file, section.offset, section.size))
			error = take_feature(file, feature, file->bytes + section.offset,
					     section.size);
	}
	return error;
}

/*
 * Whether the table of features follows the data, which begins with its first section. perf record announces features
 * at the start, and writes the table at the end: where it was killed, a record is there, whose size makes it no place
 * in a file.
 */
static bool has_features(const struct ntrace_perf_file *file, const struct perf_file_header *header)
{
	struct perf_file_section section;
	bool announced = false;

	for (size_t i = 0; i < PERF_FEATURES / 64; i++)
		announced |= header->features[i] != 0;
	if (!announced || !inside(file, file->data_end, sizeof(section)))
		return false;
	memcpy(&section, file->bytes + file->data_end, sizeof(section));
	return section.offset && inside(file, section.offset, section.size);
}

/* Output of perf record -o -: attrs and features are records. */
static int take_pipe_record(void *data, const struct ntrace_perf_record *record)
{
	struct ntrace_perf_file *file = data;
	size_t body = record->size - sizeof(struct perf_event_header);
	const uint8_t *bytes = record->data + sizeof(struct perf_event_header);
	uint64_t feature;
	uint32_t attr_size;

	if (record->type == PERF_RECORD_HEADER_FEATURE && body >= sizeof(feature)) {
		memcpy(&feature, bytes, sizeof(feature));
		return take_feature(file, feature, bytes + sizeof(feature), body - sizeof(feature));
	}
	if (record->type == PERF_RECORD_HEADER_BUILD_ID)
		return take_build_id(file, record->data, record->size);
	if (record->type == PERF_RECORD_COMPRESSED || record->type == PERF_RECORD_COMPRESSED2)
		file->compressed = true;
	if (record->type != PERF_RECORD_HEADER_ATTR || body < PERF_ATTR_SIZE_VER0)
		return 0;
	memcpy(&attr_size, bytes + 4, sizeof(attr_size)); /* perf_event_attr.size */
	if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > body)
		return 0;
	return add_event(file, bytes, attr_size, bytes + attr_size, (body - attr_size) / 8);
}

static int compare_ids(const void *left, const void *right)
{
	const struct event_id *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

static uint64_t event_trailer(const struct perf_event_attr *attr)
{
	return attr->sample_id_all ? attr->sample_type & TRAILER_BITS : 0;
}

static void index_events(struct ntrace_perf_file *file)
{
	unsigned int i;

	if (file->build_id_count)
		qsort(file->build_ids, file->build_id_count, sizeof(*file->build_ids),
		      compare_build_ids);
	if (file->id_count)
		qsort(file->ids, file->id_count, sizeof(*file->ids), compare_ids);
	file->same_trailer = true;
	for (i = 1; i < file->attr_count; i++) {
		if (event_trailer(&file->attrs[i]) != event_trailer(&file->attrs[0]))
			file->same_trailer = false;
	}
}

static int read_file(struct ntrace_perf_file *file)
{
	struct perf_file_header header;
	int error;

	if (file->head < PERF_PIPE_HEADER_SIZE)
		return NTRACE_ERR_FORMAT;
	memset(&header, 0, sizeof(header));
	memcpy(&header, file->bytes, file->head < sizeof(header) ? file->head : sizeof(header));
	if (header.magic == PERF_FILE_MAGIC_SWAPPED)
		return NTRACE_ERR_UNSUPPORTED;
	if (header.magic != PERF_FILE_MAGIC)
		return NTRACE_ERR_FORMAT;
	if (header.size == PERF_PIPE_HEADER_SIZE) {
		file->pipe = true;
		file->data_at = PERF_PIPE_HEADER_SIZE;
		file->data_end = file->head;
		error = ntrace_perf_file_records(file, take_pipe_record, file);
		if (error && error != NTRACE_ERR_TRUNCATED)
			return error;
	} else {
		if (file->head < sizeof(header) || header.data.offset > file->head)
			return NTRACE_ERR_FORMAT;
		error = read_attrs(file, &header);
		if (error)
			return error;
		file->data_at = header.data.offset;
		file->unfinished = !inside(file, header.data.offset, header.data.size);
		file->data_end = header.data.offset + header.data.size;
		/* A file without records is still complete if it has features. */
		if (!header.data.size)
			file->unfinished = !has_features(file, &header);
		if (file->unfinished)
			file->data_end = file->head;
		error = file->unfinished ? 0 : read_features(file, &header);
		if (error)
			return error;
		/* Without features, compression is unknown. */
		file->compressed = file->unfinished ||
				   header.features[0] >> PERF_FEATURE_COMPRESSED & 1;
	}
	index_events(file);
	return file->compressed ? perf_file_expand(file) : 0;
}

#define NAME_ROOM 4096

/* "data" or "data.N" of a directory, @number from 1; the file itself is number 0. */
static bool name_file(char *name, const char *path, bool directory, size_t number)
{
	int made;

	if (number)
		made = snprintf(name, NAME_ROOM, "%s/data.%zu", path, number - 1);
	else
		made = snprintf(name, NAME_ROOM, "%s%s", path, directory ? "/data" : "");
	errno = ENAMETOOLONG;
	return made < NAME_ROOM;
}

/* Maps a file into the address space that is reserved from @at on, or as much of it as there was. */
static int map_part(struct ntrace_perf_file *file, const char *name, uint64_t at, uint64_t *size)
{
	struct stat st;
	int fd, error = open_regular(name, &fd, &st);

	if (error)
		return error;
	if ((uint64_t)st.st_size < *size)
		*size = (uint64_t)st.st_size;
	if (*size && mmap((void *)(uintptr_t)(file->bytes + at), *size, PROT_READ,
			  MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		error = NTRACE_ERR_IO;
	close(fd);
	return error;
}

/* Sizes of the files, from file->head on; they begin at pages. */
static int measure(struct ntrace_perf_file *file, const char *path, bool directory)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char name[NAME_ROOM];
	struct stat st;

	for (size_t i = 0;; i++) {
		struct thread_part *threads;
		uint64_t at = (file->size + page - 1) & -page;

		if (!name_file(name, path, directory, i))
			return NTRACE_ERR_IO;
		if (stat(name, &st))
			return i ? 0 : NTRACE_ERR_IO;
		if (!S_ISREG(st.st_mode) || (!i && !st.st_size))
			return NTRACE_ERR_FORMAT;
		file->size = at + (uint64_t)st.st_size;
		if (!i)
			file->head = file->size;
		if (!directory)
			return 0;
		if (!i)
			continue;
		threads = realloc(file->threads, i * sizeof(*threads));
		if (!threads)
			return NTRACE_ERR_NOMEM;
		file->threads = threads;
		threads[file->thread_count++] = (struct thread_part){ at, file->size };
	}
}

static int map(struct ntrace_perf_file *file, const char *path)
{
	bool directory;
	char name[NAME_ROOM];
	struct stat st;
	void *bytes;
	int error;

	directory = !stat(path, &st) && S_ISDIR(st.st_mode);
	error = measure(file, path, directory);
	if (error)
		return error;
	bytes = mmap(NULL, file->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return NTRACE_ERR_IO;
	file->bytes = bytes;
	for (size_t i = 0; !error && i <= file->thread_count; i++) {
		struct thread_part *thread = i ? &file->threads[i - 1] : NULL;
		uint64_t at = thread ? thread->at : 0;
		uint64_t size = thread ? thread->end - at : file->head;

		if (!name_file(name, path, directory, i))
			return NTRACE_ERR_IO;
		error = map_part(file, name, at, &size);
		if (thread)
			thread->end = at + size;
		else
			file->head = size;
	}
	return error;
}

int ntrace_perf_file_open(struct ntrace_perf_file **file, const char *path)
{
	struct ntrace_perf_file *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	error = map(made, path);
	if (!error)
		error = read_file(made);
	if (error) {
		int saved = errno;

		ntrace_perf_file_close(made);
		errno = saved;
		return error;
	}
	*file = made;
	return 0;
}

void ntrace_perf_file_close(struct ntrace_perf_file *file)
{
	size_t i;

	if (!file)
		return;
	if (file->bytes)
		munmap((void *)(uintptr_t)file->bytes, file->size);
	for (i = 0; i < sizeof(file->texts) / sizeof(file->texts[0]); i++)
		free(file->texts[i]);
	perf_file_free_pmus(file);
	free(file->attrs);
	free(file->ids);
	free(file->build_ids);
	free(file->expanded);
	free(file->parts);
	free(file->threads);
	free(file);
}

unsigned int ntrace_perf_file_events(const struct ntrace_perf_file *file)
{
	return file->attr_count;
}

const struct perf_event_attr *ntrace_perf_file_attr(const struct ntrace_perf_file *file,
						    unsigned int index)
{
	return index < file->attr_count ? &file->attrs[index] : NULL;
}

const char *ntrace_perf_file_feature(const struct ntrace_perf_file *file,
				     enum ntrace_perf_feature feature)
{
	return feature >= NTRACE_PERF_HOSTNAME && feature <= NTRACE_PERF_ARCH ?
		       file->texts[feature] :
		       NULL;
}

/* A chain of records, and the position of its first byte. */
struct chain {
	const uint8_t *bytes;
	uint64_t at;
	uint64_t end;
	uint64_t position;
};

/* Data that follows a record and is not part of its size; false if it is incomplete. */
static bool take_payload(const struct ntrace_perf_file *file, const struct chain *chain,
			 struct ntrace_perf_record *record)
{
	uint64_t room = chain->end - chain->at - record->size;
	uint32_t tracing_size;

	if (record->type == PERF_RECORD_AUXTRACE) {
		if (record->size < sizeof(struct perf_auxtrace_record))
			return true;
		memcpy(&record->payload_size,
		       record->data + offsetof(struct perf_auxtrace_record, size), 8);
	} else if (file->pipe && record->type == PERF_RECORD_HEADER_TRACING_DATA &&
		   record->size >= sizeof(struct perf_event_header) + sizeof(tracing_size)) {
		memcpy(&tracing_size, record->data + sizeof(struct perf_event_header),
		       sizeof(tracing_size));
		record->payload_size = (uint64_t)tracing_size + (-tracing_size & 7);
	}
	if (record->payload_size > room) {
		record->payload_size = room;
		return false;
	}
	if (record->payload_size)
		record->payload = record->data + record->size;
	return true;
}

/* The next record of a chain; false if the chain ends before or inside it. */
static bool next_record(const struct ntrace_perf_file *file, struct chain *chain,
			struct ntrace_perf_record *record)
{
	struct perf_event_header header;

	*record = (struct ntrace_perf_record){ .position = chain->position + chain->at,
					       .data = chain->bytes + chain->at };
	if (chain->end - chain->at < sizeof(header))
		return false;
	memcpy(&header, record->data, sizeof(header));
	if (header.size < sizeof(header) || header.size > chain->end - chain->at)
		return false;
	record->type = header.type;
	record->misc = header.misc;
	record->size = header.size;
	if (!take_payload(file, chain, record))
		return false;
	chain->at += record->size + record->payload_size;
	return true;
}

/* Place in the content of compressed records, which is one chain for each file. */
struct content {
	struct chain chain;
	size_t part;		/* the next one of file->parts */
	bool cut;		/* the last record of a chain is incomplete */
};

static int pass_chain(const struct ntrace_perf_file *file, struct chain outer,
		      struct content *content,
		      int (*callback)(void *data, const struct ntrace_perf_record *record),
		      void *data)
{
	struct chain *inner = &content->chain;
	struct ntrace_perf_record record;
	int result;

	while (outer.at < outer.end) {
		if (!next_record(file, &outer, &record))
			return NTRACE_ERR_TRUNCATED;
		if (content->part == file->part_count ||
		    file->parts[content->part].position != record.position) {
			result = callback(data, &record);
			if (result)
				return result;
			continue;
		}
		/* The last record of the content may continue in the next compressed record. */
		inner->end = file->parts[content->part++].end;
		while (inner->bytes && next_record(file, inner, &record)) {
			result = callback(data, &record);
			if (result)
				return result;
		}
	}
	content->cut |= inner->at < inner->end;
	inner->at = inner->end;
	return 0;
}

int ntrace_perf_file_records(const struct ntrace_perf_file *file,
			     int (*callback)(void *data, const struct ntrace_perf_record *record),
			     void *data)
{
	struct content content = {
		.chain = { .bytes = file->expanded, .position = file->size },
		.cut = file->unfinished,
	};
	struct chain outer = { .bytes = file->bytes, .at = file->data_at, .end = file->data_end };
	int result = pass_chain(file, outer, &content, callback, data);

	for (size_t i = 0; i < file->thread_count && (!result || result == NTRACE_ERR_TRUNCATED);
	     i++) {
		content.cut |= result != 0;
		outer.at = file->threads[i].at;
		outer.end = file->threads[i].end;
		result = pass_chain(file, outer, &content, callback, data);
	}
	return result || !content.cut ? result : NTRACE_ERR_TRUNCATED;
}

const struct perf_event_attr *perf_file_event(const struct ntrace_perf_file *file, uint64_t id)
{
	size_t low = 0;

	BISECT(low, file->id_count, middle, file->ids[middle].id < id);
	if (low < file->id_count && file->ids[low].id == id)
		return &file->attrs[file->ids[low].event];
	return &file->attrs[0];
}

/*
 * The trailer of a record. If events differ, perf puts the id last (PERF_SAMPLE_IDENTIFIER) so that
 * it can be found without knowing the event.
 */
static uint64_t record_trailer(const struct ntrace_perf_file *file,
			       const struct ntrace_perf_record *record)
{
	uint64_t id;

	if (!file->attr_count)
		return 0;
	if (file->same_trailer || !(file->attrs[0].sample_type & PERF_SAMPLE_IDENTIFIER) ||
	    record->size < sizeof(struct perf_event_header) + 8)
		return event_trailer(&file->attrs[0]);
	memcpy(&id, record->data + record->size - 8, 8);
	return event_trailer(perf_file_event(file, id));
}

int ntrace_perf_file_parse(const struct ntrace_perf_file *file,
			   const struct ntrace_perf_record *record,
			   struct ntrace_sideband *sideband)
{
	int error = record_parse(record, record_trailer(file, record), sideband);

	if (!error && !sideband->build_id_size && !sideband->cpumode_kernel &&
	    (sideband->type == NTRACE_SIDEBAND_MMAP || sideband->type == NTRACE_SIDEBAND_MMAP2))
		add_build_id(file, sideband);
	return error;
}

int ntrace_perf_file_auxtrace(const struct ntrace_perf_record *record,
			      struct ntrace_perf_auxtrace *auxtrace)
{
	struct perf_auxtrace_record parts;

	if (record->type != PERF_RECORD_AUXTRACE)
		return NTRACE_ERR_UNSUPPORTED;
	if (record->size < sizeof(parts))
		return NTRACE_ERR_TRUNCATED;
	memcpy(&parts, record->data, sizeof(parts));
	*auxtrace = (struct ntrace_perf_auxtrace){ parts.offset, parts.index, (int32_t)parts.tid,
						   parts.cpu };
	return 0;
}

/* ---- sorted sideband ---- */

struct record_place {
	uint64_t time;
	uint64_t position;
};

struct collection {
	const struct ntrace_perf_file *file;
	struct record_place *places;
	size_t count;
	size_t room;
	struct ntrace_perf_counts counts;
};

static int collect(void *data, const struct ntrace_perf_record *record)
{
	struct collection *collection = data;
	struct ntrace_sideband sideband;
	int error = ntrace_perf_file_parse(collection->file, record, &sideband);

	if (record->type == PERF_RECORD_COMPRESSED || record->type == PERF_RECORD_COMPRESSED2)
		collection->counts.compressed++;
	else if (error == NTRACE_ERR_UNSUPPORTED)
		collection->counts.others++;
	else if (error)
		collection->counts.damaged++;
	if (error)
		return 0;
	if (grow((void **)&collection->places, collection->count, &collection->room,
		 sizeof(*collection->places)))
		return NTRACE_ERR_NOMEM;
	collection->places[collection->count++] =
		(struct record_place){ sideband.time, sideband.position };
	return 0;
}

static int compare_places(const void *left, const void *right)
{
	const struct record_place *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

static struct ntrace_perf_record record_at(const struct ntrace_perf_file *file, uint64_t position)
{
	struct ntrace_perf_record record = {
		.position = position,
		.data = position < file->size ? file->bytes + position :
						file->expanded + (position - file->size),
	};
	struct perf_event_header header;

	memcpy(&header, record.data, sizeof(header));
	record.type = header.type;
	record.misc = header.misc;
	record.size = header.size;
	return record;
}

int ntrace_perf_file_sideband(const struct ntrace_perf_file *file,
			      int (*callback)(void *data, const struct ntrace_sideband *sideband),
			      void *data, struct ntrace_perf_counts *counts)
{
	struct collection collection = { .file = file };
	size_t i;
	int result = ntrace_perf_file_records(file, collect, &collection);

	if (result == NTRACE_ERR_TRUNCATED) {
		collection.counts.truncated = true;
		result = 0;
	}
	if (!result && collection.count)
		qsort(collection.places, collection.count, sizeof(*collection.places),
		      compare_places);
	for (i = 0; !result && i < collection.count; i++) {
		struct ntrace_perf_record record = record_at(file, collection.places[i].position);
		struct ntrace_sideband sideband;

		if (ntrace_perf_file_parse(file, &record, &sideband))
			continue;
		collection.counts.sideband++;
		result = callback(data, &sideband);
	}
	free(collection.places);
	if (counts)
		*counts = collection.counts;
	return result;
}
