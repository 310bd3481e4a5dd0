// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decodes a stream of a recording step by step; see stepper.h.
 *
 * A compressed file, or one with frames, can only be read from its start. So its bytes are copied to
 * a file without a name, as far as they are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/flow.h"
#include "stepper.h"

#define CHUNK 16384

/**
 * struct session_stepper - a decoder of a stream
 * @fd: file with the plain bytes
 * @packed_fd: descriptor of @packed
 * @packed: file whose bytes are copied to @copy; NULL: all bytes are in @fd
 * @copy: file without a name, NULL: @fd is the file of the stream
 * @copied: number of bytes in @copy
 * @error: error of @packed after @copied bytes
 * @ended: the flow has ended
 */
struct session_stepper {
	struct decoding decoding;
	const struct ntrace_stream *info;
	struct ntrace_reader reader;
	int fd;
	int packed_fd;
	struct ntrace_trace_file *packed;
	FILE *copy;
	uint64_t copied;
	int error;
	bool ended;
	uint8_t chunk[CHUNK];
};

/**
 * struct session_state - a stepper between two messages
 * @decoding: its follower has no arrays
 * @places: places of the follower
 * @threads: changing part of the follower's threads
 * @program: program of the flow's space after @applied changes; NULL: @space
 * @space: a space that does not change any more; referenced
 */
struct session_state {
	struct decoding decoding;
	struct ntrace_reader reader;
	struct flow_state *flow;
	struct switch_place *places;
	struct thread_intervals *threads;
	struct program *program;
	size_t applied;
	struct ntrace_space *space;
};

static int open_bytes(struct session_stepper *stepper)
{
	const struct ntrace_stream *info = stepper->info;
	struct ntrace_trace_file *file;
	int fd, result = decoding_open_file(info, &file, &fd);

	if (result)
		return result;
	if (!ntrace_trace_file_packed(file) && !info->params->atid) {
		ntrace_trace_file_close(file);
		stepper->fd = fd;
		return 0;
	}
	stepper->packed = file;
	stepper->packed_fd = fd;
	stepper->copy = recording_open_nameless();
	if (!stepper->copy)
		return NTRACE_ERR_IO;
	stepper->fd = fileno(stepper->copy);
	return 0;
}

int session_stepper_new(struct session_stepper **stepper, struct ntrace_session *session,
			unsigned int stream, const struct ntrace_decode_options *options)
{
	struct session_stepper *made = calloc(1, sizeof(*made));
	int result;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->fd = -1;
	made->packed_fd = -1;
	result = decoding_begin(&made->decoding, session, stream, options, false);
	if (result) {
		free(made);
		return result;
	}
	made->info = ntrace_session_stream(session, stream);
	result = open_bytes(made);
	if (!result)
		result = ntrace_reader_init(&made->reader, made->info->params,
					    decoding_starts_whole(&made->decoding, made->info));
	if (result) {
		int saved = errno;

		session_stepper_free(made);
		errno = saved;
		return result;
	}
	*stepper = made;
	return 0;
}

void session_stepper_free(struct session_stepper *stepper)
{
	if (!stepper)
		return;
	decoding_end(&stepper->decoding);
	ntrace_trace_file_close(stepper->packed);
	if (stepper->packed_fd >= 0)
		close(stepper->packed_fd);
	if (stepper->copy)
		fclose(stepper->copy);
	else if (stepper->fd >= 0)
		close(stepper->fd);
	free(stepper);
}

static int write_all(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t put = pwrite(fd, bytes, size, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return NTRACE_ERR_IO;
		bytes += put;
		size -= (size_t)put;
		offset += (uint64_t)put;
	}
	return 0;
}

/* Copies the next bytes of a file that can only be read once. Return: 0 or an error. */
static int copy_more(struct session_stepper *stepper)
{
	uint8_t bytes[CHUNK];
	ssize_t got;

	if (stepper->error)
		return stepper->error;
	got = ntrace_trace_file_read(stepper->packed, bytes, sizeof(bytes));
	if (got > 0 && write_all(stepper->fd, bytes, (size_t)got, stepper->copied))
		return NTRACE_ERR_IO;
	if (got < 0)
		stepper->error = (int)got;
	else
		stepper->copied += (uint64_t)got;
	return stepper->error;
}

