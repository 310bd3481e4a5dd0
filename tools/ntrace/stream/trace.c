// SPDX-License-Identifier: GPL-2.0-only
/* Raw trace in chunks. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command.h"
#include "common/input.h"
#include "common/ui.h"
#include "trace.h"

#define STANDARD_INPUT "standard input"

int fail_without_messages(const char *name)
{
	return fail("%s: the trace has no messages: it is empty, or all its bytes are idle", name);
}

/* Thresholds for wrong parameters: losses cause fewer errors, other data causes more. */
#define SANITY_WRONG_MIN 8
#define SANITY_WRONG_PART 4
#define SANITY_RESERVED_MIN 4
#define SANITY_RESERVED_PART 2

/* Fields with named values; a message has at most one of them. */
#define CODED (1u << NTRACE_FIELD_SYNC | 1u << NTRACE_FIELD_EVCODE | 1u << NTRACE_FIELD_RCODE)

/* True if the coded field of @message has a reserved or vendor-defined value. */
static bool is_reserved(const struct ntrace_message *message, enum ntrace_dialect dialect)
{
	enum ntrace_field field = (enum ntrace_field)__builtin_ctz(message->present & CODED);
	const char *name = ntrace_value_name(field, message->field[field], dialect);

	return message->field[NTRACE_FIELD_CDF] > 1 || !strcmp(name, "reserved") ||
	       !strcmp(name, "vendor");
}

void sanity_message(struct sanity *sanity, int event, const struct ntrace_message *message,
		    enum ntrace_dialect dialect)
{
	bool vendor;

	sanity->messages++;
	if (event == NTRACE_WIRE_ERROR) {
		sanity->wrong++;
		return;
	}
	/* Most messages have no coded field. */
	if (!message->flags && !(message->present & CODED))
		return;
	vendor = strcmp(ntrace_tcode_dialect_name(message->tcode, dialect), "Reserved") != 0;
	if ((message->flags & NTRACE_MESSAGE_UNKNOWN && !vendor) ||
	    message->flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_EXTRA)) {
		sanity->wrong++;
		return;
	}
	if (message->present & CODED) {
		sanity->coded++;
		sanity->reserved += is_reserved(message, dialect);
	}
}

void sanity_warn(const struct sanity *sanity, const char *name)
{
	if ((sanity->wrong >= SANITY_WRONG_MIN &&
	     sanity->wrong * SANITY_WRONG_PART > sanity->messages) ||
	    (sanity->reserved >= SANITY_RESERVED_MIN &&
	     sanity->reserved * SANITY_RESERVED_PART > sanity->coded))
		warn("%s: most of this is not valid N-Trace with these parameters: try 'ntrace "
		     "detect %s'",
		     name, strcmp(name, STANDARD_INPUT) ? name : "-");
}

/* At the end of a file that ends inside a zstd frame: what follows is missing, unless all that was recorded is there. */
static void find_cut(struct trace *trace)
{
	if (!trace->ended || !ntrace_trace_file_cut(trace->file) ||
	    ntrace_trace_file_offset(trace->file) >= trace->recorded)
		return;
	warn("%s: the compressed file is truncated: bytes of the trace are missing", trace->name);
	/* Frames of a formatter that end within one have the gap already. */
	if (trace->lost)
		return;
	trace->cut = true;
	trace->places++;
}

static int fill_from_frames(struct trace *trace)
{
	int error =
		unframer_read(&trace->unframer, trace->chunk, &trace->chunk_size, &trace->ended);

	trace->lost = trace->unframer.lost;
	trace->places = trace->unframer.places;
	find_cut(trace);
	return error;
}

/* Fills the chunk with the available input; reads at least @least bytes unless the input ends. */
static int fill(struct trace *trace, size_t least)
{
	size_t have = 0;
	ssize_t got = 1;

	if (trace->framed)
		return fill_from_frames(trace);
	while (got && (have < least || (trace->words16 && have % 2))) {
		got = ntrace_trace_file_read(trace->file, trace->chunk + have, TRACE_CHUNK - have);
		if (got < 0)
			return trace_file_failed(trace->name, (int)got);
		have += (size_t)got;
	}
	trace->chunk_size = have;
	trace->ended = !got;
	find_cut(trace);
	return EXIT_OK;
}

