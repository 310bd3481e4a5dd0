// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The state of a follower as bytes, for the index of a recording. */
#include "follow_parts.h"

/* A program is its process and its number among the programs of the process; process 0: none. */
static void code_program(struct codec *codec, const struct follower *follower,
			 struct program **program)
{
	const struct machine *machine = &follower->session->machine;
	int32_t pid = *program ? (*program)->pid : 0;
	uint64_t number = *program ? machine_program_number(machine, *program) : 0;

	CODE_SIGNED(codec, pid);
	if (pid)
		CODE_NUMBER(codec, number);
	if (codec->to)
		return;
	*program = pid ? machine_program_at(machine, pid, number) : NULL;
	codec->from->bad |= pid && !*program;
}

/* A thread is its number plus 1; 0: none. */
static void code_place(struct codec *codec, const struct follower *follower,
		       struct switch_place *place)
{
	uint64_t thread = place->thread ? (uint64_t)(place->thread - follower->threads) + 1 : 0;

	CODE_MAX(codec, place->interval, follower->last);
	/* The interval before it is looked up in the records. */
	if (!codec->to && place->interval < follower->first)
		place->interval = follower->first;
	CODE_NUMBER(codec, place->missing);
	CODE_MAX(codec, thread, follower->thread_count);
	place->thread = thread ? &follower->threads[thread - 1] : NULL;
	CODE_MAX(codec, place->certain, 1);
	CODE_MAX(codec, place->unsure, 1);
	code_program(codec, follower, &place->program);
}

static int code_places(struct codec *codec, struct follower *follower)
{
	uint64_t count = follower->count;
	int error = 0;

	CODE_NUMBER(codec, count);
	if (!codec->to)
		follower->count = 0;
	for (uint64_t i = 0; i < count && !error && !codec_failed(codec); i++) {
		struct switch_place place = { 0 };

		if (codec->to)
			place = follower->places[i];
		code_place(codec, follower, &place);
		if (!codec->to)
			error = follower_add_place(follower, place);
	}
	code_place(codec, follower, &follower->first_place);
	return error;
}

static bool has_changed(const struct thread_intervals *thread)
{
	return thread->next || thread->entered;
}

/* Threads whose state has changed since follow_threads_init(). */
static void code_threads(struct codec *codec, struct follower *follower)
{
	uint64_t changed = 0;
	size_t i;

	for (i = 0; i < follower->thread_count; i++)
		changed += has_changed(&follower->threads[i]);
	CODE_MAX(codec, changed, follower->thread_count);
	for (i = 0; changed && !codec_failed(codec); changed--, i++) {
		struct thread_intervals *thread;

		while (codec->to && !has_changed(&follower->threads[i]))
			i++;
		CODE_MAX(codec, i, follower->thread_count - 1);
		thread = &follower->threads[i];
		CODE_MAX(codec, thread->next, thread->count);
		code_program(codec, follower, &thread->entered);
		CODE_NUMBER(codec, thread->entered_interval);
	}
}

int follower_code(struct follower *follower, struct codec *codec)
{
	uint64_t piece = follower->piece ? (uint64_t)(follower->piece - follower->pieces) + 1 : 0;
	int error;

	CODE_MAX(codec, follower->given_up, 1);
	CODE_NUMBER(codec, follower->work);
	error = code_places(codec, follower);
	CODE_SIGNED(codec, follower->pid);
	CODE_SIGNED(codec, follower->tid);
	code_program(codec, follower, &follower->program);
	code_program(codec, follower, &follower->next_program);
	code_program(codec, follower, &follower->entered);
	CODE_NUMBER(codec, follower->entered_interval);
	CODE_NUMBER(codec, follower->last_user);
	CODE_NUMBER(codec, follower->limit);
	for (unsigned int i = 0; i < PENDING_EXECS; i++)
		CODE_SIGNED(codec, follower->pending[i]);
	follower->pending_next %= PENDING_EXECS;
	CODE_MAX(codec, follower->pending_next, PENDING_EXECS - 1);
	code_threads(codec, follower);
	CODE_MAX(codec, follower->next_loss, follower->loss_count);
	CODE_MAX(codec, follower->next_piece, follower->piece_count);
	CODE_MAX(codec, piece, follower->piece_count);
	follower->piece = piece ? &follower->pieces[piece - 1] : NULL;
	CODE_MAX(codec, follower->piece_unsure, 1);
	if (!codec->to)
		follower_name(follower);
	return error ? error : !codec->to && codec->from->bad ? NTRACE_ERR_FORMAT : NTRACE_OK;
}
