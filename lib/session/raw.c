// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Raw traces: a file of messages, and code that the caller has mapped.
 *
 * Such a trace has no sideband. Each SRC becomes a stream, and all streams execute the caller's code, which
 * counts as firmware because no task is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/object.h"
#include "regular.h"
#include "session.h"
#include "struct_size.h"
#include "wire/params.h"

#define CHUNK 16384
#define SOURCES (1u << NTRACE_SRC_BITS_MAX)

/*
 * Reads the trace. @seen: marks the SRC of each message; @bytes: uncompressed bytes. Return: 0,
 * NTRACE_ERR_IO, NTRACE_ERR_FORMAT or NTRACE_ERR_NOMEM.
 */
static int find_sources(int fd, const char *name, const struct ntrace_params *params, bool *seen,
			uint64_t *bytes)
{
	uint8_t chunk[CHUNK];
	struct ntrace_trace_file *file;
	struct ntrace_message message;
	struct ntrace_reader reader;
	ssize_t got = 0;
	int event, error;

	error = ntrace_trace_file_open(
		&file, fd, session_is_packed(name) ? NTRACE_TRACE_ZSTD : NTRACE_TRACE_PLAIN);
	if (error)
		return error;
	if (params->atid)
		error = ntrace_trace_file_unframe(file, params->atid);
	if (!error)
		error = ntrace_reader_init(&reader, params, true);
	while (!error && (got = ntrace_trace_file_read(file, chunk, sizeof(chunk))) > 0) {
		ntrace_reader_feed(&reader, chunk, (size_t)got);
		while ((event = ntrace_reader_next(&reader, &message)) != NTRACE_ERR_AGAIN)
			if (event == NTRACE_WIRE_MESSAGE &&
			    ntrace_message_has(&message, NTRACE_FIELD_SRC))
				seen[message.field[NTRACE_FIELD_SRC]] = true;
	}
	*bytes = ntrace_trace_file_offset(file);
	ntrace_trace_file_close(file);
	return error ? error : (int)got;
}

/* One stream for each SRC; one if no message has a SRC. */
static int make_streams(struct ntrace_session *session, const bool *seen, uint64_t bytes)
{
	unsigned int count = 0;

	session->streams = calloc(SOURCES, sizeof(*session->streams));
	if (!session->streams)
		return NTRACE_ERR_NOMEM;
	for (unsigned int src = 0; src < SOURCES; src++) {
		struct ntrace_stream *stream = &session->streams[count];

		if (!seen[src] && (src + 1 < SOURCES || count))
			continue;
		*stream = (struct ntrace_stream){
			.file = strdup(session->directory),
			.params = &session->raw_params,
			.cpu = count,
			.hartid = count,
			.src = seen[src] ? src : 0,
			.bytes = bytes,
			.lost_exact = true,
		};
		if (!stream->file)
			return NTRACE_ERR_NOMEM;
		session->recording->stream_count = ++count;
	}
	session->recording->streams = session->streams;
	return 0;
}

/* Recordings tell compressed files by their names only, see session_is_packed(). */
static int check_name(struct ntrace_session *session, int fd)
{
	uint8_t magic[TRACE_FILE_MAGIC];
	ssize_t got = pread(fd, magic, sizeof(magic), 0);
	bool packed = got > 0 && trace_file_is_zstd(magic, (size_t)got);

	if (got <= 0 || packed == session_is_packed(session->directory))
		return 0;
	session_note(session, packed ? "zstd has compressed it: its name must end in .zst" :
				       "zstd has not compressed it, as its name says");
	return NTRACE_ERR_UNSUPPORTED;
}

static int open_streams(struct ntrace_session *session)
{
	bool *seen = calloc(SOURCES, sizeof(*seen));
	struct stat status;
	uint64_t bytes = 0;
	int fd, error;

	if (!seen)
		return NTRACE_ERR_NOMEM;
	error = open_regular(session->directory, &fd, &status);
	if (error == NTRACE_ERR_FORMAT)
		session_note(session, "%s is not a regular file", session->directory);
	if (!error) {
		error = check_name(session, fd);
		bytes = (uint64_t)status.st_size;
		if (!error &&
		    (session->raw_params.src_bits || session_is_packed(session->directory)))
			error = find_sources(fd, session->directory, &session->raw_params, seen,
					     &bytes);
		if (error == NTRACE_ERR_FORMAT)
			session_note(session, "what zstd compressed is damaged after %llu bytes",
				     (unsigned long long)bytes);
		close(fd);
	}
	if (!error)
		error = make_streams(session, seen, bytes);
	free(seen);
	return error;
}

/* All code is firmware. */
static int begin_raw(struct ntrace_session *session)
{
	session->single = true;
	session->raw = true;
	session->firmware_last = UINT64_MAX;
	session->recording = recording_of_nothing();
	return session->recording ? 0 : NTRACE_ERR_NOMEM;
}

static int fill_code(struct ntrace_session *session, const struct ntrace_params *params,
		     unsigned int src, const struct ntrace_space *code)
{
	int error = begin_raw(session);

	if (!error)
		error = params_copy(&session->raw_params, &session->raw_text, params);
	if (!error && code)
		error = ntrace_space_clone(&session->kernel, ntrace_space_name(code), code);
	session->streams = error ? NULL : calloc(1, sizeof(*session->streams));
	if (!session->streams)
		return error ? error : NTRACE_ERR_NOMEM;
	session->streams[0] = (struct ntrace_stream){ .params = &session->raw_params, .src = src };
	session->recording->streams = session->streams;
	session->recording->stream_count = 1;
	return 0;
}

int session_of_code(struct ntrace_session **session, const struct ntrace_params *params,
		    unsigned int src, const struct ntrace_space *code)
{
	struct ntrace_params full;
	int error;

	ntrace_params_init(&full);
	if (params && STRUCT_TAKE(&full, params))
		return NTRACE_ERR_INVALID;
	*session = session_new();
	if (!*session)
		return NTRACE_ERR_NOMEM;
	error = fill_code(*session, &full, src, code);
	if (error)
		ntrace_session_close(*session);
	return error;
}

int session_load_raw(struct ntrace_session *session, const struct ntrace_session_options *options)
{
	int error = begin_raw(session);

	if (error)
		return error;
	ntrace_params_init(&session->raw_params);
	/* The ISA of the parameters is a part of this text. */
	session->raw_text = strdup(options->params ? options->params : "");
	if (!session->raw_text)
		return NTRACE_ERR_NOMEM;
	if (ntrace_params_parse(&session->raw_params, session->raw_text, NULL))
		return NTRACE_ERR_INVALID;
	session->kernel = ntrace_space_get(options->code);
	return open_streams(session);
}
