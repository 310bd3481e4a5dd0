// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The file `params` of a recording; format: Documentation/trace/recording.md. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/output.h>

#include "recording.h"
#include "regular.h"
#include "struct_size.h"

#define MAGIC "ntrace-recording"
#define PATH_ROOM 4096
/* A params file has a few lines for each stream; a larger file is something else. */
#define FILE_SIZE_MAX (16u << 20)
/* No file system holds more trace, nor can more of it be missing. Sums of 4096 streams do not wrap. */
#define TRACE_SIZE_MAX (UINT64_C(1) << 50)

int ntrace_recording_create(const char *directory)
{
	char path[PATH_ROOM];

	if (snprintf(path, sizeof(path), "%s/images", directory) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NTRACE_ERR_IO;
	}
	if (mkdir(directory, 0777) || mkdir(path, 0777))
		return NTRACE_ERR_IO;
	return 0;
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static bool writable(const struct ntrace_recording *recording)
{
	const char *texts[] = { recording->tool, recording->module, recording->release,
				recording->machine, recording->clock, recording->command };
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strchr(text_of(texts[i]), '\n'))
			return false;
	}
	for (i = 0; i < recording->stream_count; i++) {
		const struct ntrace_stream *stream = &recording->streams[i];
		const char *file = text_of(stream->file);

		if (!file[0] || strpbrk(file, "/\n"))
			return false;
		/* The file would lose a field of a newer version. */
		if (!struct_is_zero(stream->reserved, sizeof(stream->reserved)))
			return false;
	}
	return recording->stream_count <= NTRACE_RECORDING_STREAMS_MAX && !recording->reserved;
}

/* The length of an ISA string is unlimited. */
static int write_params(FILE *file, const struct ntrace_params *params)
{
	struct ntrace_params defaults;
	char *text;
	int length;

	ntrace_params_init(&defaults);
	if (!params)
		params = &defaults;
	length = ntrace_params_format(params, NULL, 0);
	if (length < 0)
		return length;
	text = malloc((size_t)length + 1);
	if (!text)
		return NTRACE_ERR_NOMEM;
	ntrace_params_format(params, text, (size_t)length + 1);
	fprintf(file, "params %s\n", text);
	free(text);
	return NTRACE_OK;
}

static int write_stream(FILE *file, const struct ntrace_stream *stream, unsigned int index)
{
	int error;

	fprintf(file, "stream %u\nfile %s\ncpu %u\nhartid %" PRIu64 "\n", index, stream->file,
		stream->cpu, stream->hartid);
	if (stream->src == NTRACE_SRC_ANY)
		fputs("src any\n", file);
	else
		fprintf(file, "src %u\n", stream->src);
	error = write_params(file, stream->params);
	fprintf(file, "start_ns %" PRIu64 "\nstop_ns %" PRIu64 "\nbytes %" PRIu64 "\n",
		stream->start_ns, stream->stop_ns, stream->bytes);
	fprintf(file, "lost %" PRIu64 "\nlost_exact %d\ngaps %" PRIu64 "\n", stream->lost,
		stream->lost_exact || !ntrace_stream_losses(stream, NULL, 0), stream->gaps);
	if (stream->loss)
		fprintf(file, "loss %" PRIu64 "\n", stream->loss);
	if (stream->event)
		fprintf(file, "event %" PRIu64 "\nposition %" PRIu64 "\n", stream->event,
			stream->position);
	return error;
}

int ntrace_recording_write(const char *directory, const struct ntrace_recording *recording)
{
	struct ntrace_recording full = { 0 };
	struct ntrace_output *output;
	char path[PATH_ROOM];
	unsigned int i;
	FILE *file;
	int error;

	if (STRUCT_TAKE(&full, recording) || !writable(&full))
		return NTRACE_ERR_INVALID;
	recording = &full;
	if (snprintf(path, sizeof(path), "%s/params", directory) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NTRACE_ERR_IO;
	}
	error = ntrace_output_open(&output, path, true);
	if (error)
		return error;
	file = fopen(ntrace_output_name(output), "we");
	if (!file) {
		ntrace_output_close(output, false);
		return NTRACE_ERR_IO;
	}
	fprintf(file, MAGIC " %d\n", NTRACE_RECORDING_VERSION);
	fprintf(file, "tool %s\nmodule %s\nrelease %s\nmachine %s\nclock %s\ncommand %s\n",
		text_of(recording->tool), text_of(recording->module), text_of(recording->release),
		text_of(recording->machine), text_of(recording->clock),
		text_of(recording->command));
	fprintf(file, "privilege %" PRIu32 "\n", recording->privilege);
	if (recording->unfinished)
		fputs("unfinished 1\n", file);
	for (i = 0; i < recording->stream_count && !error; i++)
		error = write_stream(file, &recording->streams[i], i);
	if (ferror(file) && !error)
		error = NTRACE_ERR_IO;
	if (fclose(file) && !error)
		error = NTRACE_ERR_IO;
	return ntrace_output_close(output, !error) ? NTRACE_ERR_IO : error;
}

