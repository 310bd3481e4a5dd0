// SPDX-License-Identifier: GPL-2.0-only
/* ntrace dump: messages, field by field. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/recording.h>

#include "common/command.h"
#include "common/input.h"
#include "common/ui.h"
#include "layout.h"
#include "lossless.h"
#include "message.h"
#include "trace.h"

enum {
	OPTION_BYTES = 'b',
	OPTION_PARAMS = OPTION_LONG,
	OPTION_SRC,
	OPTION_STREAM,
	OPTION_WORDS16,
	OPTION_FRAMING,
	OPTION_JSON,
	OPTION_LOSSLESS,
};

static const struct option_spec options_table[] = {
	{ OPTION_PARAMS, "params", "KEY=VALUE,...", "stream parameters, e.g. srcbits=2,xlen=64" },
	{ OPTION_BYTES, "bytes", NULL, "a line for each byte: MDO, MSEO and fields" },
	{ OPTION_SRC, "src", "N", "only messages with SRC = N" },
	{ OPTION_STREAM, "stream", "N", "only stream N (aux.N) of a recording" },
	{ OPTION_WORDS16, "words16", NULL, "raw trace: swap the bytes of 16-bit words" },
	FRAMING_ROW(OPTION_FRAMING),
	{ OPTION_JSON, "json", NULL, "one JSON object a line" },
	{ OPTION_LOSSLESS, "lossless", NULL, "JSON with every byte, for ntrace assemble" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct dump - options, and the current trace
 * @file: file name if several files are dumped, else NULL
 * @stream: stream of a recording, or -1
 * @only: stream to dump, -1 = all
 * @errors: number of byte runs that are not messages, gaps, and truncated ends
 */
struct dump {
	const struct command *command;
	struct output *output;
	struct ntrace_params params;
	const char *file;
	const char *file_params;	/* --params for perf.data files */
	struct trace_format format;
	bool bytes;
	bool json;
	bool lossless;
	bool select_src;
	uint64_t src;
	int stream;
	int64_t only;
	uint64_t errors;
	uint64_t shown;	/* messages of the present input */
	struct trace trace;
	struct address_tracker addresses;
	struct lossless runs;	/* state of --lossless */
};

static void json_begin(struct dump *dump, const char *type)
{
	output_char(dump->output, '{');
	if (dump->file) {
		output_text(dump->output, "\"file\":");
		output_json(dump->output, dump->file);
		output_char(dump->output, ',');
	}
	if (dump->stream >= 0)
		output_printf(dump->output, "\"stream\":%d,", dump->stream);
	output_printf(dump->output, "\"type\":\"%s\"", type);
}

static void json_start(struct dump *dump, const char *type, uint64_t offset, uint64_t length,
		       const uint8_t *bytes, size_t count)
{
	json_begin(dump, type);
	output_printf(dump->output, ",\"offset\":%" PRIu64 ",\"length\":%" PRIu64, offset, length);
	if (!bytes)
		return;
	output_text(dump->output, ",\"bytes\":\"");
	message_bytes(dump->output, bytes, count, "");
	output_char(dump->output, '"');
}

/* Bytes outside of messages, and parts of long messages. */
static void lossless_line(void *data, enum lossless_kind kind, uint64_t offset, uint64_t length,
			  const uint8_t *bytes)
{
	const char *type = kind == LOSSLESS_SKIPPED ? "skipped" :
			   kind == LOSSLESS_PART    ? "part" :
						      "idle";
	struct dump *dump = data;

	json_start(dump, type, offset, length, bytes, (size_t)length);
	if (kind == LOSSLESS_IDLE)
		output_printf(dump->output, ",\"idle\":%" PRIu64, length);
	output_text(dump->output, "}\n");
}

/* Bytes that the reader skipped since the last event. */
static void take_between(struct dump *dump, uint64_t end)
{
	struct lossless *runs = &dump->runs;

	if (end <= runs->covered)
		return;
	lossless_between(runs, trace_chunk_bytes(&dump->trace, runs->covered),
			 (size_t)(end - runs->covered));
}

static void take_part(struct dump *dump, uint64_t end)
{
	struct lossless *runs = &dump->runs;

	if (end <= runs->covered)
		return;
	lossless_part(runs, trace_chunk_bytes(&dump->trace, runs->covered),
		      (size_t)(end - runs->covered));
}

