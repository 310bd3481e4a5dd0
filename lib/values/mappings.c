// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What private mappings contain when they are made: bytes of a file, or zeros. The sideband has a record
 * for each mapping; those of exec() come before its anchor, that of mmap() before the anchor of the call.
 */
#include <limits.h>
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "image/object.h"
#include "session/session.h"
#include "sideband/kept_files.h"
#include "values.h"

#define PAGE UINT64_C(4096)
/* A file is mapped in a few parts, one after the other. */
#define NEAR 64

static bool is_anonymous(const struct mapping *mapping)
{
	return !strncmp(mapping->of.name, "//anon", 6) || !strcmp(mapping->of.name, "[heap]");
}

/* The first mapping after a time. */
static size_t mapping_after(const struct anchors *anchors, uint64_t time)
{
	size_t low = 0;

	BISECT(low, anchors->mappings, at, anchors->mapping[at].of.time <= time);
	return low;
}

/* By what identifies the file: another one may have taken its name between the two mappings. */
static bool is_code_of(const struct mapping *code, const struct mapping *mapping)
{
	const struct ntrace_sideband *a = &code->of, *b = &mapping->of;

	return a->executable && !strcmp(a->name, b->name) && a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size) && a->inode == b->inode &&
	       a->inode_generation == b->inode_generation && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor;
}

/* The code of the same file that was mapped next to @mapping, before or after it. */
static const struct mapping *code_near(const struct anchors *anchors, const struct mapping *mapping)
{
	size_t at = (size_t)(mapping - anchors->mapping);

	for (size_t i = 0; i < NEAR; i++) {
		if (i <= at && is_code_of(&anchors->mapping[at - i], mapping))
			return &anchors->mapping[at - i];
		if (at + i < anchors->mappings && is_code_of(&anchors->mapping[at + i], mapping))
			return &anchors->mapping[at + i];
	}
	return NULL;
}

/* The copy that the recorder made of a mapped file. NULL: there is none, or it cannot be read */
static struct ntrace_object *kept_file(struct ntrace_values *values, const struct mapping *mapping)
{
	struct ntrace_object *object = NULL;
	char path[PATH_MAX];

	if (values->session->single || kept_is_memory(mapping->of.name) ||
	    !kept_file_path(values->session->directory, &mapping->of, path, sizeof(path)))
		return NULL;
	for (size_t i = 0; i < values->files; i++)
		if (!strcmp(ntrace_object_name(values->file[i]), path))
			return values->file[i];
	if (grow((void **)&values->file, values->files, &values->file_room,
		 sizeof(*values->file)) ||
	    object_new(&object, path))
		return NULL;
	if (object_map_file(object, path)) {
		ntrace_object_put(object);
		return NULL;
	}
	values->file[values->files++] = object;
	return object;
}

/* The ELF file of a mapping, which the process executes somewhere, or a kept one. NULL: it is not known */
static struct ntrace_object *object_of(struct ntrace_values *values, const struct mapping *mapping)
{
	const struct mapping *code = code_near(&values->anchors, mapping);
	const struct mapping_change *change = NULL;
	const struct program *program = NULL;
	int error;

	if (code)
		program =
			machine_program(&values->session->machine, values->pid, code->of.time + 1);
	if (program)
		change = program_mapping(program, code->of.address, code->of.time + 1);
	if (!change || !change->file)
		return kept_file(values, mapping);
	return session_object(values->session, change->file, &error);
}

static int add_file(struct ntrace_values *values, const struct mapping *mapping,
		    struct ntrace_object *object)
{
	return values_add_range(values, &(struct values_range){ .number = values->number,
								.first = mapping->of.address,
								.last = mapping->last,
								.content = SYSCALL_FILE,
								.object = object,
								.offset = mapping->of.offset });
}

/* The kernel clears the rest of the last page of data of a program. */
static int add_padding(struct ntrace_values *values, const struct mapping *mapping,
		       const struct ntrace_object *object)
{
	int error = 0;

	for (size_t i = 0; !error && i < object->segment_count; i++) {
		const struct segment *segment = &object->segments[i];
		uint64_t end = segment->offset + segment->size;
		uint64_t first = mapping->of.address + (end - mapping->of.offset);

		if (!segment->writable || !mapping->of.writable || !(end % PAGE) ||
		    end <= mapping->of.offset || first > mapping->last)
			continue;
		error = values_add_range(values, &(struct values_range){ .number = values->number,
									 .first = first,
									 .last = first | (PAGE - 1),
									 .content = SYSCALL_ZERO });
	}
	return error;
}

