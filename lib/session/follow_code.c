// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the code of user space tells about the task on a hart: which of the possible tasks have code at
 * an address, and which code all of them share.
 */
#include "follow_parts.h"

/* Whether even the scheduling interval of a place is uncertain. */
static bool stands_for_more(const struct switch_place *place)
{
	return place->thread && !place->certain;
}

/* The mapping at @address of the task at @place. @at: @place, or a later place that it includes. */
static const struct mapping_change *place_mapping(struct follower *follower,
						  const struct switch_place *place,
						  uint64_t address, struct switch_place *at)
{
	const struct mapping_change *mapping = NULL;
	uint64_t end = interval_end(follower, place);
	const struct program *program;
	int32_t pid, tid;

	*at = *place;
	if (stands_for_more(place))
		return follow_threads_mapping(follower, place, address, at);
	interval_task(follower, place, &pid, &tid);
	program = interval_program(follower, place, pid);
	/* With an exec in the scheduling interval, either program is possible. */
	for (; program && program->start < end && !mapping; program = program->next)
		mapping = program_mapping(program, address, end);
	return mapping;
}

/* Restricts @all to what no mapping of @program, at whatever time, replaces. Return: as join_part(). */
static bool join_program(struct follower *follower, const struct program *program, uint64_t address,
			 struct code_part *all)
{
	size_t count = program->count, i;
	bool agree = true;

	for (; program; count = program->base_count, program = program->base) {
		for (i = 0; i < count; i++) {
			const struct mapping_change *change = &program->changes[i];
			const struct code_part one = { .mapping = change,
						       .first = change->address,
						       .last = change->address +
							       (change->length - 1) };

			if (address - change->address >= change->length)
				part_cut(all, change, address);
			else if (change->file)
				agree = join_part(all, &one) && agree;
		}
		follower->work += count;
	}
	return agree;
}

/*
 * Finds the programs with code at @address: restricts @part to what they share. *program: one of them.
 * *pid: the process if there is only one, else -1. Return: false: their code differs.
 */
static bool find_owner(struct follower *follower, uint64_t address, struct program **program,
		       int32_t *pid, struct code_part *part)
{
	const struct machine *machine = &follower->session->machine;
	struct program *candidate;
	const struct task *task;
	bool agree = true;
	size_t bucket;

	*program = NULL;
	*pid = -1;
	for (bucket = 0; bucket < MACHINE_BUCKETS; bucket++) {
		for (task = machine->tasks[bucket]; task; task = task->next) {
			for (candidate = task->first; candidate; candidate = candidate->next) {
				follower->work++;
				if (!program_mapping(candidate, address, UINT64_MAX))
					continue;
				*pid = !*program || *pid == task->id ? task->id : -1;
				*program = candidate;
				agree = join_program(follower, candidate, address, part) && agree;
			}
		}
	}
	return agree;
}

/* Keeps the places whose task has code at @address; keeps all if there are none. */
static void keep_places_with_code(struct follower *follower, uint64_t address)
{
	struct code_part part = { .last = UINT64_MAX };
	size_t kept = 0, real = 0, missing = 0, i;
	struct program *owner;
	struct switch_place at;
	int32_t pid = -1;

	for (i = 0; i < follower->count; i++) {
		missing += follower->places[i].missing != 0;
		real += !follower->places[i].missing &&
			place_mapping(follower, &follower->places[i], address, &at);
	}
	follower->work += follower->count;
	if (!real || (real == follower->count && !follower->by_thread))
		return;
	if (missing)
		find_owner(follower, address, &owner, &pid, &part);
	for (i = 0; i < follower->count; i++) {
		const struct switch_place place = follower->places[i];

		at = place;
		/* A missing scheduling interval may belong to another process with code there. */
		if (place.missing ? pid < 0 : place_mapping(follower, &place, address, &at) != NULL)
			follower->places[kept++] = at;
	}
	follower->count = kept;
	follower_update_task(follower);
}

/* Whether both mappings of @part have the same bytes in all of it: a program that moves its code keeps it. */
static bool same_bytes(struct follower *follower, const struct code_part *part)
{
	const struct code_part before = { .mapping = part->other,
					  .first = part->first,
					  .last = part->last };
	struct ntrace_space *space = spaces_of_part(follower->spaces, part);
	struct ntrace_space *other = spaces_of_part(follower->spaces, &before);
	uint64_t address = part->first, left = part->last - part->first + 1;
	const uint8_t *one, *two;
	size_t size, more;

	while (left) {
		if (!space || !other || ntrace_space_read(space, address, &one, &size) ||
		    ntrace_space_read(other, address, &two, &more))
			return false;
		size = size < more ? size : more;
		size = size < left ? size : (size_t)left;
		if (memcmp(one, two, size) != 0)
			return false;
		address += size;
		left -= size;
	}
	return true;
}

