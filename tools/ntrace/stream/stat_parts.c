// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the contents of a trace file in parts.
 *
 * The file is cut after messages with SYNC, where the statistics of messages begin anew and a flow
 * knows little. Threads take the parts in order; each part is counted with a guessed state of its
 * flow, and joined when the part before is. A part whose guess was wrong is decoded again. A flow
 * counts messages that it knows. One thread counts the whole file as one part.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/messages.h>
#include <ntrace/parts.h>

#include "common/command.h"
#include "common/ui.h"
#include "stat_parts.h"

/* Bytes of a part: few enough that all threads have work to the end, enough to fill caches once. */
#define PART_MIN (UINT64_C(256) << 10)
#define PART_MAX (UINT64_C(32) << 20)
#define PARTS_OF_JOB 4
#define CHUNK ((size_t)1 << 20)
#define BATCH 64	/* messages */
/* Bytes from the begin that show how the stream is: its mode, and warnings given once. */
#define SAMPLE ((size_t)128 << 10)

/**
 * struct part - messages from one cut to the next
 * @first, @after: position of the first message, and after the last one
 * @sync_length: bytes of the message with SYNC before it
 * @guess: state of the flow before the first message; not used for the first part
 * @end: state after the last message, if @small
 * @messages: statistics of the messages
 * @flow: statistics of the flow; the fields that statistics_event() and statistics_blocks() count
 * @excess: there was an error that depends on earlier parts
 * @error: enum ntrace_error, with @saved_errno
 */
struct part {
	uint64_t first;
	uint64_t after;
	uint64_t sync_length;
	struct ntrace_flow_state guess;
	struct ntrace_flow_state end;
	struct statistics messages;
	struct statistics flow;
	struct sanity sanity;
	int error;
	int saved_errno;
	bool small;
	bool excess;
	bool done;
};

struct team {
	const struct stat_parts *work;
	int fd;
	uint64_t size;
	struct part *parts;
	size_t count;
	size_t next;
	bool stop;
	pthread_mutex_t lock;
	pthread_cond_t ended;
};

/* ---- one part ---- */

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct part *part = data;

	part->excess |= event->type == NTRACE_FLOW_ERROR && event->code == NTRACE_FLOW_ERROR_EXCESS;
	statistics_event(&part->flow, 0, event);
	return 0;
}

static int take_blocks(void *data, const struct ntrace_block_batch *batch)
{
	struct part *part = data;

	statistics_blocks(&part->flow, 0, batch);
	return 0;
}

static int take_effect(void *data, const struct ntrace_flow_effect *effect)
{
	struct part *part = data;

	statistics_effect(&part->flow, 0, effect);
	return 0;
}

/*
 * A flow that continues at @state; NULL: at the begin of the stream. Timestamps move the time of a space,
 * so the code of all threads is that of the parent of its own.
 */
static int new_flow(struct ntrace_flow **flow, const struct team *team, struct part *part,
		    const struct ntrace_flow_state *state)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = team->work->params,
		.event = take_event,
		.data = part,
		.blocks = take_blocks,
		.effect = take_effect,
	};
	int error = ntrace_space_new(&config.space, "part", team->work->space);

	if (error)
		return error;
	error = ntrace_flow_new(flow, &config);
	if (!error && state)
		error = ntrace_flow_set_state(*flow, state, config.space);
	ntrace_space_put(config.space);
	return error;
}

/* Counts the messages of a chunk. */
static int count_messages(struct part *part, struct ntrace_reader *reader,
			  struct ntrace_message *batch, enum ntrace_dialect dialect)
{
	struct ntrace_message message;
	int event;

	for (;;) {
		size_t number = ntrace_reader_batch(reader, batch, BATCH);

		for (size_t i = 0; i < number; i++) {
			sanity_message(&part->sanity, NTRACE_WIRE_MESSAGE, &batch[i], dialect);
			if (!statistics_message(&part->messages, &batch[i]))
				return NTRACE_ERR_NOMEM;
		}
		event = ntrace_reader_next(reader, &message);
		if (event < 0)
			return 0;
		sanity_message(&part->sanity, event, &message, dialect);
		if (event == NTRACE_WIRE_ERROR)
			statistics_lost(&part->messages);
		else if (!statistics_message(&part->messages, &message))
			return NTRACE_ERR_NOMEM;
	}
}