/* The reader has used up the chunk. */
static void leave_chunk(void *data)
{
	struct dump *dump = data;
	uint64_t end = dump->trace.reader.offset;

	take_between(dump, end - trace_pending(&dump->trace));
	if (trace_pending(&dump->trace))
		take_part(dump, end);
}

/* The bytes of a message or error to print: the first ones, or those not yet printed. */
static const uint8_t *shown_bytes(struct dump *dump, uint64_t offset, uint64_t length,
				  size_t *count)
{
	if (!dump->lossless)
		return trace_bytes(&dump->trace, offset, length, count);
	take_between(dump, offset);
	take_part(dump, offset + length);
	return lossless_rest(&dump->runs, count);
}

/* After the fields: their encoding if it is not the canonical one. */
static void put_sizes(struct dump *dump, const struct ntrace_message *message, const uint8_t *bytes)
{
	if (message->length <= NTRACE_MESSAGE_BYTES_MAX)
		layout_json_sizes(dump->output, message, &dump->params, bytes);
}

static void end_line(const struct dump *dump, uint64_t offset, uint64_t length,
		     const uint8_t *bytes, size_t count)
{
	output_text(dump->output, " | ");
	message_bytes(dump->output, bytes, count, " ");
	if (length > count)
		output_text(dump->output, " ...");
	output_char(dump->output, '\n');
	if (dump->bytes)
		layout_byte_lines(dump->output, &dump->params, offset, bytes, count);
}

static void put_message(struct dump *dump, const struct ntrace_message *message)
{
	const uint8_t *bytes;
	uint64_t address = 0;
	bool has_address;
	size_t count;

	has_address = address_tracker_message(&dump->addresses, message, &address);
	if (dump->select_src && (message->field[NTRACE_FIELD_SRC] != dump->src ||
				 !ntrace_message_has(message, NTRACE_FIELD_SRC)))
		return;
	dump->shown++;
	bytes = shown_bytes(dump, message->offset, message->length, &count);
	if (dump->json) {
		json_start(dump, "message", message->offset, message->length, bytes, count);
		message_json(dump->output, message, dump->params.dialect, has_address, address);
		put_sizes(dump, message, bytes);
		output_text(dump->output, "}\n");
	} else {
		message_text(dump->output, message, dump->params.dialect, has_address, address);
		end_line(dump, message->offset, message->length, bytes, count);
	}
}

static void problem(struct dump *dump, const char *type, const char *text, uint64_t offset,
		    uint64_t length)
{
	const uint8_t *bytes;
	size_t count;

	bytes = shown_bytes(dump, offset, length, &count);
	dump->errors++;
	if (dump->json) {
		json_start(dump, type, offset, length, bytes, count);
		output_text(dump->output, "}\n");
		return;
	}
	output_text(dump->output, "0x");
	output_hex(dump->output, offset, 8);
	output_char(dump->output, ' ');
	output_decimal(dump->output, length, 4);
	output_text(dump->output, "   - ");
	output_text(dump->output, text);
	end_line(dump, offset, length, bytes, count);
}

/* The parameters are not in the stream, but are needed to read it. */
static void begin_lossless(struct dump *dump)
{
	char params[1024];

	lossless_init(&dump->runs, lossless_line, dump);
	dump->trace.leave = leave_chunk;
	dump->trace.leave_data = dump;
	ntrace_params_format(&dump->params, params, sizeof(params));
	json_begin(dump, "params");
	output_text(dump->output, ",\"params\":");
	output_json(dump->output, params);
	output_text(dump->output, "}\n");
}

