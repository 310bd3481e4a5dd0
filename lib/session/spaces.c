// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Address spaces made from mapping changes: see spaces.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/flow.h"
#include "image/object.h"
#include "spaces.h"

/* Maximum number of programs that keep a space; other spaces are rebuilt when needed. */
#define SPACES_MAX 512

#define BUCKETS 256

void part_cut(struct code_part *part, const struct mapping_change *change, uint64_t address)
{
	uint64_t last = change->address + (change->length - 1);

	if (address - change->address < change->length || !change->length)
		return;
	if (change->address > address) {
		if (part->last >= change->address)
			part->last = change->address - 1;
	} else if (part->first <= last) {
		part->first = last + 1;
	}
}

/* The time from which on changes of @program count as made after @since: what it began with was there before. */
static uint64_t changes_since(const struct program *program, uint64_t since)
{
	return since > program->start ? since : program->start + 1;
}

static void part_narrow(struct code_part *part, const struct mapping_change *change)
{
	uint64_t last = change->address + (change->length - 1);

	if (part->first < change->address)
		part->first = change->address;
	if (part->last > last)
		part->last = last;
}

/* Whether other processes may have replaced code of @program before @until. */
static bool may_be_shared(const struct program *program, uint64_t until)
{
	bool shared = program->shared;

	for (; program->base && !shared; program = program->base) {
		const struct program *base = program->base;
		size_t passed = program->base_count, end = program_changes_before(base, until);

		shared = base->shared ||
			 (passed && end > passed &&
			  base->changes[end - 1].replacing > base->changes[passed - 1].replacing);
	}
	return shared;
}

void part_share(const struct program *program, uint64_t address, uint64_t until,
		struct code_part *part)
{
	size_t own = program->count, mapped;

	if (!may_be_shared(program, until))
		return;
	for (; program; own = program->base_count, program = program->base) {
		for (mapped = 0; mapped < own && &program->changes[mapped] != part->mapping;)
			mapped++;
		for (size_t i = program_changes_before(program, until); i--;) {
			const struct mapping_change *change = &program->changes[i];

			if (i == mapped && mapped < own)
				return;
			if ((i < own && !change->inherited) ||
			    (change->inherited && mapped < own && mapped >= change->inherited) ||
			    !replaces_code(change, part->mapping))
				continue;
			part_cut(part, change, address);
			if (part->other || address - change->address >= change->length)
				continue;
			part_narrow(part, change);
			part->other = change;
			part->shared = true;
		}
	}
}

static bool find_part(const struct program *program, uint64_t address, uint64_t since,
		      uint64_t until, struct code_part *part)
{
	size_t count = program_changes_before(program, until);
	bool settled = false;

	since = changes_since(program, since);
	*part = (struct code_part){ .last = UINT64_MAX };
	for (; program; count = program->base_count, program = program->base) {
		while (count--) {
			const struct mapping_change *change = &program->changes[count];
			bool covers = address - change->address < change->length;

			if (change->inherited)
				continue;
			/* The last change that covers the address takes precedence. */
			if (!part->mapping && covers) {
				if (!change->file)
					return false;
				part->mapping = change;
				part_narrow(part, change);
				if (change->time < since)
					return true;
			} else if (!part->mapping || replaces_code(change, part->mapping)) {
				part_cut(part, change, address);
				if (covers && !settled)
					part->other = change;
			}
			settled |= covers && change->time < since;
		}
	}
	return part->mapping;
}

bool program_part(const struct program *program, uint64_t address, uint64_t since, uint64_t until,
		  struct code_part *part)
{
	if (!find_part(program, address, since, until, part))
		return false;
	part_share(program, address, until, part);
	return true;
}

bool program_replaces(const struct program *program, uint64_t since, uint64_t until)
{
	size_t first = program_changes_before(program, changes_since(program, since));
	size_t end = program_changes_before(program, until);

	return may_be_shared(program, until) ||
	       (end > first && program->changes[end - 1].replacing >
				       (first ? program->changes[first - 1].replacing : 0));
}