/* Allocated by ntrace_recording_read(): the public part, then the data that it points to. */
struct read_recording {
	struct ntrace_recording recording;
	char *text;
	struct ntrace_stream *streams;
};

struct params_reader {
	struct read_recording *made;
	struct ntrace_stream *stream;	/* stream of the current section; NULL in the first */
	struct ntrace_params *params;	/* parameters of this stream */
	unsigned int line;
	char *reason;
	size_t reason_size;
};

__attribute__((format(printf, 3, 4))) static int refuse(struct params_reader *reader, int error,
							const char *format, ...)
{
	va_list args;

	if (reader->reason_size) {
		va_start(args, format);
		vsnprintf(reader->reason, reader->reason_size, format, args);
		va_end(args);
	}
	return error;
}

static bool number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

static int add_stream(struct params_reader *reader, const char *value)
{
	struct read_recording *made = reader->made;
	unsigned int count = made->recording.stream_count;
	struct ntrace_stream *streams;
	struct ntrace_params *params;
	uint64_t index;

	if (count == NTRACE_RECORDING_STREAMS_MAX)
		return refuse(reader, NTRACE_ERR_FORMAT, "params line %u: more than %u streams",
			      reader->line, NTRACE_RECORDING_STREAMS_MAX);
	if (!number(value, UINT64_MAX, &index) || index != count)
		return refuse(reader, NTRACE_ERR_FORMAT,
			      "params line %u: stream %.20s where stream %u is next", reader->line,
			      value, count);
	streams = realloc(made->streams, (count + 1) * sizeof(*streams));
	if (!streams)
		return NTRACE_ERR_NOMEM;
	made->streams = streams;
	made->recording.streams = streams;
	params = malloc(sizeof(*params));
	if (!params)
		return NTRACE_ERR_NOMEM;
	made->recording.stream_count = count + 1;
	ntrace_params_init(params);
	reader->params = params;
	reader->stream = &streams[count];
	memset(reader->stream, 0, sizeof(*reader->stream));
	reader->stream->file = "";
	reader->stream->lost_exact = true;
	reader->stream->params = params;
	return 0;
}

static int take_global(struct params_reader *reader, const char *key, const char *value)
{
	struct ntrace_recording *recording = &reader->made->recording;
	const struct {
		const char *key;
		const char **place;
	} texts[] = {
		{ "tool", &recording->tool }, { "module", &recording->module },
		{ "release", &recording->release }, { "machine", &recording->machine },
		{ "clock", &recording->clock }, { "command", &recording->command },
	};
	const struct {
		const char *key;
		uint32_t *place;
	} numbers[] = {
		{ "privilege", &recording->privilege },
		{ "unfinished", &recording->unfinished },
	};
	uint64_t got;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(key, texts[i].key))
			*texts[i].place = value;
	}
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(key, numbers[i].key))
			continue;
		if (!number(value, UINT32_MAX, &got))
			return refuse(reader, NTRACE_ERR_FORMAT,
				      "params line %u: %s is not a number", reader->line, key);
		*numbers[i].place = (uint32_t)got;
	}
	return 0;
}