static int swap_words(struct trace *trace)
{
	size_t i;

	if (!trace->words16)
		return EXIT_OK;
	if (trace->chunk_size % 2)
		return fail("%s: an odd number of bytes cannot be a trace of 16-bit words",
			    trace->name);
	for (i = 0; i < trace->chunk_size; i += 2) {
		uint8_t first = trace->chunk[i + 1];

		trace->chunk[i + 1] = trace->chunk[i];
		trace->chunk[i] = first;
	}
	return EXIT_OK;
}

/* For a trace in frames: finds the source if the file can be read twice. */
static int find_source(struct trace *trace, const struct stat *status, unsigned int *source)
{
	if (*source || !S_ISREG(status->st_mode))
		return EXIT_OK;
	return framing_find(trace->name, trace->fd, (uint64_t)status->st_size, source,
			    &trace->size);
}

static int begin(struct trace *trace, const struct trace_format *format,
		 enum ntrace_trace_packing packing)
{
	unsigned int source = format ? format->framing.source : 0;
	const char *other = NULL;
	struct stat status;
	int error = EXIT_OK;

	if (fstat(trace->fd, &status) ||
	    (trace->fd != STDIN_FILENO && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)))
		return fail("%s: neither a trace file nor a recording", trace->name);
	trace->framed = format && format->framing.given;
	if (trace->framed)
		error = find_source(trace, &status, &source);
	if (error)
		return error;
	error = ntrace_trace_file_open(&trace->file, trace->fd, packing);
	if (error == NTRACE_ERR_FORMAT)
		return fail("%s: zstd has not compressed it, as its name says", trace->name);
	if (error)
		return trace_file_failed(trace->name, error);
	ntrace_trace_file_limit(trace->file, trace->recorded);
	unframer_init(&trace->unframer, trace->name, trace->file, source);
	if (format && format->atid && !trace->framed) {
		error = ntrace_trace_file_unframe(trace->file, format->atid);
		if (error)
			return trace_file_failed(trace->name, error);
	} else if (!trace->framed && S_ISREG(status.st_mode) &&
		   !ntrace_trace_file_packed(trace->file))
		trace->size = (uint64_t)status.st_size < trace->recorded ?
				      (uint64_t)status.st_size :
				      trace->recorded;
	error = fill(trace, FORMAT_MAGIC_SIZE);
	if (!error && !trace->framed)
		other = other_format(trace->chunk, trace->chunk_size);
	return other ? fail("%s: not a trace: the file is %s", trace->name, other) : error;
}

static int open_format(struct trace *trace, const char *path, const struct trace_format *format,
		       uint64_t recorded, bool given, enum ntrace_trace_packing packing)
{
	bool standard_input = !strcmp(path, "-");
	int error;

	memset(trace, 0, offsetof(struct trace, head));
	trace->name = standard_input ? STANDARD_INPUT : path;
	trace->given = given;
	trace->recorded = recorded;
	trace->words16 = format && format->words16;
	trace->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (trace->fd < 0)
		return fail("%s: %s", path, strerror(errno));
	error = begin(trace, format, packing);
	if (error)
		trace_close(trace);
	return error;
}

int trace_open(struct trace *trace, const char *path, const struct trace_format *format)
{
	return open_format(trace, path, format, UINT64_MAX, format, NTRACE_TRACE_GUESS);
}

int trace_open_stream(struct trace *trace, const struct ntrace_session *session,
		      const struct ntrace_stream *stream)
{
	const struct trace_format format = { .atid = stream->params->atid };
	/* A recorder that was stopped does not know. */
	const uint64_t recorded = ntrace_session_recording(session)->unfinished ? UINT64_MAX :
										  stream->bytes;
	const char *path = stream->file, *suffix = strrchr(path, '.');
	struct stat status;

	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		return fail("%s is not a regular file", path);
	/* The name tells it, as to the library. */
	return open_format(trace, path, &format, recorded, false,
			   suffix && !strcmp(suffix, ".zst") ? NTRACE_TRACE_ZSTD :
							       NTRACE_TRACE_GUESS);
}