/* Decodes a chunk; known messages are counted instead. */
static int count_flow(struct ntrace_flow *flow, struct ntrace_reader *reader)
{
	struct ntrace_message message;
	int error, event;

	do {
		error = ntrace_flow_count(flow, reader);
		event = error ? error : ntrace_reader_next(reader, &message);
		if (event < 0)
			return error;
		/* The instructions before a message with SYNC are a figure. */
		if (event == NTRACE_WIRE_MESSAGE && ntrace_message_has(&message, NTRACE_FIELD_SYNC))
			error = ntrace_flow_flush(flow);
		if (!error)
			error = event == NTRACE_WIRE_MESSAGE ?
					ntrace_flow_message(flow, &message) :
					ntrace_flow_wire_error(flow, message.offset);
	} while (!error);
	return error;
}

/* Reads the bytes of a part, chunk by chunk. */
static int read_part(const struct team *team, struct part *part, struct ntrace_flow *flow,
		     struct ntrace_reader *reader, bool messages)
{
	enum ntrace_dialect dialect = team->work->params->dialect;
	struct ntrace_message *batch = calloc(BATCH, sizeof(*batch));
	struct ntrace_reader ahead;
	uint8_t *chunk = malloc(CHUNK);
	uint64_t at = part->first;
	int error = chunk && batch ? 0 : NTRACE_ERR_NOMEM;

	while (!error && at < part->after) {
		size_t size = part->after - at < CHUNK ? (size_t)(part->after - at) : CHUNK;
		ssize_t got = pread(team->fd, chunk, size, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			/* A file that was cut since ends here. */
			error = got ? NTRACE_ERR_IO : NTRACE_ERR_TRUNCATED;
			break;
		}
		ntrace_reader_feed(reader, chunk, (size_t)got);
		at += (uint64_t)got;
		ahead = *reader;
		if (messages)
			error = count_messages(part, &ahead, batch, dialect);
		if (!error && flow)
			error = count_flow(flow, reader);
		else
			*reader = ahead;
		/* The other thread waits. */
		if (team->work->jobs < 2 && team->work->progress)
			progress_update(team->work->progress, at);
	}
	free(batch);
	free(chunk);
	return error;
}

/* Decodes a part from @state. @messages: count messages, too. */
static int decode_part(const struct team *team, struct part *part,
		       const struct ntrace_flow_state *state, bool messages)
{
	struct ntrace_flow *flow = NULL;
	struct ntrace_reader reader;
	int error = ntrace_reader_init(&reader, team->work->params, true);

	part->excess = false;
	part->small = false;
	if (!error && team->work->space)
		error = new_flow(&flow, team, part, state);
	if (error)
		return error;
	/* The message before the part synchronizes. */
	if (part->first &&
	    !statistics_continue(&part->flow, messages ? &part->messages : NULL, part->sync_length))
		error = NTRACE_ERR_NOMEM;
	reader.offset = part->first;
	if (!error)
		error = read_part(team, part, flow, &reader, messages);
	if (!error && messages)
		statistics_end(&part->messages, &reader);
	if (!error && flow && part->after == team->size)
		error = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	else if (!error && flow)
		error = ntrace_flow_flush(flow);
	part->end.size = sizeof(part->end);
	if (!error && flow)
		part->small = !ntrace_flow_get_state(flow, &part->end);
	ntrace_flow_free(flow);
	return error;
}

/* ---- cuts ---- */