const struct mapping_change *program_mapping(const struct program *program, uint64_t address,
					     uint64_t time)
{
	size_t count = program_changes_before(program, time);

	for (; program; count = program->base_count, program = program->base) {
		/* The last change that covers the address takes precedence. */
		while (count--) {
			const struct mapping_change *change = &program->changes[count];

			if (!change->inherited && address - change->address < change->length)
				return change->file ? change : NULL;
		}
	}
	return NULL;
}

struct ntrace_object *session_code_at(const struct ntrace_session *session, int32_t pid,
				      uint64_t time, uint64_t address, uint64_t *offset)
{
	const struct program *program = machine_program(&session->machine, pid, time);
	const struct mapping_change *mapping = program ? program_mapping(program, address, time) :
							 NULL;

	*offset = mapping ? mapping->offset + (address - mapping->address) : 0;
	return mapping ? mapping->file->object : NULL;
}

/* ---- spaces of programs ---- */

static struct program_space **find(const struct spaces *spaces, const struct program *program)
{
	struct program_space **at;

	if (!spaces->programs)
		return NULL;
	at = &spaces->programs[program->number % BUCKETS];
	while (*at && (*at)->program != program)
		at = &(*at)->next;
	return at;
}

const struct program_space *spaces_find(const struct spaces *spaces, const struct program *program)
{
	struct program_space **at = find(spaces, program);

	return at ? *at : NULL;
}

static void drop(struct spaces *spaces, struct program_space **at)
{
	struct program_space *found = *at;

	*at = found->next;
	ntrace_space_put(found->space);
	free(found);
	spaces->count--;
}

void spaces_drop(struct spaces *spaces, const struct program *program)
{
	struct program_space **at = find(spaces, program);

	if (at && *at)
		drop(spaces, at);
}

/* Drops the spaces that were not used since @clock. */
static void drop_unused(struct spaces *spaces, uint64_t clock)
{
	for (size_t i = 0; spaces->programs && i < BUCKETS; i++) {
		struct program_space **at = &spaces->programs[i];

		while (*at) {
			if ((*at)->last_use <= clock)
				drop(spaces, at);
			else
				at = &(*at)->next;
		}
	}
}

void spaces_free(struct spaces *spaces)
{
	size_t i;

	drop_unused(spaces, UINT64_MAX);
	free(spaces->programs);
	spaces->programs = NULL;
	for (i = 0; i < SPACES_PARTS; i++)
		ntrace_space_put(spaces->parts[i].space);
	memset(spaces->parts, 0, sizeof(spaces->parts));
}

static void apply(struct spaces *spaces, struct ntrace_space *space, const struct program *program,
		  size_t from, size_t to)
{
	for (; from < to; from++) {
		const struct mapping_change *change = &program->changes[from];
		struct ntrace_object *object = NULL;

		int error = NTRACE_ERR_NOMAP;

		if (change->inherited)
			continue;
		if (change->file)
			object = session_code(spaces->session, change->file, change->offset,
					      change->length, &spaces->error);
		if (object)
			error = space_map(space, object, change->address, change->length,
					  change->offset, change->changed);
		/* A mapping beyond the address space is left out. */
		if (error && error != NTRACE_ERR_NOMEM)
			error = ntrace_space_unmap(space, change->address, change->length);
		if (error)
			spaces->error = error;
	}
}

static void apply_bases(struct spaces *spaces, struct ntrace_space *space,
			const struct program *program)
{
	/* Chains of forks are short: see FORK_DEPTH_MAX. */
	if (program->base) {
		apply_bases(spaces, space, program->base);
		apply(spaces, space, program->base, 0, program->base_count);
	}
}

static struct program_space *new_space(struct spaces *spaces, struct program *program)
{
	const char *comm =
		machine_thread_name(&spaces->session->machine, program->pid, program->start + 1);
	struct program_space *made = calloc(1, sizeof(*made)), **bucket;
	char name[64];