bool trace_has_more(const struct trace *trace)
{
	return trace->ended && ntrace_trace_file_offset(trace->file) > trace->recorded;
}

int trace_read(struct trace *trace, const uint8_t **data, size_t *size)
{
	bool first = !trace->reading;

	*data = trace->chunk;
	*size = 0;
	if (!first) {
		trace->lost = false;
		if (trace->ended)
			return EXIT_OK;
		if (fill(trace, 1))
			return EXIT_FAILED;
	}
	trace->reading = true;
	*size = trace->chunk_size;
	return swap_words(trace);
}

int trace_start(struct trace *trace, const struct ntrace_params *params)
{
	if (ntrace_reader_init(&trace->reader, params, true))
		return fail("the stream parameters contradict each other");
	trace->dialect = params->dialect;
	if (swap_words(trace))
		return EXIT_FAILED;
	if (trace->lost)
		trace->dropped = ntrace_reader_break(&trace->reader);
	ntrace_reader_feed(&trace->reader, trace->chunk, trace->chunk_size);
	return EXIT_OK;
}

void trace_close(struct trace *trace)
{
	ntrace_trace_file_close(trace->file);
	trace->file = NULL;
	if (trace->fd > STDIN_FILENO)
		close(trace->fd);
	trace->fd = -1;
}

/* Keeps the first bytes of a message that continues in the next chunk. */
static void keep_head(struct trace *trace)
{
	uint64_t pending = trace_pending(trace);
	uint64_t start = trace->reader.offset - pending, from = start;
	size_t room;

	if (start < trace->chunk_offset)
		from = trace->chunk_offset;
	else
		trace->head_used = 0;
	room = TRACE_BYTES_KEPT - trace->head_used;
	if (room > trace->reader.offset - from)
		room = trace->reader.offset - from;
	memcpy(trace->head + trace->head_used, trace->chunk + (from - trace->chunk_offset), room);
	trace->head_used += room;
}

static int next_chunk(struct trace *trace)
{
	keep_head(trace);
	if (trace->leave)
		trace->leave(trace->leave_data);
	if (trace->ended && trace->cut) {
		trace->cut = false;
		trace->lost = true;
		trace->dropped = ntrace_reader_break(&trace->reader);
		return 0;
	}
	if (trace->ended)
		return TRACE_END;
	trace->chunk_offset += trace->chunk_size;
	if (trace->progress)
		progress_update(trace->progress, trace->chunk_offset);
	if (fill(trace, 1) || swap_words(trace))
		return TRACE_FAILED;
	if (trace->lost)
		trace->dropped = ntrace_reader_break(&trace->reader);
	ntrace_reader_feed(&trace->reader, trace->chunk, trace->chunk_size);
	return 0;
}

/* Reports a loss that the message reader knows already. */
static int report_loss(struct trace *trace, struct ntrace_message *message)
{
	trace->lost = false;
	memset(message, 0, sizeof(*message));
	message->offset = trace->reader.offset - trace->dropped;
	message->length = trace->dropped;
	return TRACE_LOST;
}

int trace_next(struct trace *trace, struct ntrace_message *message)
{
	int event, error;

	while (!trace->lost &&
	       (event = ntrace_reader_next(&trace->reader, message)) == NTRACE_ERR_AGAIN) {
		error = next_chunk(trace);
		if (error == TRACE_END && trace->given)
			sanity_warn(&trace->sanity, trace->name);
		if (error)
			return error;
	}
	if (trace->lost)
		return report_loss(trace, message);
	sanity_message(&trace->sanity, event, message, trace->dialect);
	return event;
}

const uint8_t *trace_bytes(struct trace *trace, uint64_t offset, uint64_t length, size_t *count)
{
	size_t head;

	*count = length < TRACE_BYTES_KEPT ? (size_t)length : TRACE_BYTES_KEPT;
	/* At the end of a trace the head contains all of the current message. */
	if (offset >= trace->chunk_offset &&
	    offset + *count <= trace->chunk_offset + trace->chunk_size)
		return trace->chunk + (offset - trace->chunk_offset);
	head = trace->head_used < *count ? trace->head_used : *count;
	memcpy(trace->shown, trace->head, head);
	memcpy(trace->shown + head, trace->chunk, *count - head);
	return trace->shown;
}
