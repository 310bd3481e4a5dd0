// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Whether it pays to count the messages of a stream instead of walking them. A message with a timestamp is
 * walked in any case, and to remember the effects of the others takes longer than it saves if most
 * messages have one.
 */
#include <unistd.h>

#include "decode.h"

#define SAMPLE 65536

/* Counting pays if at most a message of this many has a timestamp. */
#define STAMPED_PART 8

static void count_messages(struct ntrace_reader *reader, uint64_t *messages, uint64_t *stamped)
{
	struct ntrace_message message;
	int got;

	while ((got = ntrace_reader_next(reader, &message)) >= 0) {
		*messages += got == NTRACE_WIRE_MESSAGE;
		*stamped += got == NTRACE_WIRE_MESSAGE &&
			    ntrace_message_has(&message, NTRACE_FIELD_TSTAMP);
	}
}

bool session_counting_pays(const struct ntrace_stream *stream)
{
	uint64_t messages = 0, stamped = 0, total = 0;
	struct ntrace_trace_file *file;
	struct ntrace_reader reader;
	uint8_t chunk[4096];
	ssize_t got = 1;
	int fd;

	if (!stream->params->timestamp_bits)
		return true;
	/* An error comes again when the stream is decoded. */
	if (ntrace_reader_init(&reader, stream->params, false) ||
	    decoding_open_file(stream, &file, &fd))
		return true;
	for (; got > 0 && total < SAMPLE; total += (uint64_t)got) {
		got = ntrace_trace_file_read(file, chunk, sizeof(chunk));
		if (got <= 0)
			break;
		ntrace_reader_feed(&reader, chunk, (size_t)got);
		count_messages(&reader, &messages, &stamped);
	}
	ntrace_trace_file_close(file);
	close(fd);
	return stamped * STAMPED_PART <= messages;
}