bool follower_is_same(struct follower *follower, const struct code_part *part)
{
	struct compared_part *compared = &follower->compared;

	if (!part->other)
		return true;
	if (compared->part.mapping != part->mapping || compared->part.other != part->other ||
	    compared->part.first != part->first || compared->part.last != part->last)
		*compared = (struct compared_part){ *part, same_bytes(follower, part) };
	if (compared->same)
		return true;
	if (part->shared) {
		if (!__atomic_exchange_n(&part->other->file->shared, true, __ATOMIC_RELAXED))
			session_note(follower->session,
				     "%s: a process mapped it over %s, and may share its memory "
				     "with others (vfork(), CLONE_VM): code that these executed "
				     "there meanwhile is not decoded",
				     part->other->file->path, part->mapping->file->path);
		return false;
	}
	if (!__atomic_exchange_n(&part->mapping->file->replaced, true, __ATOMIC_RELAXED))
		session_note(
			follower->session,
			"%s: a process mapped it over %s, and the trace does not tell when: code "
			"that it executed there meanwhile is not decoded",
			part->mapping->file->path, part->other->file->path);
	return false;
}

bool join_part(struct code_part *all, const struct code_part *one)
{
	if (all->mapping && !same_code(all->mapping, one->mapping))
		return false;
	/* If one of them may have changed, all are uncertain. */
	if (!all->mapping || one->mapping->changed)
		all->mapping = one->mapping;
	if (all->first < one->first)
		all->first = one->first;
	if (all->last > one->last)
		all->last = one->last;
	return true;
}

/*
 * Restricts @all to the code that @program has at @address from @since on and, with @later, of those that the
 * process starts before @end. *only: the program with code there; NULL: none, or several. Return: false:
 * their code differs.
 */
static bool join_programs(struct follower *follower, struct program *program, uint64_t since,
			  uint64_t end, bool later, uint64_t address, struct code_part *all,
			  struct program **only)
{
	struct code_part one;
	bool found = false, agree = true;

	*only = NULL;
	for (; program && program->start < end; program = program->next) {
		follower->work++;
		if (!program_part(program, address, since, end, &one))
			continue;
		*only = found ? NULL : program;
		found = true;
		agree = follower_is_same(follower, &one) && join_part(all, &one) && agree;
		/* If only a later program has code there, its exec was missed. */
		if (!later)
			break;
	}
	return agree;
}

static bool join_place(struct follower *follower, const struct switch_place *place,
		       uint64_t address, struct code_part *all)
{
	uint64_t end = interval_end(follower, place);
	struct program *only;
	int32_t pid, tid;

	if (stands_for_more(place))
		return follow_threads_part(follower, place, address, all);
	interval_task(follower, place, &pid, &tid);
	return join_programs(follower, interval_program(follower, place, pid),
			     interval_start(follower, place), end, place->unsure, address, all,
			     &only);
}

/* Whether one place is certain, but not whether the exec in its interval, or in the piece, is over. */
static bool doubts_exec(const struct follower *follower)
{
	if (follower->by_piece)
		return follower->piece_unsure && follower->next_program;
	return follower->count == 1 && follower->places[0].unsure && follower->next_program;
}

bool follower_is_certain(const struct follower *follower)
{
	if (!follower->by_piece &&
	    (follower->count > 1 || (follower->count && (follower->places[0].missing ||
							 stands_for_more(follower->places)))))
		return false;
	return !doubts_exec(follower);
}

bool follower_misses_records(const struct follower *follower)
{
	size_t i;

	for (i = 0; i < follower->count; i++)
		if (follower->places[i].missing)
			return true;
	return false;
}

static uint64_t present_start(const struct follower *follower)
{
	return follower->piece ? follower->piece->earliest :
				 interval_start(follower, &follower->first_place);
}

static uint64_t present_end(const struct follower *follower)
{
	return follower->piece ? follower->piece->end :
				 interval_end(follower, &follower->first_place);
}

/* An exec may have been missed: the code at @address may tell. Return: whether it does. */
static bool resolve_exec(struct follower *follower, uint64_t address)
{
	struct code_part part = { .last = UINT64_MAX };
	struct program *only;

	if (!doubts_exec(follower))
		return false;
	join_programs(follower, follower->program, present_start(follower), present_end(follower),
		      true, address, &part, &only);
	if (!only)
		return false;
	while (follower->program != only)
		follower_enter_next(follower);
	if (follower->by_piece)
		follower->piece_unsure = false;
	else
		follower->places[0].unsure = false;
	return true;
}

