// SPDX-License-Identifier: GPL-2.0-only
/* ntrace dump: messages, field by field. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntrace/recording.h>
#include <ntrace/wire.h>

#include "command.h"
#include "input.h"
#include "output.h"
#include "ui.h"

/* Bytes of one message that are shown; broken streams have endless ones. */
#define BYTES_SHOWN 64

enum {
	OPTION_PARAMS = 'p',
	OPTION_SRC = OPTION_LONG,
	OPTION_STREAM,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_PARAMS, "params", "KEY=VALUE,...", "stream parameters, e.g. srcbits=2,xlen=64" },
	{ OPTION_SRC, "src", "N", "only messages with SRC = N" },
	{ OPTION_STREAM, "stream", "N", "only stream N (aux.N) of a recording" },
	{ OPTION_JSON, "json", NULL, "one JSON object a line" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct dump {
	struct output *output;
	struct raw_trace trace;
	struct ntrace_params params;
	bool json;
	bool select_src;
	uint64_t src;
	int stream;		/* -1: not of a recording */
	uint64_t errors;
	uint64_t references[1u << NTRACE_SRC_BITS_MAX];
};

static const char *sync_name(uint64_t sync)
{
	static const char *const names[16] = {
		"external trigger", "reset exit", "periodic", "debug exit", "I-CNT full",
		"trace enable", "trace event", "FIFO overrun", NULL, "power-down exit",
	};

	return sync < 16 ? names[sync] : NULL;
}

static const char *value_name(unsigned int field, uint64_t value)
{
	static const char *const btypes[] = { "jump", "trap", "exception", "interrupt" };
	static const char *const evcodes[] = { "debug entry", "low power", NULL, NULL,
					       "trace disable" };
	static const char *const rcodes[] = { "I-CNT", "HIST", "repeated HIST" };

	switch (field) {
	case NTRACE_FIELD_SYNC:
		return sync_name(value);
	case NTRACE_FIELD_BTYPE:
		return value < 4 ? btypes[value] : NULL;
	case NTRACE_FIELD_EVCODE:
		return value < 5 ? evcodes[value] : NULL;
	case NTRACE_FIELD_RCODE:
		return value < 3 ? rcodes[value] : NULL;
	default:
		return NULL;
	}
}

/* Addresses, bit patterns and clocks read better in hexadecimal. */
static bool is_hexadecimal(unsigned int field)
{
	return field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR ||
	       field == NTRACE_FIELD_HIST || field == NTRACE_FIELD_RDATA ||
	       field == NTRACE_FIELD_ECODE || field == NTRACE_FIELD_PROCESS ||
	       field == NTRACE_FIELD_TSTAMP;
}

static void put_value(struct output *output, unsigned int field, uint64_t value)
{
	if (is_hexadecimal(field)) {
		output_text(output, "0x");
		output_hex(output, value, 1);
	} else {
		output_decimal(output, value, 0);
	}
}

static void put_bytes(const struct dump *dump, uint64_t offset, uint64_t length,
		      const char *separator)
{
	uint64_t i;

	for (i = 0; i < length && i < BYTES_SHOWN; i++) {
		if (i)
			output_text(dump->output, separator);
		output_hex(dump->output, dump->trace.data[offset + i], 2);
	}
}

static void put_flags(const struct dump *dump, unsigned int flags, const char *quote)
{
	static const char *const names[] = { "unknown", "truncated", "extra", "oversize" };
	const char *separator = "[";
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (!(flags >> i & 1))
			continue;
		output_printf(dump->output, "%s%s%s%s", separator, quote, names[i], quote);
		separator = ",";
	}
	output_char(dump->output, ']');
}

static bool has_address(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_FADDR) ||
	       ntrace_message_has(message, NTRACE_FIELD_UADDR);
}

/* The address that the message says; U-ADDR counts from the last one of its SRC. */
static uint64_t follow_address(struct dump *dump, const struct ntrace_message *message)
{
	uint64_t *reference = &dump->references[message->field[NTRACE_FIELD_SRC] &
						((1u << NTRACE_SRC_BITS_MAX) - 1)];

	*reference = ntrace_message_address(message, &dump->params, *reference);
	return *reference;
}

