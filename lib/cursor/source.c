// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A stream of a session as a source, see source.h. Several of one session may take turns with each other and
 * with ntrace_session_decode().
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
 * struct source - a decoder of a stream
 * @bytes: NULL: those of the stream's file
 * @fd: file with the plain bytes
 * @packed_fd: descriptor of @packed
 * @packed: file whose bytes are copied to @copy; NULL: all bytes are in @fd
 * @copy: file without a name, NULL: @fd is the file of the stream
 * @copied: number of bytes in @copy
 * @error: error of @packed after @copied bytes
 * @ended: the flow has ended
 */
struct source {
	struct decoding decoding;
	const struct raw_bytes *bytes;
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
 * struct source_state - the source between two messages
 * @decoding: its follower has no arrays
 * @places: places of the follower
 * @threads: changing part of the follower's threads
 * @program: program of the flow's space after @applied changes; NULL: @space
 * @space: a space that does not change any more; referenced
 */
struct source_state {
	struct decoding decoding;
	struct ntrace_reader reader;
	struct flow_state *flow;
	struct switch_place *places;
	struct thread_intervals *threads;
	struct program *program;
	size_t applied;
	struct ntrace_space *space;
};

static int open_bytes(struct source *source)
{
	const struct ntrace_stream *info = source->info;
	struct ntrace_trace_file *file;
	int fd, result;

	if (source->bytes) {
		source->fd = source->bytes->fd;
		return 0;
	}
	result = decoding_open_file(info, &file, &fd);
	if (result)
		return result;
	if (!ntrace_trace_file_packed(file) && !info->params->atid) {
		ntrace_trace_file_close(file);
		source->fd = fd;
		return 0;
	}
	ntrace_trace_file_limit(file, decoding_recorded_bytes(source->decoding.session, info));
	source->packed = file;
	source->packed_fd = fd;
	source->copy = recording_open_nameless();
	if (!source->copy)
		return NTRACE_ERR_IO;
	source->fd = fileno(source->copy);
	return 0;
}

void source_free(struct source *source)
{
	decoding_end(&source->decoding);
	ntrace_trace_file_close(source->packed);
	if (source->packed_fd >= 0)
		close(source->packed_fd);
	if (source->copy)
		fclose(source->copy);
	else if (source->fd >= 0 && !source->bytes)
		close(source->fd);
	free(source);
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
static int copy_more(struct source *source)
{
	uint8_t bytes[CHUNK];
	ssize_t got;

	if (source->error)
		return source->error;
	got = ntrace_trace_file_read(source->packed, bytes, sizeof(bytes));
	if (got > 0 && write_all(source->fd, bytes, (size_t)got, source->copied))
		return NTRACE_ERR_IO;
	if (got < 0)
		source->error = (int)got;
	else
		source->copied += (uint64_t)got;
	return source->error;
}

/* Return: number of bytes, 0 at the end. */
static ssize_t copy_bytes(struct source *source, uint64_t offset)
{
	const struct raw_bytes *bytes = source->bytes;
	uint64_t left = offset < bytes->size ? bytes->size - offset : 0;
	size_t size = left < sizeof(source->chunk) ? (size_t)left : sizeof(source->chunk);

	if (size)
		memcpy(source->chunk, bytes->data + offset, size);
	return (ssize_t)size;
}

/* Return: number of bytes, 0 at the end, or an error. */
static ssize_t read_at(struct source *source, uint64_t offset)
{
	uint64_t most = decoding_recorded_bytes(source->decoding.session, source->info);
	size_t size = sizeof(source->chunk);
	ssize_t got;

	if (source->bytes && source->bytes->data)
		return copy_bytes(source, offset);
	if (source->packed && offset >= source->copied) {
		int error = copy_more(source);

		if (error)
			return error;
	}
	if (!source->packed)
		size = offset >= most ? 0 : most - offset < size ? (size_t)(most - offset) : size;
	do {
		got = pread(source->fd, source->chunk, size, (off_t)offset);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? NTRACE_ERR_IO : got;
}

static int end(struct source *source)
{
	uint64_t total = source->reader.offset, whole = source->info->bytes, pending;
	int result;

	/* The recorded length of a file with frames includes all sources. */
	if (source->packed)
		total = ntrace_trace_file_offset(source->packed);
	pending = ntrace_reader_pending(&source->reader);
	if (!pending && total < whole)
		pending = whole - total;
	source->ended = true;
	result = ntrace_flow_end(source->decoding.flow, pending);
	return result ? result : 1;
}

/* Takes the next message of the chunks. Return: its kind, 0 at the end, or an error. */
static int read_message(struct source *source, struct ntrace_message *message)
{
	int got;

	while ((got = ntrace_reader_next(&source->reader, message)) == NTRACE_ERR_AGAIN) {
		ssize_t size = read_at(source, source->reader.offset);

		if (size < 0)
			return (int)size;
		if (!size)
			return NTRACE_ERR_EOS;
		ntrace_reader_feed(&source->reader, source->chunk, (size_t)size);
	}
	return got;
}

static int step(struct source *source, bool *stamped)
{
	struct ntrace_message message;
	int got = read_message(source, &message), result;

	*stamped = got == NTRACE_WIRE_MESSAGE && ntrace_message_has(&message, NTRACE_FIELD_TSTAMP);
	if (got == NTRACE_ERR_EOS)
		return end(source);
	if (got < 0)
		return got;
	result = decoding_message(&source->decoding, got, &message);
	return result ? result : ntrace_flow_flush(source->decoding.flow);
}

int source_next(struct source *source, bool again, bool *stamped)
{
	struct ntrace_session *session = source->decoding.session;
	const struct notes notes = session->notes;
	int result;

	if (source->ended)
		return 1;
	if (again)
		session->notes = (struct notes){ 0 };
	result = step(source, stamped);
	session->notes = notes;
	return result;
}

uint64_t source_position(const struct source *source)
{
	return source->reader.offset;
}

const struct ntrace_context *source_context(const struct source *source)
{
	return ntrace_flow_context(source->decoding.flow);
}

static bool copy_arrays(struct source_state *state, const struct follower *follower)
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

void source_drop(struct source_state *state)
{
	if (!state)
		return;
	ntrace_space_put(state->space);
	free(state->flow);
	free(state->places);
	free(state->threads);
	free(state);
}

struct source_state *source_save(struct source *source, size_t *bytes)
{
	const struct decoding *decoding = &source->decoding;
	struct ntrace_space *space = flow_space(decoding->flow);
	const struct program_space *own =
		decoding->selected ? spaces_find(&decoding->spaces, decoding->selected) : NULL;
	struct source_state *state;

	state = calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	state->flow = flow_save(decoding->flow);
	if (!state->flow || !copy_arrays(state, &decoding->follower)) {
		source_drop(state);
		return NULL;
	}
	state->decoding = *decoding;
	state->reader = source->reader;
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

int source_load(struct source *source, const struct source_state *state)
{
	struct decoding *decoding = &source->decoding;
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
	source->reader = state->reader;
	/* The chunk may hold other bytes now. */
	source->reader.next = source->chunk;
	source->reader.end = source->chunk;
	source->ended = false;
	return 0;
}

int source_new(struct source **source, struct ntrace_session *session, unsigned int stream,
	       const struct raw_bytes *bytes, const struct ntrace_decode_options *output)
{
	struct source *made = calloc(1, sizeof(*made));
	int result;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->bytes = bytes;
	made->fd = -1;
	made->packed_fd = -1;
	result = decoding_begin(&made->decoding, session, stream, output, false);
	if (result) {
		free(made);
		return result;
	}
	made->info = ntrace_session_stream(session, stream);
	result = open_bytes(made);
	if (!result)
		result = ntrace_reader_init(
			&made->reader, made->info->params,
			bytes ? !bytes->cut : decoding_starts_whole(&made->decoding, made->info));
	if (result) {
		int saved = errno;

		source_free(made);
		errno = saved;
		return result;
	}
	*source = made;
	return 0;
}