/* Finds the first message with SYNC from @from on, within @team->size. Return: false: none, or an error. */
static bool find_sync(const struct team *team, uint64_t from, struct ntrace_wire_sync *sync)
{
	uint8_t *chunk = malloc(CHUNK);
	bool found = false;
	/* The byte before shows whether a message starts at @from. */
	uint64_t base = from - 1;
	size_t start = 1;

	while (chunk && !found) {
		ssize_t got = pread(team->fd, chunk, CHUNK, (off_t)base);
		int result;

		if (got <= (ssize_t)start)
			break;
		result = ntrace_wire_sync_next(chunk, (size_t)got, start, false, team->work->params,
					       0, sync);
		found = !result;
		if (result && result != NTRACE_ERR_AGAIN)
			break;
		if (!found && !sync->offset)
			break;
		if (found) {
			sync->offset += base;
			break;
		}
		base += sync->offset - 1;
		start = 1;
		if (base + 1 >= team->size)
			break;
	}
	free(chunk);
	return found && sync->offset + sync->length < team->size;
}

/* The state after the last message with SYNC of the first bytes. Return: false: there is none. */
static bool take_sample(const struct team *team, struct ntrace_flow_state *like)
{
	struct part *part = calloc(1, sizeof(*part));
	struct ntrace_wire_sync sync;
	uint64_t at = 1;
	bool found = false;

	if (!part)
		return false;
	while (at < SAMPLE && find_sync(team, at, &sync) && sync.offset + sync.length <= SAMPLE) {
		at = sync.offset + sync.length;
		part->after = at;
		/* The first messages show how a part begins; more only cost time. */
		if (at > SAMPLE / 2)
			break;
	}
	if (part->after && !decode_part(team, part, NULL, false) && part->small) {
		*like = part->end;
		found = true;
	}
	statistics_free(&part->flow);
	free(part);
	return found;
}

/* One thread takes all as one part. Return: 0, NTRACE_ERR_NOMEM; NTRACE_ERR_AGAIN: there is no cut. */
static int cut(struct team *team)
{
	uint64_t size = team->size / (PARTS_OF_JOB * team->work->jobs), at;
	struct ntrace_flow_state like = { .size = sizeof(like) };
	bool alone = team->work->jobs < 2;
	bool known = !alone && team->work->space && take_sample(team, &like);
	struct ntrace_wire_sync sync;

	size = alone ? team->size : size < PART_MIN ? PART_MIN : size > PART_MAX ? PART_MAX : size;
	team->parts = calloc((size_t)(team->size / size + 1), sizeof(*team->parts));
	if (!team->parts)
		return NTRACE_ERR_NOMEM;
	team->count = 1;
	for (at = size; at + size / 2 < team->size && find_sync(team, at, &sync);
	     at = team->parts[team->count - 1].first + size) {
		struct part *part = &team->parts[team->count];

		part->first = sync.offset + sync.length;
		part->sync_length = sync.length;
		part->guess.size = sizeof(part->guess);
		if (ntrace_part_guess(&part->guess, &sync, 0, team->work->params,
				      known ? &like : NULL))
			return NTRACE_ERR_AGAIN;
		team->parts[team->count - 1].after = part->first;
		team->count++;
	}
	team->parts[team->count - 1].after = team->size;
	return team->count > 1 || alone ? 0 : NTRACE_ERR_AGAIN;
}

/* ---- threads ---- */

static void *work(void *data)
{
	struct team *team = data;

	for (;;) {
		struct part *part = NULL;
		size_t number;

		pthread_mutex_lock(&team->lock);
		number = team->next;
		if (!team->stop && number < team->count)
			part = &team->parts[team->next++];
		pthread_mutex_unlock(&team->lock);
		if (!part)
			return NULL;
		part->error = decode_part(team, part, number ? &part->guess : NULL, true);
		part->saved_errno = errno;
		pthread_mutex_lock(&team->lock);
		part->done = true;
		pthread_cond_broadcast(&team->ended);
		pthread_mutex_unlock(&team->lock);
	}
}

