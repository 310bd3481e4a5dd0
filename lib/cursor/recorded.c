// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A stream of a session as a source. Several of one session may take turns with each other and with
 * ntrace_session_decode().
 *
 * A compressed file, or one with frames, can only be read from its start. So its bytes are copied to
 * a file without a name, as far as they are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/flow.h"
#include "session/decode.h"
#include "source.h"

#define CHUNK 16384

/**
 * struct recorded - a decoder of a stream
 * @fd: file with the plain bytes
 * @packed_fd: descriptor of @packed
 * @packed: file whose bytes are copied to @copy; NULL: all bytes are in @fd
 * @copy: file without a name, NULL: @fd is the file of the stream
 * @copied: number of bytes in @copy
 * @error: error of @packed after @copied bytes
 * @ended: the flow has ended
 */
struct recorded {
	struct source source;
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
 * struct recorded_state - the source between two messages
 * @decoding: its follower has no arrays
 * @places: places of the follower
 * @threads: changing part of the follower's threads
 * @program: program of the flow's space after @applied changes; NULL: @space
 * @space: a space that does not change any more; referenced
 */
struct recorded_state {
	struct decoding decoding;
	struct ntrace_reader reader;
	struct flow_state *flow;
	struct switch_place *places;
	struct thread_intervals *threads;
	struct program *program;
	size_t applied;
	struct ntrace_space *space;
};

static int open_bytes(struct recorded *recorded)
{
	const struct ntrace_stream *info = recorded->info;
	struct ntrace_trace_file *file;
	int fd, result = decoding_open_file(info, &file, &fd);

	if (result)
		return result;
	if (!ntrace_trace_file_packed(file) && !info->params->atid) {
		ntrace_trace_file_close(file);
		recorded->fd = fd;
		return 0;
	}
	ntrace_trace_file_limit(file, decoding_recorded_bytes(recorded->decoding.session, info));
	recorded->packed = file;
	recorded->packed_fd = fd;
	recorded->copy = recording_open_nameless();
	if (!recorded->copy)
		return NTRACE_ERR_IO;
	recorded->fd = fileno(recorded->copy);
	return 0;
}

static struct recorded *recorded_of(const struct source *source)
{
	return (struct recorded *)(uintptr_t)source;
}

static void free_source(struct source *source)
{
	struct recorded *recorded = recorded_of(source);

	decoding_end(&recorded->decoding);
	ntrace_trace_file_close(recorded->packed);
	if (recorded->packed_fd >= 0)
		close(recorded->packed_fd);
	if (recorded->copy)
		fclose(recorded->copy);
	else if (recorded->fd >= 0)
		close(recorded->fd);
	free(recorded);
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
static int copy_more(struct recorded *recorded)
{
	uint8_t bytes[CHUNK];
	ssize_t got;

	if (recorded->error)
		return recorded->error;
	got = ntrace_trace_file_read(recorded->packed, bytes, sizeof(bytes));
	if (got > 0 && write_all(recorded->fd, bytes, (size_t)got, recorded->copied))
		return NTRACE_ERR_IO;
	if (got < 0)
		recorded->error = (int)got;
	else
		recorded->copied += (uint64_t)got;
	return recorded->error;
}

/* Return: number of bytes, 0 at the end, or an error. */
static ssize_t read_at(struct recorded *recorded, uint64_t offset)
{
	uint64_t most = decoding_recorded_bytes(recorded->decoding.session, recorded->info);
	size_t size = sizeof(recorded->chunk);
	ssize_t got;

	if (recorded->packed && offset >= recorded->copied) {
		int error = copy_more(recorded);

		if (error)
			return error;
	}
	if (!recorded->packed)
		size = offset >= most ? 0 : most - offset < size ? (size_t)(most - offset) : size;
	do {
		got = pread(recorded->fd, recorded->chunk, size, (off_t)offset);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? NTRACE_ERR_IO : got;
}

static int end(struct recorded *recorded)
{
	uint64_t total = recorded->reader.offset, whole = recorded->info->bytes, pending;
	int result;

	/* The recorded length of a file with frames includes all sources. */
	if (recorded->packed)
		total = ntrace_trace_file_offset(recorded->packed);
	pending = ntrace_reader_pending(&recorded->reader);
	if (!pending && total < whole)
		pending = whole - total;
	recorded->ended = true;
	result = ntrace_flow_end(recorded->decoding.flow, pending);
	return result ? result : 1;
}

/* Takes the next message of the chunks. Return: its kind, 0 at the end, or an error. */
static int take_message(struct recorded *recorded, struct ntrace_message *message)
{
	int got;

	while ((got = ntrace_reader_next(&recorded->reader, message)) == NTRACE_ERR_AGAIN) {
		ssize_t size = read_at(recorded, recorded->reader.offset);

		if (size < 0)
			return (int)size;
		if (!size)
			return NTRACE_ERR_EOS;
		ntrace_reader_feed(&recorded->reader, recorded->chunk, (size_t)size);
	}
	return got;
}

static int step(struct recorded *recorded, bool *stamped)
{
	struct ntrace_message message;
	int got = take_message(recorded, &message), result;

	*stamped = got == NTRACE_WIRE_MESSAGE && ntrace_message_has(&message, NTRACE_FIELD_TSTAMP);
	if (got == NTRACE_ERR_EOS)
		return end(recorded);
	if (got < 0)
		return got;
	result = decoding_message(&recorded->decoding, got, &message);
	return result ? result : ntrace_flow_flush(recorded->decoding.flow);
}

static int next(struct source *source, bool again, bool *stamped)
{
	struct recorded *recorded = recorded_of(source);
	struct ntrace_session *session = recorded->decoding.session;
	const struct notes notes = session->notes;
	int result;

	if (recorded->ended)
		return 1;
	if (again)
		session->notes = (struct notes){ 0 };
	result = step(recorded, stamped);
	session->notes = notes;
	return result;
}

static uint64_t position(const struct source *source)
{
	return recorded_of(source)->reader.offset;
}

static const struct ntrace_context *context(const struct source *source)
{
	return ntrace_flow_context(recorded_of(source)->decoding.flow);
}

static bool copy_arrays(struct recorded_state *state, const struct follower *follower)
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

static void drop(void *saved)
{
	struct recorded_state *state = saved;

	if (!state)
		return;
	ntrace_space_put(state->space);
	free(state->flow);
	free(state->places);
	free(state->threads);
	free(state);
}

static void *save(struct source *source, size_t *bytes)
{
	struct recorded *recorded = recorded_of(source);
	const struct decoding *decoding = &recorded->decoding;
	struct ntrace_space *space = flow_space(decoding->flow);
	const struct program_space *own =
		decoding->selected ? spaces_find(&decoding->spaces, decoding->selected) : NULL;
	struct recorded_state *state;

	state = calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	state->flow = flow_save(decoding->flow);
	if (!state->flow || !copy_arrays(state, &decoding->follower)) {
		drop(state);
		return NULL;
	}
	state->decoding = *decoding;
	state->reader = recorded->reader;
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

static int load(struct source *source, const void *saved)
{
	const struct recorded_state *state = saved;
	struct recorded *recorded = recorded_of(source);
	struct decoding *decoding = &recorded->decoding;
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
	recorded->reader = state->reader;
	/* The chunk may hold other bytes now. */
	recorded->reader.next = recorded->chunk;
	recorded->reader.end = recorded->chunk;
	recorded->ended = false;
	return 0;
}

static const struct source_ops recorded_ops = {
	.next = next,
	.position = position,
	.context = context,
	.save = save,
	.load = load,
	.drop = drop,
	.free = free_source,
};

int source_of_session(struct source **source, struct ntrace_session *session, unsigned int stream,
		      const struct ntrace_decode_options *output)
{
	struct recorded *made = calloc(1, sizeof(*made));
	int result;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->source.ops = &recorded_ops;
	made->fd = -1;
	made->packed_fd = -1;
	result = decoding_begin(&made->decoding, session, stream, output, false);
	if (result) {
		free(made);
		return result;
	}
	made->info = ntrace_session_stream(session, stream);
	made->source.dialect = made->info->params->dialect;
	result = open_bytes(made);
	if (!result)
		result = ntrace_reader_init(&made->reader, made->info->params,
					    decoding_starts_whole(&made->decoding, made->info));
	if (result) {
		int saved = errno;

		free_source(&made->source);
		errno = saved;
		return result;
	}
	*source = &made->source;
	return 0;
}