static int dump_messages(struct dump *dump)
{
	struct ntrace_message message;
	struct progress progress;
	uint64_t pending, count = 0;
	int event = TRACE_END;

	address_tracker_init(&dump->addresses, &dump->params);
	if (dump->lossless)
		begin_lossless(dump);
	progress_begin(&progress, "dump", dump->trace.size);
	dump->trace.progress = &progress;
	while (!dump->output->error && (event = trace_next(&dump->trace, &message)) >= 0) {
		if (!(++count & 0xfff))
			progress_update(&progress, message.offset);
		if (event == NTRACE_WIRE_MESSAGE) {
			put_message(dump, &message);
			continue;
		}
		address_tracker_lost(&dump->addresses);
		if (event == TRACE_LOST) {
			problem(dump, "lost",
				message.length ? "bytes are missing: this message was dropped" :
						 "bytes are missing",
				message.offset, message.length);
			continue;
		}
		problem(dump, "error", "reserved MSEO code: skipped to the next message",
			message.offset, message.length);
		lossless_error(&dump->runs);
	}
	progress_end(&progress);
	dump->trace.progress = NULL;
	if (dump->output->error)
		return EXIT_OK;
	if (event == TRACE_FAILED)
		return EXIT_FAILED;
	pending = trace_pending(&dump->trace);
	if (!pending)
		lossless_flush(&dump->runs);
	if (pending) {
		problem(dump, "cut", "the trace ends inside this message",
			dump->trace.reader.offset - pending, pending);
		warn("%s: the trace ends inside a message: %" PRIu64 " bytes of it are left",
		     dump->trace.name, pending);
	}
	return EXIT_OK;
}

/* Dumps the open trace, and closes it. */
static int dump_trace(struct dump *dump)
{
	int error = trace_start(&dump->trace, &dump->params);

	if (!error)
		error = dump_messages(dump);
	if (!error && trace_has_more(&dump->trace))
		warn("%s has more than the %" PRIu64
		     " bytes that were recorded: the rest is not dumped",
		     dump->trace.name, dump->trace.recorded);
	trace_close(&dump->trace);
	return error;
}

static int dump_file(struct dump *dump, const char *path)
{
	int error;

	dump->format.atid = dump->params.atid;
	error = trace_open(&dump->trace, path, &dump->format);
	return error ? error : dump_trace(dump);
}

/* @name: name of its file for messages */
static int dump_stream(struct dump *dump, const struct ntrace_session *session, const char *name,
		       const struct ntrace_stream *stream)
{
	char params[512];
	int error;

	dump->params = *stream->params;
	ntrace_params_format(stream->params, params, sizeof(params));
	if (!dump->json)
		output_printf(dump->output, "# stream %d: %s, CPU %u, hart %" PRIu64 ", %s\n",
			      dump->stream, name, stream->cpu, stream->hartid, params);
	error = trace_open_stream(&dump->trace, session, stream);
	return error ? error : dump_trace(dump);
}

/* Reports options that apply to raw traces only. Return: true after an error message */
static bool raw_format(const struct dump *dump)
{
	if (dump->format.framing.given)
		usage_error(dump->command, "--framing applies to raw traces only");
	else if (dump->format.words16)
		usage_error(dump->command, "--words16 applies to raw traces only");
	return dump->format.framing.given || dump->format.words16;
}

/* Streams of a perf.data file are files only while it is open. Messages need no sideband: notes of a directory are left out. */
static int dump_recording(struct dump *dump, const char *path)
{
	const struct recording_options options = { .traces = true,
						   .quiet = is_directory(path),
						   .params = dump->file_params };
	struct recording recording;
	unsigned int count, i;
	int error;

	if (raw_format(dump))
		return EXIT_USAGE;
	error = recording_open(&recording, dump->command, path, &options);
	if (error)
		return error;
	count = ntrace_session_streams(recording.session);
	if (dump->only >= count)
		error = fail("%s: there is no stream %" PRId64 ": it has %u", path, dump->only,
			     count);
	for (i = 0; !error && i < count; i++) {
		const struct ntrace_stream *stream = ntrace_session_stream(recording.session, i);

		dump->stream = (int)i;
		if (dump->only < 0 || i == dump->only)
			error = dump_stream(dump, recording.session,
					    recording_stream_name(&recording, i), stream);
	}
	recording_close(&recording);
	return error;
}

/* An input without any message, of which a lossless dump may have the idle bytes. */
static int check_shown(const struct dump *dump, const char *path)
{
	if (dump->shown || dump->errors || dump->lossless || dump->output->error)
		return EXIT_OK;
	return dump->select_src ? fail("%s: no message has SRC %" PRIu64, path, dump->src) :
				  fail_without_messages(path);
}

static int dump_input(struct dump *dump, const char *path)
{
	const struct ntrace_params params = dump->params;
	int error;

	dump->stream = -1;
	dump->shown = 0;
	if (is_recording(path)) {
		error = dump_recording(dump, path);
		dump->params = params;
		return error ? error : check_shown(dump, path);
	}
	if (dump->only >= 0)
		return usage_error(dump->command, "--stream applies to recordings only");
	if (dump->select_src && !dump->params.src_bits)
		return usage_error(dump->command,
				   "--src: the trace has no SRC: give --params srcbits=N");
	if (dump->file && !dump->json)
		output_printf(dump->output, "# %s\n", path);
	error = dump_file(dump, path);
	return error ? error : check_shown(dump, path);
}

