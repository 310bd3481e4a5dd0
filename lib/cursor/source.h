/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a lane gets its events from: a stream of a session, or a raw stream. A source decodes message
 * by message, and again from saved states, always with the same result.
 */
#ifndef NTRACE_CURSOR_SOURCE_H
#define NTRACE_CURSOR_SOURCE_H

#include <ntrace/cursor.h>

struct source;

/**
 * struct source_ops - a kind of source
 * @next: decodes the next message and passes on all that it reports. @stamped: set to whether it has a
 *        timestamp, before anything is passed on; @again: it was decoded before, so that notes about it
 *        are not repeated. Return: 0; 1 at the end of the stream, after the last events; NTRACE_ERR_IO,
 *        NTRACE_ERR_FORMAT: no message was taken; NTRACE_ERR_NOMEM or the result of a callback: continue
 *        only from a saved state
 * @position: position of the next byte in the stream
 * @context: the state set by Ownership messages
 * @save: the state between two messages, NULL: out of memory; @bytes: set to its size
 * @load: return: 0 or NTRACE_ERR_NOMEM: call it again before the next step
 * @drop: frees a state
 * @free: frees the source
 */
struct source_ops {
	int (*next)(struct source *source, bool again, bool *stamped);
	uint64_t (*position)(const struct source *source);
	const struct ntrace_context *(*context)(const struct source *source);
	void *(*save)(struct source *source, size_t *bytes);
	int (*load)(struct source *source, const void *state);
	void (*drop)(void *state);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	unsigned int dialect;	/* enum ntrace_dialect */
	bool raw;		/* no process, thread and privilege but by Ownership */
};

/* A stream of a session. Return: 0, or as decoding_begin() or decoding_open_file(). */
int source_of_session(struct source **source, struct ntrace_session *session, unsigned int stream,
		      const struct ntrace_decode_options *output);

/* A raw stream. Return: 0, NTRACE_ERR_INVALID or NTRACE_ERR_NOMEM. */
int source_of_bytes(struct source **source, const struct ntrace_cursor_config *config,
		    const struct ntrace_decode_options *output);

#endif