static void message_text(struct dump *dump, const struct ntrace_message *message)
{
	struct output *output = dump->output;
	const char *name;
	unsigned int i;

	output_text(output, "0x");
	output_hex(output, message->offset, 8);
	output_decimal(output, message->length, 5);
	output_decimal(output, message->tcode, 4);
	output_char(output, ' ');
	output_padded(output, ntrace_tcode_name(message->tcode), 22);
	for (i = 0; i < NTRACE_FIELD_COUNT; i++) {
		if (!ntrace_message_has(message, i))
			continue;
		output_char(output, ' ');
		output_text(output, ntrace_field_name(i));
		output_char(output, '=');
		put_value(output, i, message->field[i]);
		name = value_name(i, message->field[i]);
		if (name) {
			output_char(output, '(');
			output_text(output, name);
			output_char(output, ')');
		}
	}
	if (has_address(message)) {
		output_text(output, " -> 0x");
		output_hex(output, follow_address(dump, message), 1);
	}
	if (message->flags) {
		output_char(output, ' ');
		put_flags(dump, message->flags, "");
	}
	output_text(output, " | ");
	put_bytes(dump, message->offset, message->length, " ");
	if (message->length > BYTES_SHOWN)
		output_text(output, " ...");
	output_char(output, '\n');
}

static void json_start(struct dump *dump, const char *type, uint64_t offset, uint64_t length)
{
	output_char(dump->output, '{');
	if (dump->stream >= 0)
		output_printf(dump->output, "\"stream\":%d,", dump->stream);
	output_printf(dump->output,
		      "\"type\":\"%s\",\"offset\":%" PRIu64 ",\"length\":%" PRIu64 ",\"bytes\":\"",
		      type, offset, length);
	put_bytes(dump, offset, length, "");
	output_char(dump->output, '"');
}

static void message_json(struct dump *dump, const struct ntrace_message *message)
{
	struct output *output = dump->output;
	bool first = true;
	unsigned int i;

	json_start(dump, "message", message->offset, message->length);
	output_printf(output, ",\"tcode\":%u,\"name\":\"%s\",\"fields\":{", message->tcode,
		      ntrace_tcode_name(message->tcode));
	for (i = 0; i < NTRACE_FIELD_COUNT; i++) {
		if (!ntrace_message_has(message, i))
			continue;
		output_printf(output, "%s\"%s\":", first ? "" : ",", ntrace_field_name(i));
		/* Numbers over 2^53 do not survive every JSON reader. */
		if (is_hexadecimal(i))
			output_char(output, '"');
		put_value(output, i, message->field[i]);
		if (is_hexadecimal(i))
			output_char(output, '"');
		first = false;
	}
	output_char(output, '}');
	if (has_address(message)) {
		output_text(output, ",\"address\":\"0x");
		output_hex(output, follow_address(dump, message), 1);
		output_char(output, '"');
	}
	if (message->flags) {
		output_text(output, ",\"flags\":");
		put_flags(dump, message->flags, "\"");
	}
	output_text(output, "}\n");
}

static void problem(struct dump *dump, const char *type, const char *text, uint64_t offset,
		    uint64_t length)
{
	dump->errors++;
	if (dump->json) {
		json_start(dump, type, offset, length);
		output_text(dump->output, "}\n");
		return;
	}
	output_text(dump->output, "0x");
	output_hex(dump->output, offset, 8);
	output_decimal(dump->output, length, 5);
	output_text(dump->output, "   - ");
	output_text(dump->output, text);
	output_text(dump->output, " | ");
	put_bytes(dump, offset, length, " ");
	output_char(dump->output, '\n');
}

static int dump_trace(struct dump *dump)
{
	struct ntrace_reader reader;
	struct ntrace_message message;
	struct progress progress;
	uint64_t pending, count = 0;
	int event;

	if (ntrace_reader_init(&reader, &dump->params, true))
		return fail("the stream parameters contradict each other");
	memset(dump->references, 0, sizeof(dump->references));
	ntrace_reader_feed(&reader, dump->trace.data, dump->trace.size);
	progress_begin(&progress, "dump", dump->trace.size);
	while ((event = ntrace_reader_next(&reader, &message)) >= 0 && !dump->output->error) {
		if (!(++count & 0xfff))
			progress_update(&progress, message.offset);
		if (event == NTRACE_WIRE_ERROR)
			problem(dump, "error", "reserved MSEO code: skipped to the next message",
				message.offset, message.length);
		else if (dump->select_src && message.field[NTRACE_FIELD_SRC] != dump->src)
			continue;
		else if (dump->json)
			message_json(dump, &message);
		else
			message_text(dump, &message);
	}
	progress_end(&progress);
	pending = ntrace_reader_pending(&reader);
	if (pending && !dump->output->error) {
		problem(dump, "cut", "the trace ends inside this message",
			dump->trace.size - pending, pending);
		warn("the trace ends inside a message: %" PRIu64 " bytes of it are left", pending);
	}
	return EXIT_OK;
}