	if (!spaces->programs)
		spaces->programs = calloc(BUCKETS, sizeof(struct program_space *));
	if (spaces->count >= SPACES_MAX)
		drop_unused(spaces, spaces->clock - SPACES_MAX / 2);
	snprintf(name, sizeof(name), "pid %" PRId32 " (%s)", program->pid, comm ? comm : "?");
	if (!made || !spaces->programs ||
	    ntrace_space_new(&made->space, name, spaces->session->kernel)) {
		spaces->error = NTRACE_ERR_NOMEM;
		free(made);
		return NULL;
	}
	bucket = &spaces->programs[program->number % BUCKETS];
	made->program = program;
	made->next = *bucket;
	*bucket = made;
	spaces->count++;
	apply_bases(spaces, made->space, program);
	return made;
}

struct ntrace_space *spaces_after(struct spaces *spaces, struct program *program, size_t count)
{
	struct program_space **at = find(spaces, program), *found = at ? *at : NULL;

	spaces->clock++;
	if (found && found->applied > count) {
		spaces_drop(spaces, program);
		found = NULL;
	}
	if (!found)
		found = new_space(spaces, program);
	if (!found)
		return NULL;
	found->last_use = spaces->clock;
	/* Effects refer to the code as it was. */
	if (spaces->counting && found->applied < count) {
		int error = flow_flush_space(spaces->counting, found->space);

		if (error)
			spaces->error = error;
	}
	apply(spaces, found->space, program, found->applied, count);
	found->applied = count;
	if (!spaces->error)
		return found->space;
	/* On an error, part of the space may be missing. */
	spaces_drop(spaces, program);
	return NULL;
}

struct ntrace_space *spaces_at(struct spaces *spaces, struct program *program, uint64_t time)
{
	return spaces_after(spaces, program, program_changes_before(program, time));
}

/* ---- spaces of shared code ---- */

static struct ntrace_space *new_part_space(struct spaces *spaces, const struct part_space *part)
{
	struct ntrace_object *object = session_code(spaces->session, part->file, part->offset,
						    part->last - part->first + 1, &spaces->error);
	struct ntrace_space *space;
	int error;

	if (!object)
		return NULL;
	error = ntrace_space_new(&space, "several tasks", spaces->session->kernel);
	if (!error) {
		error = space_map(space, object, part->first, part->last - part->first + 1,
				  part->offset, part->changed);
		if (!error)
			return space;
		ntrace_space_put(space);
	}
	/* A mapping beyond the address space has no code. */
	if (error == NTRACE_ERR_NOMEM)
		spaces->error = error;
	return NULL;
}

static bool is_part(const struct part_space *part, const struct part_space *wanted)
{
	return part->space && part->file == wanted->file && part->offset == wanted->offset &&
	       part->first == wanted->first && part->last == wanted->last &&
	       part->changed == wanted->changed;
}

struct ntrace_space *spaces_of_part(struct spaces *spaces, const struct code_part *part)
{
	const struct mapping_change *mapping = part->mapping;
	struct part_space wanted = { .file = mapping->file,
				     .offset = mapping->offset + part->first - mapping->address,
				     .first = part->first,
				     .last = part->last,
				     .changed = mapping->changed };
	struct part_space *parts = spaces->parts;
	size_t i = 0;

	while (i < SPACES_PARTS - 1 && parts[i].space && !is_part(&parts[i], &wanted))
		i++;
	if (is_part(&parts[i], &wanted)) {
		wanted = parts[i];
	} else {
		wanted.space = new_part_space(spaces, &wanted);
		if (!wanted.space)
			return NULL;
		ntrace_space_put(parts[i].space);
	}
	memmove(&parts[1], &parts[0], i * sizeof(*parts));
	parts[0] = wanted;
	return wanted.space;
}
