// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A new mapping of a program, compared with those that it had: does it replace code, or make it writable? */
#include <string.h>

#include "kept_files.h"
#include "machine.h"

/* So many earlier mappings of a program are compared with a new one. */
#define COMPARED_MAX 1024

static bool overlap(const struct mapping_change *a, const struct mapping_change *b)
{
	return a->address - b->address < b->length || b->address - a->address < a->length;
}

bool mapping_replaces(const struct program *program, size_t count,
		      const struct mapping_change *change)
{
	size_t compared = 0;

	for (; program && change->file; count = program->base_count, program = program->base) {
		while (count--) {
			const struct mapping_change *before = &program->changes[count];

			if (compared++ == COMPARED_MAX)
				return !change->file->is_memory;
			if (before->inherited || !overlap(before, change))
				continue;
			if (replaces_code(before, change))
				return true;
			if (before->file && same_code(before, change) &&
			    change->address - before->address <= before->length - change->length &&
			    change->length <= before->length)
				return false;
		}
	}
	return false;
}

static const struct mapped_file *first_file(const struct program *program)
{
	while (program->base)
		program = program->base;
	return program->count ? program->changes[0].file : NULL;
}

/*
 * Whether the process can write the code of a file, or could since that was mapped. mprotect() gives a record of
 * what it makes executable, and, if the recording has data mappings, of the rest. A library may also be mapped
 * again where it was, but whole, and the program itself is not.
 */
static bool may_be_changed(const struct program *program, const struct ntrace_sideband *record)
{
	const struct program *at = program;
	size_t count = at->count, compared = 0;

	if (record->executable && record->writable)
		return true;
	for (; at; count = at->base_count, at = at->base) {
		while (count && compared++ < COMPARED_MAX) {
			const struct mapping_change *change = &at->changes[--count];
			uint64_t before = record->address - change->address;
			bool covers = before < change->length &&
				      record->length <= change->length - before;
			bool same = change->offset - change->address ==
					    record->offset - record->address &&
				    (!change->file || !strcmp(change->file->path, record->name));

			if (change->inherited)
				continue;
			if (before >= change->length &&
			    change->address - record->address >= record->length)
				continue;
			if (same && change->changed)
				return true;
			if (!covers)
				continue;
			if (!same || !change->file)
				return false;
			return record->executable ? record->length < change->length ||
							    change->file == first_file(program) :
						    record->writable;
		}
	}
	return false;
}

void mapping_note_writer(const struct program *program, struct mapping_change *change,
			 const struct ntrace_sideband *record)
{
	if (kept_is_memory(record->name))
		return;
	change->changed = may_be_changed(program, record);
	if (change->changed && change->file)
		change->file->writer = record->pid;
}