static int dump_file(struct dump *dump, const char *path)
{
	int error = raw_trace_open(&dump->trace, path);

	if (error)
		return error;
	error = dump_trace(dump);
	raw_trace_close(&dump->trace);
	return error;
}

static int dump_stream(struct dump *dump, const char *directory, const struct ntrace_stream *stream)
{
	char params[256], *path;
	int error;

	if (asprintf(&path, "%s/%s", directory, stream->file) < 0)
		return fail("out of memory");
	dump->params = stream->params;
	ntrace_params_format(&stream->params, params, sizeof(params));
	if (!dump->json)
		output_printf(dump->output, "# stream %d: %s, CPU %u, hart %" PRIu64 ", %s\n",
			      dump->stream, path, stream->cpu, stream->hartid, params);
	error = dump_file(dump, path);
	free(path);
	return error;
}

/* Needs `params` and the traces only: a recording without sideband can still be dumped. */
static int dump_recording(struct dump *dump, const char *directory, int64_t only)
{
	struct ntrace_recording *recording;
	char reason[256] = "";
	unsigned int i;
	int error;

	error = ntrace_recording_read(&recording, directory, reason, sizeof(reason));
	if (error)
		return recording_error(directory, error, reason);
	if (only >= recording->stream_count)
		error = fail("%s: there is no stream %" PRId64 ": it has %u", directory, only,
			     recording->stream_count);
	for (i = 0; !error && i < recording->stream_count; i++) {
		dump->stream = (int)i;
		if (only < 0 || i == only)
			error = dump_stream(dump, directory, &recording->streams[i]);
	}
	ntrace_recording_free(recording);
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct dump dump;
	struct options options;
	uint64_t only = 0;
	bool select_stream = false, params = false;
	const char *path;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	dump.output = &output;
	dump.stream = -1;
	ntrace_params_init(&dump.params);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		switch (option) {
		case OPTIONS_HELP:
			return finish_output(EXIT_OK);
		case OPTION_PARAMS:
			if (input_params(command, &dump.params, options.value))
				return EXIT_USAGE;
			params = true;
			break;
		case OPTION_SRC:
			if (!option_number(&options, "src", 0, (1u << NTRACE_SRC_BITS_MAX) - 1,
					   &dump.src))
				return EXIT_USAGE;
			dump.select_src = true;
			break;
		case OPTION_STREAM:
			if (!option_number(&options, "stream", 0, UINT16_MAX, &only))
				return EXIT_USAGE;
			select_stream = true;
			break;
		case OPTION_JSON:
			dump.json = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - options.index != 1)
		return usage_error(command, "one trace file or recording is needed");
	path = argv[options.index];
	if (is_directory(path)) {
		if (params)
			return usage_error(command, "a recording has its own parameters: "
						    "--params is for raw traces");
		error = dump_recording(&dump, path, select_stream ? (int64_t)only : -1);
	} else {
		if (select_stream)
			return usage_error(command, "--stream is for recordings");
		error = dump_file(&dump, path);
	}
	return output_finish(&output, error ? error : dump.errors ? EXIT_GAPS : EXIT_OK);
}

const struct command command_dump = {
	.name = "dump",
	.summary = "show trace messages, field by field",
	.usage = "[--params KEY=VALUE,...] [--src N] [--json] TRACE | RECORDING",
	.details =
		"One line a message: offset and length in bytes, TCODE, name, fields as sent, the\n"
		"address that F-ADDR or U-ADDR stands for, and the bytes.\n\n"
		"exit status: 0, or 3 if bytes are no messages or the trace ends inside one.\n\n"
		"examples:\n"
		"  ntrace dump ntrace.data                 all streams of a recording\n"
		"  ntrace dump --params srcbits=3 a.nex    a raw trace with SRC fields of 3 bits\n"
		"  ntrace dump --json a.nex | jq .name     for programs\n",
	.options = options_table,
	.run = run,
};