/* Of @program and those that its process starts within the leading place, the one that has code at @address. */
static void set_shared_program(struct follower *follower, struct program *program, uint64_t address)
{
	uint64_t end = present_end(follower);
	struct program *at = program;

	while (at->next && at->next->start < end && !program_mapping(at, address, end))
		at = at->next;
	if (program_mapping(at, address, end))
		program = at;
	follower->program = program;
	follower->limit = program->next && program->next->start < end ? program->next->start : end;
	follower_name(follower);
}

/*
 * The code around @address that all programs share that may run. Return: false: there is none.
 *
 * Code that differs between them is not decoded: a wrong function is worse than none.
 */
static bool shared_part(struct follower *follower, uint64_t address, struct code_part *part)
{
	struct program *only;
	int32_t pid, tid;
	struct program *program;
	bool agree = true;
	size_t i;

	if (follower->by_piece)
		return join_programs(follower, follower->program, present_start(follower),
				     present_end(follower), true, address, part, &only) &&
		       part->mapping;
	for (i = 0; i < follower->count && agree; i++)
		agree = join_place(follower, &follower->places[i], address, part);
	follower->program = NULL;
	if (!agree || !part->mapping)
		return false;
	interval_task(follower, &follower->first_place, &pid, &tid);
	program = interval_program(follower, &follower->first_place, pid);
	if (!program)
		return false;
	set_shared_program(follower, program, address);
	return true;
}

/* An interval without any record: the task is one of those with code at an address. */
static void set_code_owner(struct follower *follower, struct program *program, int32_t pid)
{
	follower->program = program;
	follower->next_program = NULL;
	follower->limit = UINT64_MAX;
	follower->pid = pid;
	follower->tid = -1;
	follower_name(follower);
}

/* The part with @address that was found before; NULL: none. */
static const struct known_part *known_part(const struct follower *follower, uint64_t address)
{
	const struct known_part *known;
	unsigned int i;

	for (i = 0; i < follower->known_count; i++) {
		known = &follower->known[i];
		if (address >= known->part.first && address <= known->part.last)
			return known;
	}
	return NULL;
}

static struct ntrace_space *known_space(struct follower *follower, const struct known_part *known)
{
	if (follower_misses_records(follower))
		set_code_owner(follower, known->program, known->pid);
	else if (!follower->by_piece)
		set_shared_program(follower, known->program, known->part.first);
	return spaces_of_part(follower->spaces, &known->part);
}

/* The space with the shared code around @address; NULL: unknown. */
static struct ntrace_space *shared_space(struct follower *follower, uint64_t address)
{
	struct known_part found = { .part.last = UINT64_MAX };
	unsigned int i;

	if (follower_misses_records(follower)) {
		if (!find_owner(follower, address, &found.program, &found.pid, &found.part) ||
		    !found.program) {
			set_code_owner(follower, NULL, found.pid);
			return NULL;
		}
	} else if (!shared_part(follower, address, &found.part)) {
		return NULL;
	} else {
		found.program = follower->program;
	}
	i = follower->known_next++ % KNOWN_PARTS;
	if (follower->known_count < KNOWN_PARTS)
		i = follower->known_count++;
	follower->known[i] = found;
	return known_space(follower, &found);
}

bool is_entry(struct follower *follower, struct mapped_file *file, uint64_t offset)
{
	struct ntrace_object *object =
		session_object(follower->session, file, &follower->spaces->error);
	uint64_t entry, entry_offset;

	return object && !ntrace_object_entry(object, &entry, &entry_offset) &&
	       offset == entry_offset;
}

bool starts_at(struct follower *follower, const struct program *program, uint64_t address)
{
	const struct mapping_change *mapping = program_mapping(program, address, UINT64_MAX);

	return mapping &&
	       is_entry(follower, mapping->file, address - mapping->address + mapping->offset);
}

/* The program started by exec in a scheduling interval, if its entry is @address. */
static struct program *exec_at(struct follower *follower, const struct switch_place *place,
			       uint64_t address)
{
	struct program *program;
	int32_t pid, tid;

	interval_task(follower, place, &pid, &tid);
	program = interval_program(follower, place, pid);
	program = program ? program->next : NULL;
	return program && program->start < interval_end(follower, place) &&
			       starts_at(follower, program, address) ?
		       program :
		       NULL;
}