static int take_stream_number(struct params_reader *reader, const char *key, const char *value)
{
	struct ntrace_stream *stream = reader->stream;
	uint64_t cpu = 0, src = 0, exact = 0, max = UINT64_MAX;
	const struct {
		const char *key;
		uint64_t *place;
		uint64_t max;
	} numbers[] = {
		{ "cpu", &cpu, NTRACE_STREAM_NO_CPU },
		{ "src", &src, (1u << NTRACE_SRC_BITS_MAX) - 1 },
		{ "lost_exact", &exact, 1 },
		{ "hartid", &stream->hartid, max },
		{ "bytes", &stream->bytes, TRACE_SIZE_MAX },
		{ "lost", &stream->lost, TRACE_SIZE_MAX },
		{ "gaps", &stream->gaps, TRACE_SIZE_MAX },
		{ "loss", &stream->loss, max },
		{ "start_ns", &stream->start_ns, max },
		{ "stop_ns", &stream->stop_ns, max },
		{ "event", &stream->event, max },
		{ "position", &stream->position, max },
	};
	size_t i;

	if (!strcmp(key, "src") && !strcmp(value, "any")) {
		stream->src = NTRACE_SRC_ANY;
		return 0;
	}
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(key, numbers[i].key))
			continue;
		if (!number(value, numbers[i].max, numbers[i].place))
			return refuse(reader, NTRACE_ERR_FORMAT, "params line %u: bad value of %s",
				      reader->line, key);
		/* These three fields are narrower than 64 bits. */
		if (numbers[i].place == &cpu)
			stream->cpu = (unsigned int)cpu;
		else if (numbers[i].place == &src)
			stream->src = (unsigned int)src;
		else if (numbers[i].place == &exact)
			stream->lost_exact = exact;
		return 0;
	}
	return 0;
}

static int take_line(struct params_reader *reader, const char *key, const char *value)
{
	const char *bad;

	if (!strcmp(key, "stream"))
		return add_stream(reader, value);
	if (!reader->stream)
		return take_global(reader, key, value);
	if (!strcmp(key, "file")) {
		/* A recording may name only files in its own directory. */
		if (!value[0] || value[0] == '.' || strchr(value, '/'))
			return refuse(reader, NTRACE_ERR_FORMAT,
				      "params line %u: not a plain file name", reader->line);
		reader->stream->file = value;
		return 0;
	}
	if (!strcmp(key, "params")) {
		if (ntrace_params_parse(reader->params, value, &bad))
			return refuse(reader, NTRACE_ERR_FORMAT,
				      "params line %u: bad stream parameter %.40s", reader->line,
				      bad);
		return 0;
	}
	return take_stream_number(reader, key, value);
}

static int take_head(struct params_reader *reader, const char *line)
{
	uint64_t version;

	if (strncmp(line, MAGIC " ", sizeof(MAGIC)) ||
	    !number(line + sizeof(MAGIC), UINT64_MAX, &version))
		return refuse(reader, NTRACE_ERR_FORMAT,
			      "params does not start with \"" MAGIC "\"");
	if (version > NTRACE_RECORDING_VERSION)
		return refuse(reader, NTRACE_ERR_UNSUPPORTED,
			      "made by a newer version: recording format %" PRIu64 ", this "
			      "version reads %d",
			      version, NTRACE_RECORDING_VERSION);
	return 0;
}

/* Two streams of the same messages would count twice. */
static int check_distinct(struct params_reader *reader, unsigned int index)
{
	const struct ntrace_stream *streams = reader->made->streams, *stream = &streams[index];

	for (unsigned int i = 0; i < index; i++)
		if (!strcmp(streams[i].file, stream->file) &&
		    streams[i].params->atid == stream->params->atid &&
		    (streams[i].src == stream->src || streams[i].src == NTRACE_SRC_ANY ||
		     stream->src == NTRACE_SRC_ANY))
			return refuse(reader, NTRACE_ERR_FORMAT,
				      "params: streams %u and %u are the same trace, %.80s", i,
				      index, stream->file);
	return 0;
}

static int take_text(struct params_reader *reader, char *text)
{
	unsigned int i;
	char *line;
	int error = 0;

	while (!error && (line = strsep(&text, "\n"))) {
		char *value = line;

		reader->line++;
		if (reader->line == 1) {
			error = take_head(reader, line);
			continue;
		}
		if (!line[0] || line[0] == '#')
			continue;
		strsep(&value, " ");
		error = take_line(reader, line, value ? value : "");
	}
	for (i = 0; !error && i < reader->made->recording.stream_count; i++) {
		struct ntrace_stream *stream = &reader->made->streams[i];

		stream->lost_exact |= !ntrace_stream_losses(stream, NULL, 0);
		if (!stream->file[0])
			error = refuse(reader, NTRACE_ERR_FORMAT, "params: stream %u has no file",
				       i);
		else
			error = check_distinct(reader, i);
	}
	return error;
}

