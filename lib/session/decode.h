/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The decoding of one stream of a recording, message by message. */
#ifndef NTRACE_SESSION_DECODE_H
#define NTRACE_SESSION_DECODE_H

#include "follow.h"

/* Attributes of blocks that effects do not mix. */
struct attribution {
	const char *comm;
	int32_t pid;
	int32_t tid;
	struct ntrace_context owner;
};

struct decoding {
	struct ntrace_session *session;
	struct follower follower;
	struct ntrace_flow *flow;
	int (*callback)(void *data, const struct ntrace_session_event *event);
	int (*blocks)(void *data, const struct ntrace_session_blocks *blocks);
	int (*effect)(void *data, const struct ntrace_session_effect *effect);
	void *data;
	struct attribution counted;	/* that of effects that have not come yet */
	bool by_thread;
	uint64_t watch[2];
	struct ntrace_session_event event;
	uint64_t sign_bit;		/* bits set in kernel addresses */
	bool countable;			/* the trace shows every task switch */
	bool was_user;
	bool in_gap;			/* the flow is lost */
	bool intact;			/* with in_gap: the trace is whole, only code is unknown */
	unsigned int last_error;
	uint64_t stop_ns;		/* time of the end of the trace, 0 = unknown */
	uint64_t offset;		/* position of the current message */
	bool sync;			/* the current message has SYNC */
	uint64_t gap_offset;
	struct program *selected;	/* program of the last space selected for user code */
};

/* Receivers of the result: see ntrace_session_decode_counts(). */
struct decoding_output {
	int (*callback)(void *data, const struct ntrace_session_event *event);
	int (*blocks)(void *data, const struct ntrace_session_blocks *blocks);
	void *data;
	int (*effect)(void *data, const struct ntrace_session_effect *effect);
	bool by_thread;
};

/*
 * Prepares @decoding for the first message of a stream. It refers to itself and must not move. Return:
 * 0, NTRACE_ERR_INVALID (no such stream, wrong parameters) or NTRACE_ERR_NOMEM.
 */
int decoding_begin(struct decoding *decoding, struct ntrace_session *session, unsigned int stream,
		   const struct decoding_output *output);
void decoding_end(struct decoding *decoding);

/*
 * Decodes a message. @got: the positive result of ntrace_reader_next() for it. Return: as
 * ntrace_flow_message().
 */
int decoding_message(struct decoding *decoding, int got, const struct ntrace_message *message);

/* Whether the stream begins with a whole message. */
bool decoding_starts_whole(const struct decoding *decoding, const struct ntrace_stream *stream);

/*
 * Opens the file of a stream, without compression and frames. Both are to be closed. Return: as
 * ntrace_trace_file_open().
 */
int decoding_open_file(const struct ntrace_stream *stream, struct ntrace_trace_file **file,
		       int *fd);

#endif