/*
 * Whether the program that @place begins with may still have its entry at @address before it. The
 * dynamic linker, and other tasks, run between an exec and the entry. A program that came by fork, or
 * ran when the trace began, is past it.
 *
 * With user space alone, every program with this entry would remain possible at each return from the
 * kernel. There it must be in the first interval after its exec.
 */
static bool is_before_entry(struct follower *follower, const struct switch_place *place,
			    uint64_t address)
{
	const struct program *program;
	int32_t pid, tid;

	interval_task(follower, place, &pid, &tid);
	program = interval_program(follower, place, pid);
	return program && !program->base && program->start > follower->start_ns &&
	       (!follower->by_thread || follow_threads_before_entry(follower, place, program)) &&
	       starts_at(follower, program, address);
}

/* Whether a program that @place starts begins at @address. *at: the place then. */
static bool is_exec(struct follower *follower, const struct switch_place *place, uint64_t address,
		    struct switch_place *at)
{
	if (follower->by_thread)
		return place->thread && follow_threads_start(follower, place, address, at);
	*at = *place;
	at->program = exec_at(follower, place, address);
	at->unsure = false;
	return at->program;
}

/*
 * Keeps the places where control may be at the entry of a program, if a program that one of them starts
 * has its entry at @address; else keeps all.
 */
static void keep_starts(struct follower *follower, uint64_t address)
{
	struct switch_place at;
	size_t kept = 0, i;

	follower->work += follower->count;
	for (i = 0; i < follower->count; i++)
		if (is_exec(follower, &follower->places[i], address, &at))
			break;
	if (i == follower->count)
		return;
	for (i = 0; i < follower->count; i++) {
		const struct switch_place place = follower->places[i];

		/* Before the entry of an earlier program, the place tells nothing of an exec. */
		if (is_before_entry(follower, &place, address))
			follower->places[kept++] = place;
		else if (is_exec(follower, &place, address, &at))
			follower->places[kept++] = at;
	}
	follower->count = kept;
	follower_update_task(follower);
}

/*
 * The kernel may not be traced, and the old program may have code at the entry of the new one:
 * programs linked for the same address, or no randomization. But control reaches the entry of a
 * program only once, in the interval of its exec or a later one. The same address as before is a return
 * from a page fault.
 */
static void notice_start(struct follower *follower, uint64_t address)
{
	if (address == follower->last_user)
		return;
	follower->last_user = address;
	if (follower->by_piece) {
		if (follower->next_program &&
		    starts_at(follower, follower->next_program, address)) {
			follower->piece_unsure = false;
			follower_enter_next(follower);
		}
	} else if (follower->work <= follower->work_max) {
		keep_starts(follower, address);
	}
}

/*
 * The space of the program that runs: with the changes up to the end of the scheduling interval, or where one of
 * them replaces code, with the code around @address alone, if that is the same during the whole interval.
 */
static struct ntrace_space *present_space(struct follower *follower, uint64_t address)
{
	uint64_t since = present_start(follower);
	struct code_part part;

	if (!program_replaces(follower->program, since, follower->limit))
		return spaces_at(follower->spaces, follower->program, follower->limit);
	if (!program_part(follower->program, address, since, follower->limit, &part) ||
	    !follower_is_same(follower, &part))
		return NULL;
	return spaces_of_part(follower->spaces, &part);
}

/* The space of the program that runs. */
static struct ntrace_space *own_space(struct follower *follower, uint64_t address)
{
	if (!follower->program)
		return NULL;
	/* begin_new_exec was not seen, but only the new program has code here. */
	if (follower->next_program &&
	    !program_mapping(follower->program, address, follower->limit) &&
	    program_mapping(follower->next_program, address, UINT64_MAX))
		follower_enter_next(follower);
	return present_space(follower, address);
}

struct ntrace_space *follower_user(struct follower *follower, uint64_t address)
{
	const struct known_part *known;

	notice_start(follower, address);
	if (follower_is_certain(follower))
		return own_space(follower, address);
	known = known_part(follower, address);
	if (known)
		return known_space(follower, known);
	if (!follower->by_piece) {
		if (follower->work > follower->work_max) {
			follower_give_up(follower,
					 "too much trace is lost or filtered out to follow tasks");
			return NULL;
		}
		keep_places_with_code(follower, address);
	}
	if (follower_is_certain(follower) || resolve_exec(follower, address))
		return own_space(follower, address);
	return shared_space(follower, address);
}

struct ntrace_space *follower_same(struct follower *follower, uint64_t address)
{
	if (!follower_is_certain(follower))
		return shared_space(follower, address);
	return follower->program ? present_space(follower, address) : NULL;
}