static int read_whole(const char *path, char **text)
{
	struct stat st;
	FILE *file;
	size_t size;
	int fd, failed, error = open_regular(path, &fd, &st);

	if (error)
		return error;
	if (st.st_size > FILE_SIZE_MAX) {
		close(fd);
		return NTRACE_ERR_FORMAT;
	}
	*text = malloc((size_t)st.st_size + 1);
	file = *text ? fdopen(fd, "r") : NULL;
	if (!file) {
		close(fd);
		return NTRACE_ERR_NOMEM;
	}
	size = fread(*text, 1, (size_t)st.st_size, file);
	failed = ferror(file);
	fclose(file);
	(*text)[size] = 0;
	if (failed)
		return NTRACE_ERR_IO;
	return memchr(*text, 0, size) ? NTRACE_ERR_FORMAT : 0;
}

int ntrace_recording_read(struct ntrace_recording **recording, const char *directory, char *reason,
			  size_t reason_size)
{
	struct read_recording *made = calloc(1, sizeof(*made));
	struct params_reader reader = { .made = made,
					.reason = reason,
					.reason_size = reason_size };
	char path[PATH_ROOM];
	int error;

	if (reason_size)
		reason[0] = 0;
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->recording = (struct ntrace_recording){
		.size = sizeof(made->recording),
		.tool = "",
		.module = "",
		.release = "",
		.machine = "",
		.clock = "",
		.command = "",
	};
	if (snprintf(path, sizeof(path), "%s/params", directory) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		error = NTRACE_ERR_IO;
	} else {
		error = read_whole(path, &made->text);
		if (error == NTRACE_ERR_FORMAT)
			refuse(&reader, error, "params is not a text file, or not a regular file");
	}
	if ((!error || error == NTRACE_ERR_FORMAT) &&
	    recording_find_link(directory, path, sizeof(path)))
		error = refuse(&reader, NTRACE_ERR_UNSUPPORTED,
			       "%.100s: " RECORDING_LINK_OUT
			       ": put the file in its place, or link the whole directory",
			       path);
	if (!error)
		error = take_text(&reader, made->text);
	if (error) {
		int saved = errno;

		ntrace_recording_free(&made->recording);
		errno = saved;
		return error;
	}
	*recording = &made->recording;
	return 0;
}

struct ntrace_recording *recording_of_nothing(void)
{
	struct read_recording *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->recording.size = sizeof(made->recording);
	made->recording.tool = made->recording.module = made->recording.release = "";
	made->recording.machine = made->recording.clock = made->recording.command = "";
	return &made->recording;
}

static const char *feature_of(const struct ntrace_perf_file *file, enum ntrace_perf_feature feature)
{
	return text_of(ntrace_perf_file_feature(file, feature));
}

struct ntrace_recording *recording_of_streams(const struct ntrace_perf_file *file,
					      const struct ntrace_stream *streams,
					      unsigned int count)
{
	struct ntrace_recording *made = recording_of_nothing();

	if (!made)
		return NULL;
	made->release = feature_of(file, NTRACE_PERF_OSRELEASE);
	made->machine = feature_of(file, NTRACE_PERF_ARCH);
	made->streams = streams;
	made->stream_count = count;
	return made;
}

void stream_tell_losses(const struct ntrace_stream *stream, const struct notes *notes)
{
	char text[NTRACE_STREAM_LOSSES_SIZE];

	if (ntrace_stream_losses(stream, text, sizeof(text)))
		notes_add(notes, "%s", text);
}

void ntrace_recording_free(struct ntrace_recording *recording)
{
	struct read_recording *made = (struct read_recording *)recording;
	unsigned int i;

	if (!made)
		return;
	/* A session has its own streams; then made->streams is NULL. */
	for (i = 0; made->streams && i < recording->stream_count; i++)
		free((struct ntrace_params *)(uintptr_t)made->streams[i].params);
	free(made->text);
	free(made->streams);
	free(made);
}