/* Return: number of bytes, 0 at the end, or an error. */
static ssize_t read_at(struct session_stepper *stepper, uint64_t offset)
{
	ssize_t got;

	if (stepper->packed && offset >= stepper->copied) {
		int error = copy_more(stepper);

		if (error)
			return error;
	}
	do {
		got = pread(stepper->fd, stepper->chunk, sizeof(stepper->chunk), (off_t)offset);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? NTRACE_ERR_IO : got;
}

static int end(struct session_stepper *stepper)
{
	uint64_t total = stepper->reader.offset, whole = stepper->info->bytes, pending;
	int result;

	/* The recorded length of a file with frames includes all sources. */
	if (stepper->packed)
		total = ntrace_trace_file_offset(stepper->packed);
	pending = ntrace_reader_pending(&stepper->reader);
	if (!pending && total < whole)
		pending = whole - total;
	stepper->ended = true;
	result = ntrace_flow_end(stepper->decoding.flow, pending);
	return result ? result : 1;
}

/* Takes the next message of the chunks. Return: its kind, 0 at the end, or an error. */
static int take_message(struct session_stepper *stepper, struct ntrace_message *message)
{
	int got;

	while ((got = ntrace_reader_next(&stepper->reader, message)) == NTRACE_ERR_AGAIN) {
		ssize_t size = read_at(stepper, stepper->reader.offset);

		if (size < 0)
			return (int)size;
		if (!size)
			return NTRACE_ERR_EOS;
		ntrace_reader_feed(&stepper->reader, stepper->chunk, (size_t)size);
	}
	return got;
}

static int step(struct session_stepper *stepper, bool *stamped)
{
	struct ntrace_message message;
	int got = take_message(stepper, &message), result;

	*stamped = got == NTRACE_WIRE_MESSAGE && ntrace_message_has(&message, NTRACE_FIELD_TSTAMP);
	if (got == NTRACE_ERR_EOS)
		return end(stepper);
	if (got < 0)
		return got;
	result = decoding_message(&stepper->decoding, got, &message);
	return result ? result : ntrace_flow_flush(stepper->decoding.flow);
}

int session_stepper_next(struct session_stepper *stepper, bool again, bool *stamped)
{
	struct ntrace_session *session = stepper->decoding.session;
	const struct notes notes = session->notes;
	int result;

	if (stepper->ended)
		return 1;
	if (again)
		session->notes = (struct notes){ 0 };
	result = step(stepper, stamped);
	session->notes = notes;
	return result;
}

uint64_t session_stepper_position(const struct session_stepper *stepper)
{
	return stepper->reader.offset;
}

const struct ntrace_context *session_stepper_context(const struct session_stepper *stepper)
{
	return ntrace_flow_context(stepper->decoding.flow);
}

static bool copy_arrays(struct session_state *state, const struct follower *follower)
{
	size_t places = follower->count * sizeof(*state->places);
	size_t threads = follower->thread_count * sizeof(*state->threads);

	state->places = places ? malloc(places) : NULL;
	state->threads = threads ? malloc(threads) : NULL;
	if ((places && !state->places) || (threads && !state->threads))
		return false;
	if (places)
		memcpy(state->places, follower->places, places);
	if (threads)
		memcpy(state->threads, follower->threads, threads);
	return true;
}

struct session_state *session_stepper_save(struct session_stepper *stepper, size_t *bytes)
{
	const struct decoding *decoding = &stepper->decoding;
	struct ntrace_space *space = flow_space(decoding->flow);
	const struct program_space *own =
		decoding->selected ? spaces_find(&decoding->spaces, decoding->selected) : NULL;
	struct session_state *state;

	state = calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	state->flow = flow_save(decoding->flow);
	if (!state->flow || !copy_arrays(state, &decoding->follower)) {
		session_state_free(state);
		return NULL;
	}
	state->decoding = *decoding;
	state->reader = stepper->reader;
	if (space && own && own->space == space) {
		state->program = decoding->selected;
		state->applied = own->applied;
	} else {
		state->space = ntrace_space_get(space);
	}
	*bytes = sizeof(*state) + sizeof(*state->flow) +
		 decoding->follower.count * sizeof(*state->places) +
		 decoding->follower.thread_count * sizeof(*state->threads);
	return state;
}

int session_stepper_load(struct session_stepper *stepper, const struct session_state *state)
{
	struct decoding *decoding = &stepper->decoding;
	struct follower *follower = &decoding->follower;
	size_t count = state->decoding.follower.count;
	struct thread_intervals *threads = follower->threads;
	struct ntrace_space *space = state->space;
	struct switch_place *places = NULL;
	struct spaces spaces;

	decoding->spaces.error = 0;
	if (state->program) {
		space = spaces_after(&decoding->spaces, state->program, state->applied);
		if (!space)
			return NTRACE_ERR_NOMEM;
	}
	if (count) {
		places = malloc(count * sizeof(*places));
		if (!places)
			return NTRACE_ERR_NOMEM;
		memcpy(places, state->places, count * sizeof(*places));
	}
	free(follower->places);
	/* Spaces stay: they are made again as far as they are those of another time. */
	spaces = decoding->spaces;
	*decoding = state->decoding;
	decoding->spaces = spaces;
	follower->places = places;
	follower->room = count;
	follower->threads = threads;
	if (state->threads)
		memcpy(threads, state->threads, follower->thread_count * sizeof(*threads));
	flow_load(decoding->flow, state->flow, space);
	stepper->reader = state->reader;
	/* The chunk may hold other bytes now. */
	stepper->reader.next = stepper->chunk;
	stepper->reader.end = stepper->chunk;
	stepper->ended = false;
	return 0;
}

void session_state_free(struct session_state *state)
{
	if (!state)
		return;
	ntrace_space_put(state->space);
	free(state->flow);
	free(state->places);
	free(state->threads);
	free(state);
}