int values_begin_mappings(struct ntrace_values *values, const struct anchor *anchor)
{
	const struct anchors *anchors = &values->anchors;
	size_t end = mapping_after(anchors, anchor->time);
	int error = 0;

	if (!anchor->began)
		return 0;
	for (size_t i = mapping_after(anchors, anchor->began - 1); !error && i < end; i++) {
		const struct mapping *mapping = &anchors->mapping[i];
		struct ntrace_object *object;

		if (is_anonymous(mapping)) {
			error = values_add_range(
				values, &(struct values_range){ .number = values->number,
								.first = mapping->of.address,
								.last = mapping->last,
								.content = SYSCALL_ZERO });
			continue;
		}
		object = object_of(values, mapping);
		if (!object)
			continue;
		error = add_file(values, mapping, object);
		if (!error)
			error = add_padding(values, mapping, object);
	}
	return error;
}

int values_map_file(struct ntrace_values *values, const struct anchor *anchor, uint64_t first)
{
	const struct anchors *anchors = &values->anchors;
	uint64_t after = anchor > anchors->anchor ? anchor[-1].time : 0;

	for (size_t i = mapping_after(anchors, anchor->time); i--;) {
		const struct mapping *mapping = &anchors->mapping[i];
		struct ntrace_object *object;

		if (mapping->of.time < after)
			break;
		if (mapping->of.address != first)
			continue;
		object = object_of(values, mapping);
		return object ? add_file(values, mapping, object) : 0;
	}
	return 0;
}

/*
 * The ELF file that a call has read from @fd: it is mapped from there soon after, as dynamic linkers do. NULL:
 * it is not known.
 */
static struct ntrace_object *object_read(struct ntrace_values *values, const struct anchor *anchor,
					 uint64_t fd)
{
	const struct anchors *anchors = &values->anchors;
	size_t at = (size_t)(anchor - anchors->anchor);

	for (size_t i = at + 1; i < anchors->count && i < at + 64; i++) {
		const struct anchor *later = &anchors->anchor[i];
		uint64_t number = anchor_register(later, 17), result = anchor_register(later, 10);

		/* A new file may have the descriptor. */
		if (number != SYSCALL_MMAP && result == fd)
			return NULL;
		if (number != SYSCALL_MMAP || anchor_register(later, 14) != fd)
			continue;
		for (size_t k = mapping_after(anchors, later[-1].time);
		     k < anchors->mappings && anchors->mapping[k].of.time <= later->time; k++)
			if (anchors->mapping[k].of.address == result)
				return object_of(values, &anchors->mapping[k]);
		return NULL;
	}
	return NULL;
}

int values_read_file(struct ntrace_values *values, const struct anchor *anchor,
		     const struct syscall *call)
{
	bool opened = anchor > values->anchors.anchor &&
		      anchor_register(anchor - 1, 17) == SYSCALL_OPENAT &&
		      anchor_register(anchor - 1, 10) == call->argument[0];
	const struct ntrace_object *object;
	uint64_t offset = 0;
	int error = 0;

	if (call->number == SYSCALL_PREAD)
		offset = call->argument[3];
	else if (call->number != SYSCALL_READ || !opened)
		return 0;
	if (!values->logs || call->result <= 0 || ~call->known & 3)
		return 0;
	object = object_read(values, anchor, call->argument[0]);
	if (!object || !object->bytes || offset > object->size ||
	    (uint64_t)call->result > object->size - offset)
		return 0;
	for (uint64_t i = 0; !error && i < (uint64_t)call->result; i++) {
		const struct ntrace_exec_value byte = { object->bytes[offset + i], 0xff };

		error = ntrace_value_log_write(values->log, values_time(values),
					       call->argument[1] + i, 0x01, byte);
	}
	return error;
}

uint8_t values_file_byte(const struct values_range *range, uint64_t address)
{
	uint64_t offset = range->offset + (address - range->first);

	/* The rest of the last page is zero. */
	return offset < range->object->size ? range->object->bytes[offset] : 0;
}
