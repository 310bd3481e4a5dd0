// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The state of a follower as bytes, for the index of a recording. */
#include "follow_parts.h"

/* A program is its process and its number among the programs of the process; process 0: none. */
static void put_program(struct bytes *bytes, const struct follower *follower,
			const struct program *program)
{
	put_signed(bytes, program ? program->pid : 0);
	if (program)
		put_number(bytes, machine_program_number(&follower->session->machine, program));
}

static struct program *get_program(struct bytes_reader *reader, const struct follower *follower)
{
	int32_t pid = (int32_t)get_signed(reader);
	struct program *program;

	if (!pid)
		return NULL;
	program = machine_program_at(&follower->session->machine, pid, get_number(reader));
	if (!program)
		reader->bad = true;
	return program;
}

/* A thread is its number plus 1; 0: none. */
static void put_place(struct bytes *bytes, const struct follower *follower,
		      const struct switch_place *place)
{
	put_number(bytes, place->interval);
	put_number(bytes, place->missing);
	put_number(bytes, place->thread ? (uint64_t)(place->thread - follower->threads) + 1 : 0);
	put_number(bytes, (place->certain ? 1 : 0) | (place->unsure ? 2 : 0));
	put_program(bytes, follower, place->program);
}

static struct switch_place get_place(struct bytes_reader *reader, const struct follower *follower)
{
	struct switch_place place = { 0 };
	uint64_t thread, flags;

	place.interval = (size_t)get_number_max(reader, follower->last);
	/* The interval before it is looked up in the records. */
	if (place.interval < follower->first)
		place.interval = follower->first;
	place.missing = get_number(reader);
	thread = get_number_max(reader, follower->thread_count);
	place.thread = thread ? &follower->threads[thread - 1] : NULL;
	flags = get_number_max(reader, 3);
	place.certain = flags & 1;
	place.unsure = flags & 2;
	place.program = get_program(reader, follower);
	return place;
}

/* Threads whose state has changed since follow_threads_init(). */
static void put_threads(struct bytes *bytes, const struct follower *follower)
{
	uint64_t changed = 0;
	size_t i;

	for (i = 0; i < follower->thread_count; i++)
		changed += follower->threads[i].next || follower->threads[i].entered;
	put_number(bytes, changed);
	for (i = 0; i < follower->thread_count; i++) {
		const struct thread_intervals *thread = &follower->threads[i];

		if (!thread->next && !thread->entered)
			continue;
		put_number(bytes, i);
		put_number(bytes, thread->next);
		put_program(bytes, follower, thread->entered);
		put_number(bytes, thread->entered_interval);
	}
}

static void get_threads(struct bytes_reader *reader, struct follower *follower)
{
	uint64_t changed = get_number_max(reader, follower->thread_count);

	for (; changed && !reader->bad; changed--) {
		size_t i = (size_t)get_number(reader);
		struct thread_intervals *thread;

		if (i >= follower->thread_count) {
			reader->bad = true;
			return;
		}
		thread = &follower->threads[i];
		thread->next = (size_t)get_number_max(reader, thread->count);
		thread->entered = get_program(reader, follower);
		thread->entered_interval = (size_t)get_number(reader);
	}
}

void follower_put(const struct follower *follower, struct bytes *bytes)
{
	size_t i;

	put_number(bytes, follower->given_up);
	put_number(bytes, follower->work);
	put_number(bytes, follower->count);
	for (i = 0; i < follower->count; i++)
		put_place(bytes, follower, &follower->places[i]);
	put_place(bytes, follower, &follower->lead);
	put_signed(bytes, follower->pid);
	put_signed(bytes, follower->tid);
	put_program(bytes, follower, follower->program);
	put_program(bytes, follower, follower->next_program);
	put_program(bytes, follower, follower->entered);
	put_number(bytes, follower->entered_interval);
	put_number(bytes, follower->last_user);
	put_number(bytes, follower->limit);
	for (i = 0; i < PENDING_EXECS; i++)
		put_signed(bytes, follower->pending[i]);
	put_number(bytes, follower->pending_next % PENDING_EXECS);
	put_threads(bytes, follower);
	put_number(bytes, follower->next_loss);
	put_number(bytes, follower->next_piece);
	put_number(bytes, follower->piece ? (uint64_t)(follower->piece - follower->pieces) + 1 : 0);
	put_number(bytes, follower->piece_unsure);
}

int follower_get(struct follower *follower, struct bytes_reader *reader)
{
	uint64_t count, piece;
	int error = 0;
	size_t i;

	follower->given_up = get_number_max(reader, 1);
	follower->work = get_number(reader);
	/* A place takes several bytes. */
	count = get_number_max(reader, (uint64_t)(reader->end - reader->next));
	follower->count = 0;
	for (i = 0; i < count && !error && !reader->bad; i++)
		error = follower_add_place(follower, get_place(reader, follower));
	follower->lead = get_place(reader, follower);
	follower->pid = (int32_t)get_signed(reader);
	follower->tid = (int32_t)get_signed(reader);
	follower->program = get_program(reader, follower);
	follower->next_program = get_program(reader, follower);
	follower->entered = get_program(reader, follower);
	follower->entered_interval = (size_t)get_number(reader);
	follower->last_user = get_number(reader);
	follower->limit = get_number(reader);
	for (i = 0; i < PENDING_EXECS; i++)
		follower->pending[i] = (int32_t)get_signed(reader);
	follower->pending_next = (unsigned int)get_number_max(reader, PENDING_EXECS - 1);
	get_threads(reader, follower);
	follower->next_loss = (size_t)get_number_max(reader, follower->loss_count);
	follower->next_piece = (size_t)get_number_max(reader, follower->piece_count);
	piece = get_number_max(reader, follower->piece_count);
	follower->piece = piece ? &follower->pieces[piece - 1] : NULL;
	follower->piece_unsure = get_number_max(reader, 1);
	follower_name(follower);
	return error ? error : reader->bad ? NTRACE_ERR_FORMAT : NTRACE_OK;
}
