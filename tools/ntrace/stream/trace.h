/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads raw trace, from a file or a pipe, message by message in bounded memory. */
#ifndef NTRACE_TOOL_STREAM_TRACE_H
#define NTRACE_TOOL_STREAM_TRACE_H

#include <ntrace/recording.h>
#include <ntrace/session.h>
#include <ntrace/wire.h>

#include "framing.h"

#define TRACE_CHUNK FRAMING_CHUNK
/* Bytes of a message that are kept for printing: damaged streams have endless messages. */
#define TRACE_BYTES_KEPT 64

/* What trace_next() returns besides enum ntrace_wire_event. */
enum trace_result {
	TRACE_LOST = 100,	/* bytes are missing: the current message is dropped */
	TRACE_END = -1,
	TRACE_FAILED = -2,	/* reading failed, an error message was printed */
};

/**
 * struct trace_format - packing of a raw trace
 * @words16: 16-bit words with swapped bytes, as a big-endian probe reads them from a 16-bit port
 * @framing: frames of a CoreSight formatter; not together with @words16
 * @atid: the same for a source known from the parameters, 0 = none; without effect if @framing is
 *        given
 */
struct trace_format {
	bool words16;
	struct framing framing;
	unsigned int atid;
};

/**
 * struct sanity - whether a trace is plausible with its parameters
 * @messages: messages and runs of other bytes
 * @wrong: those that are not messages, have a reserved TCODE, or missing or excess fields
 * @coded: messages with SYNC, EVCODE, RCODE or CDF
 * @reserved: those with a reserved or vendor-defined value
 */
struct sanity {
	uint64_t messages;
	uint64_t wrong;
	uint64_t coded;
	uint64_t reserved;
};

/** sanity_message - count a result of the reader; @event: enum ntrace_wire_event */
void sanity_message(struct sanity *sanity, int event, const struct ntrace_message *message,
		    enum ntrace_dialect dialect);

/**
 * sanity_warn - suggest ntrace detect if the parameters are probably wrong
 * @name: name of the trace
 *
 * Parameters are probably wrong if a quarter of at least 8 messages is wrong, or if most of at
 * least 4 messages with a coded field have a reserved or vendor-defined value. A loss damages
 * only one or two messages, so a valid trace with losses stays far below these limits.
 */
void sanity_warn(const struct sanity *sanity, const char *name);

/** fail_without_messages - say that a trace has no messages. Return: EXIT_FAILED */
int fail_without_messages(const char *name);

/**
 * struct trace - a raw trace being read
 * @name: for messages; "standard input" for "-"; borrowed
 * @size: bytes, 0 = unknown (a pipe, a compressed file)
 * @reader: readable: offset, idles, errors
 * @leave: set after trace_open(), may be NULL: called when the reader has used up a chunk, and at the end
 * @leave_data: argument of @leave
 * @progress: set after trace_open(), may be NULL: updated with each chunk, which may have no message
 * @lost: readable after trace_read(): bytes are missing before the returned ones
 * @places: readable: number of gaps
 * @recorded: readable: bytes of a stream, UINT64_MAX = unknown
 * @sanity: readable: plausibility of the messages
 */
struct trace {
	const char *name;
	uint64_t size;
	struct ntrace_reader reader;
	void (*leave)(void *data);
	void *leave_data;
	struct progress *progress;
	bool lost;
	uint64_t places;
	uint64_t recorded;
	struct sanity sanity;
	/* the rest is private */
	int fd;
	struct ntrace_trace_file *file;
	enum ntrace_dialect dialect;
	bool given;		/* parameters are those of the command line */
	bool words16;
	bool framed;
	bool ended;
	bool cut;		/* bytes are missing at the end, which trace_next() has not said yet */
	bool reading;		/* trace_read() was called */
	uint64_t chunk_offset;
	size_t chunk_size;
	uint64_t dropped;	/* bytes of the dropped message, if @lost */

	size_t head_used;	/* bytes of a message that began in an earlier chunk */
	uint8_t head[TRACE_BYTES_KEPT];
	uint8_t shown[TRACE_BYTES_KEPT];
	uint8_t chunk[TRACE_CHUNK];
	struct unframer unframer;
};

/**
 * trace_open - open a file of trace messages
 * @path: "-" is standard input; borrowed
 * @format: packing of the bytes; NULL = none
 *
 * Files compressed by zstd are decompressed; other known formats (ELF, perf.data, gzip) are
 * refused. Offsets are those after unpacking of words or frames.
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int trace_open(struct trace *trace, const char *path, const struct trace_format *format);

/**
 * trace_open_stream - trace_open() for the file of a stream
 *
 * No more is read than was recorded.
 */
int trace_open_stream(struct trace *trace, const struct ntrace_session *session,
		      const struct ntrace_stream *stream);

/** trace_has_more - at the end: true if the file of a stream has more than was recorded */
bool trace_has_more(const struct trace *trace);

/** trace_start - begin reading messages. Return: EXIT_OK, or EXIT_FAILED after an error message */
int trace_start(struct trace *trace, const struct ntrace_params *params);
void trace_close(struct trace *trace);

/**
 * trace_read - read bytes instead of messages; after trace_open(), without trace_start()
 * @size: 0 at the end
 *
 * @data is valid until the next call. Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int trace_read(struct trace *trace, const uint8_t **data, size_t *size);

/**
 * trace_next - the next message or error
 * @message: as for ntrace_reader_next(); for TRACE_LOST only offset, the position of the gap or the start of
 *           the dropped message, and length, 0 without such a message
 *
 * Return: enum ntrace_wire_event or enum trace_result.
 */
int trace_next(struct trace *trace, struct ntrace_message *message);

/**
 * trace_bytes - the first bytes of the last result of trace_next()
 * @count: their number, at most TRACE_BYTES_KEPT
 *
 * Valid until the next call of either.
 */
const uint8_t *trace_bytes(struct trace *trace, uint64_t offset, uint64_t length, size_t *count);

/**
 * trace_chunk_bytes - bytes of the current chunk from a position on
 * @offset: in the stream, within the chunk or at its end
 *
 * Valid until the next call of trace_next().
 */
static inline const uint8_t *trace_chunk_bytes(const struct trace *trace, uint64_t offset)
{
	return trace->chunk + (offset - trace->chunk_offset);
}

/** trace_pending - at the end: bytes of an incomplete last message; 0 = none */
static inline uint64_t trace_pending(const struct trace *trace)
{
	return ntrace_reader_pending(&trace->reader);
}

#endif /* NTRACE_TOOL_STREAM_TRACE_H */
