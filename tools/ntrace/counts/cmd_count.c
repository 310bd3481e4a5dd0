// SPDX-License-Identifier: GPL-2.0-only
/* ntrace count: the counts of recordings, in a counts file. */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "common/counts_sum.h"
#include "common/input.h"
#include "common/inputs.h"
#include "common/output.h"
#include "common/jobs.h"
#include "common/samples.h"
#include "common/trace_id.h"
#include "common/ui.h"

/* Memory that a trace of a profile takes, with its slots in a table that is half full. */
#define TRACE_BYTES 72
#define MEMORY_DEFAULT (UINT64_C(1) << 30)
#define SHARDS_MAX 1000000

enum {
	OPTION_OUTPUT = 'o',
	OPTION_QUIET = 'q',
	OPTION_SHARD = OPTION_LONG,
	OPTION_CLASS,
	OPTION_MEMORY,
	OPTION_JSON,
};

static const struct option_spec options_table[] = {
	{ OPTION_OUTPUT, "output", "FILE", "write the counts to FILE; - is standard output" },
	{ OPTION_SHARD, "shard", "I/N", "only part I of N; ntrace merge joins the parts" },
	{ OPTION_CLASS, "class", "LABEL", "label of the counted processes, such as a service" },
	SELECT_OPTIONS,
	THREAD_OPTIONS,
	{ OPTION_MEMORY, "memory", "SIZE", "memory for counts; more are sorted on disk (1G)" },
	RECORDING_OPTIONS,
	JOBS_OPTION,
	{ OPTION_QUIET, "quiet", NULL, "print only warnings and errors" },
	{ OPTION_JSON, "json", NULL, "print the totals as a JSON object" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/* A stream of an input, which no other one may be. @path: of the recording; borrowed */
struct counted {
	struct ntrace_counts_source source;
	const char *path;
	unsigned int stream;
};

/*
 * @number: number of the recording
 * @jobs: number of threads; 0 = all processors
 * @shard: number of the part, from 0
 * @traces_max: number of traces that fit into memory
 * @kernel: name of the kernel's text of this recording; owned
 * @streams: streams counted; a file of samples is one
 * @counted: tree of tsearch(), of struct counted
 */
struct count {
	const struct command *command;
	struct recording_options recording_options;
	struct ntrace_profile_options selection;
	struct ntrace_thread_filter filter;
	struct recording recording;
	struct ntrace_counts_merger *merger;
	const char *path;
	const char *output;
	const char *label;
	char *kernel;
	uint64_t number;
	unsigned int jobs;
	uint64_t shard;
	uint64_t shards;
	size_t traces_max;
	uint64_t streams;
	void *counted;
	bool json;
	bool quiet;
};

static int take_shard(struct count *count, const struct options *options)
{
	const char *slash = strchr(options->value, '/');
	struct options part = *options;
	char first[32];
	size_t length = slash ? (size_t)(slash - options->value) : 0;

	if (!slash || !length || length >= sizeof(first))
		return usage_error(options->command, "option --shard: '%s' is not I/N, like 1/7",
				   options->value);
	memcpy(first, options->value, length);
	first[length] = '\0';
	part.value = slash + 1;
	if (!option_number(&part, "shard", 1, SHARDS_MAX, &count->shards))
		return EXIT_USAGE;
	part.value = first;
	if (!option_number(&part, "shard", 1, count->shards, &count->shard))
		return EXIT_USAGE;
	count->shard--;
	return EXIT_OK;
}

static int take_memory(struct count *count, const struct options *options)
{
	uint64_t bytes;

	if (!option_size(options, "memory", 1, UINT64_MAX, &bytes))
		return EXIT_USAGE;
	bytes /= TRACE_BYTES;
	/* The table itself holds less than 2^32 traces. */
	count->traces_max = bytes > UINT32_MAX / 4 ? UINT32_MAX / 4 : (size_t)bytes;
	return EXIT_OK;
}

static int take_option(struct count *count, const struct options *options, int option)
{
	switch (option) {
	case OPTION_OUTPUT:
		count->output = options->value;
		return EXIT_OK;
	case OPTION_SHARD:
		return take_shard(count, options);
	case OPTION_CLASS:
		count->label = options->value;
		if (strlen(count->label) > NTRACE_COUNTS_LABEL_MAX)
			return usage_error(options->command,
					   "option --class: a label has at most %d bytes",
					   NTRACE_COUNTS_LABEL_MAX);
		return EXIT_OK;
	case OPTION_USER:
	case OPTION_KERNEL:
	case OPTION_SELECT:
		return option_select(options, option, &count->selection.privileges);
	case OPTION_ONE_PID:
	case OPTION_ONE_TID:
	case OPTION_COMM:
		count->selection.threads = &count->filter;
		return option_threads(options, option, &count->filter);
	case OPTION_MEMORY:
		return take_memory(count, options);
	case OPTION_JOBS:
		return jobs_option(options, &count->jobs);
	case OPTION_QUIET:
		count->quiet = true;
		return EXIT_OK;
	case OPTION_JSON:
		count->json = true;
		return EXIT_OK;
	default:
		return recording_option(&count->recording_options, options, option);
	}
}

/* ---- counting ---- */

/* Moves the counts of a profile to the sum. */
static int spill(void *data, struct ntrace_profile *profile)
{
	struct count *count = data;

	return ntrace_counts_merger_add_profile(count->merger, profile, count->label,
						count->kernel);
}

static bool in_shard(const struct count *count, uint64_t number)
{
	return number % count->shards == count->shard;
}

static bool wants_stream(void *data, unsigned int stream)
{
	struct count *count = data;

	return in_shard(count, count->number + stream);
}

static int count_samples(struct count *count)
{
	const struct ntrace_counts_losses losses = { .sampled = 1 };
	struct ntrace_profile *profile;
	struct samples samples;
	int error = ntrace_profile_new(&profile, &count->selection);

	if (error)
		return error;
	error = samples_count(&count->recording, profile, &samples);
	if (!error)
		error = spill(count, profile);
	ntrace_profile_free(profile);
	ntrace_counts_merger_add_losses(count->merger, &losses);
	count->streams++;
	return error;
}

/* A sink that several harts share loses the trace of all of them. */
static void add_losses_of(const struct count *count, unsigned int number,
			  struct ntrace_counts_losses *losses)
{
	const struct ntrace_session *session = count->recording.session;
	const struct ntrace_stream *stream = ntrace_session_stream(session, number);

	if (recording_shares_file(session, number))
		return;
	losses->lost += stream->lost;
	losses->at_least += ntrace_stream_losses(stream, NULL, 0) &&
			    !(stream->lost && stream->lost_exact);
}

static int count_traces(struct count *count)
{
	const struct profiling profiling = {
		.selection = &count->selection,
		.what = "count",
		.jobs = count->jobs,
		.wants = wants_stream,
		.traces_max = count->traces_max,
		.take = spill,
		.data = count,
	};
	unsigned int streams = ntrace_session_streams(count->recording.session), i;
	struct ntrace_counts_losses losses = { 0 };
	struct recording_totals totals;
	int error = recording_profile(&count->recording, &profiling, &totals);

	losses.gaps = totals.gaps;
	for (i = 0; i < streams; i++) {
		if (!wants_stream(count, i))
			continue;
		add_losses_of(count, i, &losses);
		count->streams++;
	}
	ntrace_counts_merger_add_losses(count->merger, &losses);
	return error;
}

/*
 * Copies of kernel text have the names of files in the recording. For all recordings of a kernel,
 * this name is the same.
 */
static int name_kernel(struct count *count)
{
	const char *release = ntrace_session_recording(count->recording.session)->release;

	free(count->kernel);
	if (asprintf(&count->kernel, "%s/kernel.start", *release ? release : "unknown") >= 0)
		return EXIT_OK;
	count->kernel = NULL;
	return fail("out of memory");
}

static int compare_counted(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;

	return memcmp(a->source.id, b->source.id, sizeof(a->source.id));
}

/* Remembers a stream. Return: EXIT_OK, or EXIT_FAILED after an error message: an earlier one is the same. */
static int remember(struct count *count, const struct ntrace_counts_source *source,
		    unsigned int stream)
{
	struct counted *counted = malloc(sizeof(*counted));
	struct counted **found;

	if (!counted)
		return fail("out of memory");
	*counted = (struct counted){ *source, count->path, stream };
	found = tsearch(counted, &count->counted, compare_counted);
	if (found && *found == counted)
		return EXIT_OK;
	free(counted);
	if (!found)
		return fail("out of memory");
	return fail("%s: its stream %u has the trace of %s, stream %u: it would count twice",
		    count->path, stream, (*found)->path, (*found)->stream);
}

static uint64_t add_number(uint64_t hash, uint32_t number)
{
	return (hash ^ number) * UINT64_C(0x100000001b3);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = add_number(hash, (uint8_t)*text);
	return add_number(hash, 0);
}

/* What all parts of a run have in common: see struct ntrace_counts_source. Never 0. */
static uint64_t selection_id(const struct count *count)
{
	uint64_t hash = add_number(UINT64_C(0xcbf29ce484222325), count->selection.privileges);

	hash = add_number(hash, (uint32_t)count->filter.pid);
	hash = add_number(hash, (uint32_t)count->filter.tid);
	hash = add_text(hash, count->filter.comm);
	return add_text(hash, count->label) | 1;
}

/* The file knows each stream of the run, and which part counts it. */
static int add_source(struct count *count, uint64_t number, const struct ntrace_stream *stream,
		      unsigned int index, const char *path)
{
	struct ntrace_counts_source source = { .part = 0 };
	int error = trace_identify(count->path, stream, path, index, &source);

	if (error)
		return error;
	if (!in_shard(count, number + index)) {
		source.part = (uint32_t)((number + index) % count->shards + 1);
		source.parts = (uint32_t)count->shards;
	}
	source.selection = selection_id(count);
	error = remember(count, &source, index);
	if (error)
		return error;
	return ntrace_counts_merger_add_source(count->merger, &source) ? fail("out of memory") :
									 EXIT_OK;
}

/*
 * Adds the streams of a recording directory without opening it. @streams: their number; 0: unknown.
 * Return: exit status
 */
static int add_streams(struct count *count, uint64_t number, unsigned int *streams)
{
	struct ntrace_recording *recording;
	int error = EXIT_OK;

	*streams = 0;
	if (!is_directory(count->path) || ntrace_recording_read(&recording, count->path, NULL, 0))
		return EXIT_OK;
	*streams = recording->stream_count;
	for (unsigned int i = 0; i < *streams && !error; i++) {
		const struct ntrace_stream *stream = &recording->streams[i];
		char *path;

		if (asprintf(&path, "%s/%s", count->path, stream->file) < 0) {
			error = fail("out of memory");
			break;
		}
		error = add_source(count, number, stream, i, path);
		free(path);
	}
	ntrace_recording_free(recording);
	return error;
}

/* The same for a perf.data file, which must be open. */
static int add_parts(struct count *count, uint64_t number)
{
	const struct ntrace_session *session = count->recording.session;
	int error = EXIT_OK;

	if (ntrace_session_has_samples(session))
		return add_source(count, number, NULL, 0, NULL);
	for (unsigned int i = 0; i < ntrace_session_streams(session) && !error; i++) {
		const struct ntrace_stream *stream = ntrace_session_stream(session, i);

		error = add_source(count, number, stream, i, stream->file);
	}
	return error;
}

/*
 * Stream s of recording r belongs to part (r + s) % N: to find its part, nobody needs to open the
 * recordings before it.
 */
static int count_recording(struct count *count, uint64_t number)
{
	unsigned int streams, i;
	int error = add_streams(count, number, &streams);
	bool wanted = !streams;

	if (error)
		return error;
	for (i = 0; i < streams; i++)
		wanted |= in_shard(count, number + i);
	if (!wanted)
		return EXIT_OK;
	error = recording_open(&count->recording, count->command, count->path,
			       &count->recording_options);
	if (error)
		return error;
	count->number = number;
	/* A note has said which ones. */
	error = count->recording.doubled ?
			fail("%s: two of its streams have the same trace, which would count twice",
			     count->path) :
			name_kernel(count);
	if (!error && !streams)
		error = add_parts(count, number);
	if (!error && !ntrace_session_has_samples(count->recording.session))
		error = count_traces(count);
	else if (!error && in_shard(count, number))
		error = count_samples(count);
	/* Other errors have had a message. */
	if (error < 0)
		error = sum_failed(count->merger, error, count->path);
	recording_close(&count->recording);
	return error;
}

/* ---- results ---- */

static int put_json(const struct count *count, const struct ntrace_counts_totals *totals)
{
	static struct output output;

	output_init(&output, 1);
	output_text(&output, "{\"file\":");
	output_json(&output, count->output);
	output_printf(&output,
		      ",\"streams\":%" PRIu64 ",\"groups\":%" PRIu64 ",\"entries\":%" PRIu64
		      ",\"saturated\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n",
		      count->streams, totals->groups, totals->entries, totals->saturated,
		      totals->losses.gaps, totals->losses.lost);
	return output_finish(&output, EXIT_OK);
}

static int finish(struct count *count)
{
	struct ntrace_counts_totals totals;
	int error = sum_write(count->merger, count->output, &totals, count->shards > 1);

	if (error)
		return error;
	sum_say(count->output, &totals, count->quiet);
	if (count->json && put_json(count, &totals))
		return EXIT_FAILED;
	if (totals.entries)
		return EXIT_OK;
	if (count->shards > 1) {
		say("part %" PRIu64 " of %" PRIu64 " has no counts: ntrace merge accepts it",
		    count->shard + 1, count->shards);
		return EXIT_OK;
	}
	return fail(
		"%s: no selected code was executed: the counts are empty: %s", count->path,
		count->selection.privileges || count->selection.threads ?
			"'ntrace report --by-process' shows what was executed; " SELECT_OPTION_NAMES
			" select less" :
			"'ntrace report' names what was lost and what could not be decoded");
}

static int count_all(struct count *count, char **paths, int paths_count)
{
	int error = ntrace_counts_merger_new(&count->merger, NULL) ? fail("out of memory") :
								     EXIT_OK;

	for (int i = 0; i < paths_count && !error; i++) {
		count->path = paths[i];
		error = count_recording(count, (uint64_t)i);
	}
	if (!error)
		error = finish(count);
	ntrace_counts_merger_free(count->merger);
	free(count->kernel);
	tdestroy(count->counted, free);
	return error;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct count count = {
		.command = command,
		.label = "",
		.shards = 1,
		.traces_max = MEMORY_DEFAULT / TRACE_BYTES,
		.recording_options = { .samples = true, .traces = true },
		.selection = { .size = sizeof(count.selection), .by_privilege = true },
		.filter = ALL_THREADS,
	};
	struct options options;
	int option, error;

	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&count, &options, option);
		if (error)
			return error;
	}
	if (options.index == argc)
		return usage_error(command, "a recording is needed");
	if (!count.output)
		return usage_error(command, "option --output is needed");
	if (count.json && output_is_standard(count.output))
		return usage_error(command,
				   "--json and the counts cannot both be on standard output");
	error = count_all(&count, argv + options.index, argc - options.index);
	programs_free(&count.recording_options.programs);
	return error;
}

const struct command command_count = {
	.name = "count",
	.summary = "count what recordings executed, for ntrace merge and export",
	.usage = "[OPTIONS] -o FILE RECORDING...",
	.details =
		"A counts file has every executed transfer and straight run with its number of\n"
		"executions, by build-id of the program, privilege and label. It needs neither "
		"the\n"
		"recording nor its machine any more: 'ntrace merge' adds up files of many\n"
		"recordings, and 'ntrace export' makes profiles of them.\n\n"
		"--shard I/N counts a part: each stream of each recording is in exactly one of N\n"
		"parts. All parts merged are the counts of one run, byte by byte. Each part needs\n"
		"the same recordings in the same order.\n\n"
		"exit status: 0, or 1 if a recording cannot be read, or if nothing was counted\n"
		"(not with --shard: a part may be empty).\n\n"
		"examples:\n"
		"  ntrace count -o app.counts ntrace.data\n"
		"  ntrace count --class search -u -o search.counts host1.data host2.data\n"
		"  parallel ntrace count --shard {}/4 -o part.{} *.data ::: 1 2 3 4\n"
		"  ntrace merge -o all.counts part.*\n"
		"  ntrace export -f profgen -b app -o app.txt all.counts\n",
	.options = options_table,
	.run = run,
};