static int take_option(struct dump *dump, struct options *options, int option)
{
	uint64_t number;
	int error;

	switch (option) {
	case OPTION_PARAMS:
		error = add_params(dump->command, &dump->file_params, options->value);
		return error ? error : input_params(dump->command, &dump->params, options->value);
	case OPTION_SRC:
		if (!option_number(options, "src", 0, (1u << NTRACE_SRC_BITS_MAX) - 1, &dump->src))
			return EXIT_USAGE;
		dump->select_src = true;
		return EXIT_OK;
	case OPTION_STREAM:
		if (!option_number(options, "stream", 0, UINT16_MAX, &number))
			return EXIT_USAGE;
		dump->only = (int64_t)number;
		return EXIT_OK;
	case OPTION_WORDS16:
		dump->format.words16 = true;
		return framing_conflict(dump->command, &dump->format.framing, true);
	case OPTION_FRAMING:
		return framing_option(dump->command, &dump->format.framing, options->value) ?
			       EXIT_USAGE :
			       framing_conflict(dump->command, &dump->format.framing,
						dump->format.words16);
	case OPTION_BYTES:
		dump->bytes = true;
		return EXIT_OK;
	case OPTION_LOSSLESS:
		dump->lossless = true;
		dump->json = true;
		return EXIT_OK;
	case OPTION_JSON:
		dump->json = true;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct dump dump;
	struct options options;
	int option, error = EXIT_OK;
	bool several;

	output_init(&output, STDOUT_FILENO);
	dump.command = command;
	dump.output = &output;
	dump.only = -1;
	ntrace_params_init(&dump.params);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&dump, &options, option);
		if (error)
			return error;
	}
	if (dump.json && dump.bytes)
		return usage_error(
			command,
			"--bytes and --json exclude each other: JSON always contains the bytes");
	if (dump.lossless && dump.select_src)
		return usage_error(command, "--lossless and --src exclude each other: a lossless "
					    "dump needs all messages");
	if (dump.lossless && dump.format.framing.given)
		return usage_error(
			command,
			"--lossless and --framing exclude each other: use ntrace split first");
	if (options.index == argc)
		return usage_error(command, "one trace file or recording is needed");
	several = argc - options.index > 1;
	for (; !error && options.index < argc && !output.error; options.index++) {
		dump.file = several ? argv[options.index] : NULL;
		error = dump_input(&dump, argv[options.index]);
	}
	return output_finish(&output, error ? error : dump.errors ? EXIT_GAPS : EXIT_OK);
}

const struct command command_dump = {
	.name = "dump",
	.summary = "show trace messages, field by field",
	.usage = "[--params KEY=VALUE,...] [--framing coresight[:ID]] [--src N]\n"
		 "                   [--bytes | --json | --lossless] TRACE | RECORDING ...",
	.details =
		"Prints a line for each message: offset and length in bytes, TCODE, name, fields "
		"as\n"
		"sent, the address that F-ADDR or U-ADDR encodes, and the bytes (at most the first "
		"64). TRACE may be - for standard input.\n"
		"With --framing, offsets are within the bytes of the source.\n"
		"\n"
		"exit status: 0, 3 if bytes are missing or do not form messages, or if the "
		"trace\n"
		"ends inside a message, or 1 if it has no messages.\n"
		"\n"
		"examples:\n"
		"  ntrace dump ntrace.data                 # all streams of a recording\n"
		"  ntrace dump --params srcbits=3 a.nex    # a raw trace with SRC fields of 3 "
		"bits\n"
		"  ntrace dump --framing coresight:0x10 etr.bin    # one source of CoreSight "
		"frames\n"
		"  ntrace dump --bytes a.nex               # each byte with MDO, MSEO and fields\n"
		"  ntrace dump --lossless a.nex >a.json    # edit it, then: ntrace assemble "
		"a.json\n"
		"  zcat a.nex.gz | ntrace dump --json - | jq .name    # for programs\n",
	.options = options_table,
	.run = run,
};
