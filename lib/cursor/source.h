/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a lane gets its events from: a stream of a session. It is decoded message by message, and again from
 * saved states, always with the same result.
 */
#ifndef NTRACE_CURSOR_SOURCE_H
#define NTRACE_CURSOR_SOURCE_H

#include <ntrace/cursor.h>

struct source;

/**
 * struct raw_bytes - the bytes of a raw stream, borrowed
 * @data: NULL: they are in the file @fd
 * @cut: the first one may be inside a message
 */
struct raw_bytes {
	const uint8_t *data;
	uint64_t size;
	int fd;
	bool cut;
};

/* @bytes: NULL: those of the stream's file. Return: 0, or as decoding_begin() or decoding_open_file(). */
int source_new(struct source **source, struct ntrace_session *session, unsigned int stream,
	       const struct raw_bytes *bytes, const struct ntrace_decode_options *output);
void source_free(struct source *source);

/*
 * Decodes the next message and passes on all that it reports. @stamped: set to whether it has a timestamp,
 * before anything is passed on; @again: it was decoded before, so that notes about it are not repeated.
 * Return: 0; 1 at the end of the stream, after the last events; NTRACE_ERR_IO, NTRACE_ERR_FORMAT: no message
 * was taken; NTRACE_ERR_NOMEM or the result of a callback: continue only from a saved state.
 */
int source_next(struct source *source, bool again, bool *stamped);

/* Position of the next byte in the stream. */
uint64_t source_position(const struct source *source);

/* The state set by Ownership messages. */
const struct ntrace_context *source_context(const struct source *source);

/* The state between two messages, NULL: out of memory; @bytes: set to its size. */
struct source_state *source_save(struct source *source, size_t *bytes);
void source_drop(struct source_state *state);

/* Return: 0 or NTRACE_ERR_NOMEM: call it again before the next step. */
int source_load(struct source *source, const struct source_state *state);

#endif
