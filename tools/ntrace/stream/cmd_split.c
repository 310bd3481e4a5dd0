// SPDX-License-Identifier: GPL-2.0-only
/* ntrace split: writes each source of a raw trace to a file of its own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/input.h"
#include "common/output.h"
#include "common/ui.h"
#include "split_files.h"
#include "trace.h"

enum {
	OPTION_OUTPUT = 'o',
	OPTION_PARAMS = OPTION_LONG,
	OPTION_FRAMING,
	OPTION_FORCE,
	OPTION_JSON,
};

/* More SRC values than that indicate wrong parameters. */
#define SRC_MAX 64
/* No encoder sends a longer message; this bounds memory for damaged streams. */
#define MESSAGE_MAX 65536

static const struct option_spec options_table[] = {
	{ OPTION_FRAMING, "framing", "coresight[:ID]",
	  "split by source ID of CoreSight formatter frames" },
	{ OPTION_PARAMS, "params", "srcbits=N", "split by SRC of messages, of N bits" },
	{ OPTION_OUTPUT, "output", "DIR", "directory for the files (default .)" },
	{ OPTION_FORCE, "force", NULL, "replace files that exist" },
	{ OPTION_JSON, "json", NULL, "print a JSON object instead of a table" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct split - options, and the current trace
 * @by_src: split by SRC of messages, else by source ID of frames
 * @gap: frames: trace was missing since the last bytes of file n; preset for new files
 * @idle, @unparsable: bytes that are in no file; @stretches: runs of unparsable bytes
 * @first: offset of the first such run
 * @gaps: gaps in the frames
 * @carry: start of a message that continues in the next chunk; dropped if too long
 */
struct split {
	const struct command *command;
	struct ntrace_params params;
	struct framing framing;
	bool json;
	bool by_src;
	struct split_files files;
	struct ntrace_reader readers[SPLIT_FILES_MAX];
	bool gap[SPLIT_FILES_MAX];
	bool lost;
	uint64_t idle;
	uint64_t unparsable;
	uint64_t stretches;
	uint64_t first;
	uint64_t gaps;
	uint64_t read;
	uint64_t message_bytes;
	size_t carried;
	uint8_t carry[MESSAGE_MAX];
	struct trace trace;
};

/* ---- by source ID ---- */

/* Trace is missing: the next bytes of each file may be the rest of a message. */
static void lose_all(struct split *split)
{
	unsigned int i;

	split->gaps++;
	split->lost = true;
	for (i = 0; i < split->files.count; i++)
		split->gap[i] = true;
}

static int mark_gap(struct split *split, unsigned int index)
{
	if (!split->gap[index])
		return EXIT_OK;
	split->gap[index] = false;
	ntrace_reader_break(&split->readers[index]);
	return split_file_gap(&split->files.files[index], false);
}

static int put_piece(struct split *split, const struct ntrace_frames_piece *piece)
{
	unsigned int before = split->files.count, index;
	struct ntrace_message message;
	struct split_file *file;
	int event, error;

	if (split->framing.source && split->framing.source != piece->source)
		return EXIT_OK;
	error = split_files_get(&split->files, piece->source, &file);
	if (error)
		return error;
	index = (unsigned int)(file - split->files.files);
	if (split->files.count > before) {
		ntrace_reader_init(&split->readers[index], &split->params, true);
		split->gap[index] = split->lost;
	}
	error = mark_gap(split, index);
	if (error)
		return error;
	ntrace_reader_feed(&split->readers[index], piece->bytes, piece->size);
	while ((event = ntrace_reader_next(&split->readers[index], &message)) >= 0)
		file->messages += event == NTRACE_WIRE_MESSAGE;
	return split_file_put(file, piece->bytes, piece->size);
}

static int split_chunk(struct split *split, struct ntrace_frames *frames, const uint8_t *data,
		       size_t size)
{
	struct ntrace_frames_piece piece;
	int event, error = EXIT_OK;

	ntrace_frames_feed(frames, data, size);
	while (!error && (event = ntrace_frames_next(frames, &piece)) >= 0) {
		if (event == NTRACE_FRAMES_BYTES)
			error = put_piece(split, &piece);
		else
			lose_all(split);
	}
	return error;
}

/* At the end: marks gaps at the end, and in files without bytes after a gap. */
static int finish_frames(struct split *split, const struct ntrace_frames *frames)
{
	unsigned int i;
	int error = EXIT_OK;

	if (ntrace_frames_pending(frames))
		lose_all(split);
	for (i = 0; i < split->files.count && !error; i++)
		error = mark_gap(split, i);
	frames_warn(split->trace.name, frames, "");
	if (!error && !split->files.count && split->framing.source)
		return fail("%s: the frames have no bytes of source 0x%02x", split->trace.name,
			    split->framing.source);
	if (!error && !split->files.count)
		return fail("%s: the frames have no bytes of any source", split->trace.name);
	return error;
}

static int split_frames(struct split *split, const char *path)
{
	struct ntrace_frames frames;
	struct progress progress;
	const uint8_t *data;
	size_t size;
	int error = trace_open(&split->trace, path, NULL);

	if (error)
		return error;
	ntrace_frames_init(&frames);
	progress_begin(&progress, "split", split->trace.size);
	while (!(error = trace_read(&split->trace, &data, &size)) && size) {
		error = split_chunk(split, &frames, data, size);
		if (error)
			break;
		progress_update(&progress, frames.offset);
	}
	progress_end(&progress);
	if (!error)
		error = finish_frames(split, &frames);
	split->read = frames.offset;
	trace_close(&split->trace);
	return error;
}

/* ---- by SRC ---- */

/* Bytes that are not a message: their source is unknown. */
static int mark_all(struct split *split)
{
	int error = EXIT_OK;
	unsigned int i;

	for (i = 0; i < split->files.count && !error; i++)
		error = split_file_gap(&split->files.files[i], true);
	return error;
}

static int skip_stretch(struct split *split, uint64_t offset)
{
	if (!split->stretches++)
		split->first = offset;
	return mark_all(split);
}

/* @chunk: bytes at @base; a message that began earlier has its start in the carry. */
static int put_message(struct split *split, const struct ntrace_message *message,
		       const uint8_t *chunk, uint64_t base)
{
	uint64_t before = message->offset < base ? base - message->offset : 0;
	struct split_file *file;
	int error;

	if (!ntrace_message_has(message, NTRACE_FIELD_SRC) || message->length > MESSAGE_MAX)
		return skip_stretch(split, message->offset);
	error = split_files_get(&split->files, (unsigned int)message->field[NTRACE_FIELD_SRC],
				&file);
	if (error)
		return error;
	file->messages++;
	split->message_bytes += message->length;
	error = split_file_put(file, split->carry, before);
	if (error)
		return error;
	return split_file_put(file, chunk + (message->offset + before - base),
			      message->length - before);
}

/* Keeps the chunk's part of the current message. */
static void keep(struct split *split, const struct ntrace_reader *reader, const uint8_t *chunk,
		 uint64_t base)
{
	uint64_t pending = ntrace_reader_pending(reader);
	uint64_t start = reader->offset - pending;
	size_t from = start > base ? (size_t)(start - base) : 0;
	size_t size = (size_t)(reader->offset - base) - from;

	if (start >= base)
		split->carried = 0;
	if (size > MESSAGE_MAX - split->carried)
		size = MESSAGE_MAX - split->carried;
	memcpy(split->carry + split->carried, chunk + from, size);
	split->carried += size;
}

static int split_messages_of(struct split *split, struct ntrace_reader *reader, const uint8_t *data,
			     size_t size)
{
	uint64_t base = reader->offset;
	struct ntrace_message message;
	int event, error = EXIT_OK;

	if (split->trace.lost)
		error = skip_stretch(split, base - ntrace_reader_break(reader));
	ntrace_reader_feed(reader, data, size);
	while (!error && (event = ntrace_reader_next(reader, &message)) >= 0)
		error = event == NTRACE_WIRE_MESSAGE ? put_message(split, &message, data, base) :
						       skip_stretch(split, message.offset);
	if (!error)
		keep(split, reader, data, base);
	return error;
}

static int finish_messages(struct split *split, const struct ntrace_reader *reader)
{
	uint64_t pending = ntrace_reader_pending(reader);

	split->read = reader->offset;
	split->idle = reader->idles;
	split->gaps = split->trace.places;
	split->unparsable = reader->offset - reader->idles - split->message_bytes;
	if (pending && !split->stretches++)
		split->first = reader->offset - pending;
	if (split->unparsable)
		warn("%s: %" PRIu64
		     " bytes are in no file: they are not complete messages with a SRC: %" PRIu64
		     " places, the first at offset 0x%" PRIx64 "; are the parameters right?",
		     split->trace.name, split->unparsable, split->stretches, split->first);
	if (!split->files.count)
		return fail("%s: the trace has no message with a SRC", split->trace.name);
	return EXIT_OK;
}

static int split_messages(struct split *split, const char *path)
{
	const struct trace_format format = { .framing = split->framing,
					     .atid = split->params.atid };
	struct ntrace_reader reader;
	struct progress progress;
	const uint8_t *data;
	size_t size = 0;
	int error = trace_open(&split->trace, path, &format);

	if (error)
		return error;
	if (ntrace_reader_init(&reader, &split->params, true))
		error = fail("the stream parameters contradict each other");
	progress_begin(&progress, "split", split->trace.size);
	while (!error) {
		error = trace_read(&split->trace, &data, &size);
		if (!error)
			error = split_messages_of(split, &reader, data, size);
		if (!size)
			break;
		progress_update(&progress, reader.offset);
	}
	progress_end(&progress);
	if (!error)
		error = finish_messages(split, &reader);
	trace_close(&split->trace);
	return error;
}

/* ---- the table ---- */

static int compare_files(const void *left, const void *right)
{
	const struct split_file *a = left, *b = right;

	return a->source < b->source ? -1 : a->source > b->source;
}

static void put_table(const struct split *split, struct output *output)
{
	const struct split_files *files = &split->files;
	char bytes[UI_NUMBER_SIZE], messages[UI_NUMBER_SIZE], source[16];
	size_t width = strlen("file");
	unsigned int i;

	for (i = 0; i < files->count; i++)
		if (strlen(files->files[i].path) > width)
			width = strlen(files->files[i].path);
	output_padded(output, split->by_src ? "SRC" : "source", 8);
	output_padded(output, "file", width);
	output_printf(output, " %15s %12s %8s\n", "bytes", "messages", "gaps");
	for (i = 0; i < files->count; i++) {
		const struct split_file *file = &files->files[i];

		snprintf(source, sizeof(source), split->by_src ? "%u" : "0x%02x", file->source);
		output_padded(output, source, 8);
		output_padded(output, file->path, width);
		output_printf(output, " %15s %12s %8" PRIu64 "\n", ui_number(bytes, file->bytes),
			      ui_number(messages, file->messages), file->gaps);
	}
	if (split->idle)
		output_printf(output, "idle bytes, in no file: %s\n",
			      ui_number(bytes, split->idle));
	if (split->unparsable)
		output_printf(output, "bytes of no message, in no file: %s\n",
			      ui_number(bytes, split->unparsable));
}

static void put_json(const struct split *split, struct output *output)
{
	unsigned int i;

	output_printf(output, "{\"bytes\":%" PRIu64 ",\"sources\":[", split->read);
	for (i = 0; i < split->files.count; i++) {
		const struct split_file *file = &split->files.files[i];

		output_printf(output, "%s{\"%s\":%u,\"file\":", i ? "," : "",
			      split->by_src ? "src" : "source", file->source);
		output_json(output, file->path);
		output_printf(output,
			      ",\"bytes\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"gaps\":%" PRIu64
			      "}",
			      file->bytes, file->messages, file->gaps);
	}
	output_char(output, ']');
	if (split->by_src)
		output_printf(output,
			      ",\"idle_bytes\":%" PRIu64 ",\"unparsable_bytes\":%" PRIu64
			      ",\"unparsable_places\":%" PRIu64,
			      split->idle, split->unparsable, split->stretches);
	output_printf(output, ",\"frame_gaps\":%" PRIu64 "}\n", split->gaps);
}

/* ---- the command ---- */

static int take_option(struct split *split, const struct options *options, int option)
{
	switch (option) {
	case OPTION_FRAMING:
		return framing_option(split->command, &split->framing, options->value);
	case OPTION_PARAMS:
		return input_params(split->command, &split->params, options->value);
	case OPTION_OUTPUT:
		return option_directory(options, "output", &split->files.directory);
	case OPTION_FORCE:
		split->files.force = true;
		return EXIT_OK;
	case OPTION_JSON:
		split->json = true;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

static int split_input(struct split *split, const char *path)
{
	int error;

	split->by_src = split->params.src_bits;
	split->files.format = split->by_src ? "src-%u.nex" : "source-0x%02x.nex";
	split->files.limit = split->by_src ? SRC_MAX : SPLIT_FILES_MAX;
	error = split->by_src ? split_messages(split, path) : split_frames(split, path);
	if (split_files_finish(&split->files, !error) && !error)
		error = EXIT_FAILED;
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	static struct split split;
	struct options options;
	int option, error;

	output_init(&output, STDOUT_FILENO);
	split.command = command;
	split.files.directory = ".";
	ntrace_params_init(&split.params);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&split, &options, option);
		if (error)
			return error;
	}
	if (argc - options.index != 1)
		return usage_error(command, "one trace file is needed");
	if (is_recording(argv[options.index]))
		return usage_error(command, "%s is a recording: split reads raw traces",
				   argv[options.index]);
	if (!split.framing.given && !split.params.src_bits)
		return usage_error(command, "--framing coresight or --params srcbits=N is needed");
	error = split_input(&split, argv[options.index]);
	qsort(split.files.files, split.files.count, sizeof(split.files.files[0]), compare_files);
	if (!error && split.json)
		put_json(&split, &output);
	else if (!error)
		put_table(&split, &output);
	split_files_free(&split.files);
	return output_finish(&output, error			     ? error :
				      split.gaps || split.unparsable ? EXIT_GAPS :
								       EXIT_OK);
}

const struct command command_split = {
	.name = "split",
	.summary = "split a raw trace into a file for each source",
	.usage =
		"--framing coresight[:ID] [OPTIONS] TRACE\n"
		"       ntrace split --params srcbits=N [--framing coresight[:ID]] [OPTIONS] TRACE",
	.details =
		"With --framing alone each source of the frames becomes DIR/source-0xNN.nex, with\n"
		"srcbits each SRC of the messages DIR/src-N.nex; with both the frames of one "
		"source\n"
		"are taken apart first. TRACE may be - for standard input. Where trace is missing "
		"a\n"
		"mark comes into the file, at which decoders report an error and synchronize "
		"again.\n"
		"Files get their names when all of them are whole.\n\n"
		"exit status: 0, or 3 if something is missing or is in no file.\n\n"
		"examples:\n"
		"  ntrace split --framing coresight -o sources etr.bin\n"
		"  ntrace split --params srcbits=3 -o streams soc.nex\n"
		"  ntrace split --framing coresight:0x10 --params srcbits=3 etr.bin\n",
	.options = options_table,
	.run = run,
};