/* Joins part @number to those before. Return: 0, NTRACE_ERR_AGAIN (it cannot be joined), or an error. */
static int join_flow(const struct team *team, size_t number)
{
	struct part *part = &team->parts[number], *before = part - 1;
	int error;

	if (!number || !team->work->space)
		return 0;
	if (!before->small)
		return NTRACE_ERR_AGAIN;
	error = ntrace_part_join(&part->guess, &before->end, part->small ? &part->end : NULL,
				 part->excess ? NTRACE_PART_EXCESS : 0);
	if (error != NTRACE_ERR_AGAIN)
		return error;
	statistics_free(&part->flow);
	return decode_part(team, part, &before->end, false);
}

static void free_part(struct part *part)
{
	statistics_free(&part->messages);
	statistics_free(&part->flow);
}

static void add_sanity(struct sanity *sum, const struct sanity *more)
{
	sum->messages += more->messages;
	sum->wrong += more->wrong;
	sum->coded += more->coded;
	sum->reserved += more->reserved;
}

static int join(struct team *team, struct statistics *sum, struct sanity *sanity)
{
	int error = 0;
	size_t i;

	for (i = 0; i < team->count && !error; i++) {
		struct part *part = &team->parts[i];

		pthread_mutex_lock(&team->lock);
		while (!part->done)
			pthread_cond_wait(&team->ended, &team->lock);
		pthread_mutex_unlock(&team->lock);
		error = part->error;
		errno = part->saved_errno;
		if (!error)
			error = join_flow(team, i);
		if (!error &&
		    (!statistics_add(sum, &part->messages) || !statistics_add(sum, &part->flow)))
			error = NTRACE_ERR_NOMEM;
		add_sanity(sanity, &part->sanity);
		/* The state at the end is still needed. */
		free_part(part);
		if (team->work->progress)
			progress_update(team->work->progress, part->after);
	}
	pthread_mutex_lock(&team->lock);
	team->stop = true;
	pthread_mutex_unlock(&team->lock);
	return error;
}

static int run(struct team *team, struct statistics *sum, struct sanity *sanity)
{
	pthread_t *threads = calloc(team->work->jobs, sizeof(*threads));
	unsigned int started = 0, i;
	int error = 0, saved;

	if (!threads)
		return NTRACE_ERR_NOMEM;
	while (started < team->work->jobs && started < team->count &&
	       !pthread_create(&threads[started], NULL, work, team))
		started++;
	error = started ? join(team, sum, sanity) : NTRACE_ERR_AGAIN;
	saved = errno;
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	errno = saved;
	return error;
}

/* Whether the file has the bytes of the stream in their order; its size is known then. */
static bool is_plain(const struct trace *trace)
{
	return !trace->framed && !trace->words16 && !ntrace_trace_file_packed(trace->file);
}

int stat_in_parts(const struct stat_parts *parts)
{
	struct team team = { .work = parts,
			     .fd = parts->trace->fd,
			     .size = parts->trace->size,
			     .lock = PTHREAD_MUTEX_INITIALIZER,
			     .ended = PTHREAD_COND_INITIALIZER };
	struct statistics *sum = calloc(1, sizeof(*sum));
	struct sanity sanity = { 0 };
	int error;
	size_t i;

	if (!sum)
		return fail("out of memory");
	if (parts->params->src_bits || parts->params->atid || !is_plain(parts->trace) ||
	    team.size < 2 * PART_MIN) {
		free(sum);
		return STAT_WHOLE;
	}
	error = cut(&team);
	if (!error)
		error = run(&team, sum, &sanity);
	for (i = 0; i < team.count; i++)
		free_part(&team.parts[i]);
	free(team.parts);
	if (!error) {
		sum->params = *parts->params;
		sum->decodable = parts->space;
		statistics_take(parts->statistics, sum);
		parts->trace->sanity = sanity;
		if (parts->trace->given)
			sanity_warn(&sanity, parts->trace->name);
	} else {
		statistics_free(sum);
	}
	free(sum);
	if (error == NTRACE_ERR_AGAIN || error == NTRACE_ERR_TRUNCATED)
		return STAT_WHOLE;
	return error ? fail("%s: %s", parts->trace->name, error_text(error)) : EXIT_OK;
}
