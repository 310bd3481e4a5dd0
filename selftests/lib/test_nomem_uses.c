// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations in what uses a recording: cursors, indexes, profiles of all parts, counts
 * files, exports, checker and detection. See test_nomem.c.
 */
#include <ntrace/check.h>
#include <ntrace/counts_file.h>
#include <ntrace/coverage.h>
#include <ntrace/cursor.h>
#include <ntrace/detect.h>
#include <ntrace/export.h>
#include <ntrace/functions.h>
#include <ntrace/index.h>
#include <ntrace/occupancy.h>
#include <ntrace/stacks.h>

#include "include/decode_stream.h"
#include "failing_memory.h"
#include "test_session.h"

static struct ntrace_session *session;
static struct result result;

/* A stream whose memory is the test's. */
static FILE *stream_of(char **text, size_t *size)
{
	FILE *file;

	armed = false;
	file = open_memstream(text, size);
	armed = true;
	return file;
}

static int end_stream(FILE *file, char **text, const size_t *size, int error)
{
	armed = false;
	fclose(file);
	if (!error)
		add(&result, *text, *size);
	free(*text);
	armed = true;
	return error;
}

/* ---- profiles ---- */

static struct ntrace_profile *profile;

static int profile_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	return ntrace_profile_event(profile, event);
}

static int profile_segment(void *data, const struct ntrace_segment *segment)
{
	(void)data;
	return ntrace_profile_segment(profile, segment);
}

static int make_profile(unsigned int parts, bool counted)
{
	const struct ntrace_profile_options options = {
		.size = sizeof(options), .parts = parts, .by_process = true, .session = session
	};
	const struct ntrace_decode_options decoding = { .size = sizeof(decoding),
							.stream = NTRACE_ALL_STREAMS,
							.needs = counted ? NTRACE_NEEDS_SUMS : 0,
							.event = profile_event,
							.segment = profile_segment };
	int error = ntrace_profile_new(&profile, &options);

	if (!error)
		error = ntrace_session_decode(session, &decoding);
	return error ? error : ntrace_profile_end(profile);
}

static int use_functions(void)
{
	const struct ntrace_profile_function *functions;
	const struct ntrace_profile_edge *edges;
	const struct ntrace_occupancy *occupancy;
	size_t count, i;
	int error = make_profile(
		NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS | NTRACE_PROFILE_OCCUPANCY, false);

	if (error)
		return error;
	functions = ntrace_profile_functions(profile, 0, &count);
	if (!functions)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < count; i++) {
		add_text(&result, functions[i].name);
		add_number(&result, functions[i].instructions);
		add_number(&result, functions[i].calls);
	}
	error = ntrace_profile_edges(profile, &edges, &count);
	for (i = 0; i < count && !error; i++) {
		add_number(&result, edges[i].from);
		add_number(&result, edges[i].taken);
	}
	occupancy = ntrace_profile_occupancy(profile);
	add_number(&result, occupancy->cpu_count);
	for (i = 0; i < occupancy->task_count; i++)
		add_text(&result, occupancy->tasks[i].comm);
	add_number(&result, occupancy->sum.instructions);
	return error;
}

static int use_counts(void)
{
	const struct ntrace_profile_totals *totals;
	int error = make_profile(NTRACE_PROFILE_TRACES | NTRACE_PROFILE_FUNCTIONS, true);

	if (error)
		return error;
	totals = ntrace_profile_totals(profile);
	for (unsigned int i = 0; i < NTRACE_DOMAINS; i++)
		add_number(&result, totals->instructions[i]);
	return 0;
}

static int use_exports(void)
{
	const struct ntrace_coverage_options options = { .size = sizeof(options) };
	const struct ntrace_profile_object *objects;
	struct ntrace_coverage *coverage;
	char *text = NULL;
	size_t size, count;
	FILE *file;
	int error = make_profile(NTRACE_PROFILE_TRACES, false);

	if (error)
		return error;
	objects = ntrace_profile_objects(profile, &count);
	if (!objects)
		return NTRACE_ERR_NOMEM;
	file = stream_of(&text, &size);
	for (unsigned int format = 0; format < 8 && !error; format++) {
		error = ntrace_export_profile(file, profile, format, objects[0].object, NULL);
		error = error == NTRACE_ERR_INVALID ? 0 : error;
	}
	if (!error)
		error = ntrace_export_pprof(file, profile, NULL, "title", NULL);
	error = end_stream(file, &text, &size, error);
	if (error)
		return error;
	error = ntrace_coverage_make(&coverage, profile, &options);
	if (!error)
		ntrace_coverage_free(coverage);
	return error;
}

/* ---- counts files ---- */

static int use_merger(void)
{
	struct ntrace_counts_merger *merger = NULL;
	struct ntrace_counts_totals totals = { 0 };
	char *text = NULL;
	size_t size;
	FILE *file;
	int error = make_profile(NTRACE_PROFILE_TRACES, false);

	if (!error)
		error = ntrace_counts_merger_new(&merger, NULL);
	if (!error)
		error = ntrace_counts_merger_add_profile(merger, profile, "label", "kernel");
	if (!error)
		error = ntrace_counts_merger_add_file(merger, in("counts"));
	if (!error)
		error = ntrace_counts_merger_add_file(merger, in("counts"));
	if (!error) {
		file = stream_of(&text, &size);
		error = end_stream(file, &text, &size,
				   ntrace_counts_merger_write(merger, file, &totals));
	}
	ntrace_counts_merger_free(merger);
	add_number(&result, totals.entries);
	return error;
}

static int use_load(void)
{
	struct ntrace_counts_load_options options = { .size = sizeof(options),
						      .sysroot = in("root") };
	struct ntrace_counts_reader *reader;
	struct ntrace_counts_totals totals;
	const struct ntrace_profile_trace *traces;
	size_t count;
	FILE *file = fopen(in("counts"), "r");
	int error = ntrace_counts_reader_new(&reader, file);

	if (!error) {
		error = ntrace_profile_new(&profile, NULL);
		if (!error)
			error = ntrace_counts_load(profile, reader, &options, &totals);
		ntrace_counts_reader_free(reader);
	}
	fclose(file);
	if (error)
		return error;
	traces = ntrace_profile_traces(profile, &count);
	for (size_t i = 0; i < count; i++) {
		add_number(&result, traces[i].start);
		add_number(&result, traces[i].count);
	}
	return 0;
}

/* ---- cursors and indexes ---- */

static int add_place(const struct ntrace_cursor *cursor, int error)
{
	const struct ntrace_cursor_place *place = ntrace_cursor_place(cursor);

	if (error && error != NTRACE_ERR_EOS)
		return error;
	add_number(&result, (uint64_t)error);
	if (place) {
		add_number(&result, place->address);
		add_number(&result, place->offset);
		add_text(&result, place->comm);
	}
	return 0;
}

static int use_cursor_of(int32_t tid)
{
	struct ntrace_cursor_config config;
	struct ntrace_cursor_extent extent = { .size = sizeof(extent) };
	struct ntrace_cursor_mark mark;
	struct ntrace_cursor *cursor;
	int error;

	ntrace_cursor_config_init(&config);
	config.session = session;
	config.tid = tid;
	config.window = 16;
	error = ntrace_cursor_new(&cursor, &config);
	if (error)
		return error;
	for (unsigned int i = 0; i < 40 && !error; i++)
		error = add_place(cursor, ntrace_cursor_next(cursor));
	ntrace_cursor_save(cursor, &mark);
	if (!error)
		error = add_place(cursor, ntrace_cursor_last(cursor));
	for (unsigned int i = 0; i < 40 && !error; i++)
		error = add_place(cursor, ntrace_cursor_prev(cursor));
	if (!error)
		error = add_place(cursor, ntrace_cursor_restore(cursor, &mark));
	if (!error)
		error = add_place(cursor, ntrace_cursor_first(cursor));
	if (!error)
		error = add_place(cursor, ntrace_cursor_seek_address(cursor, CODE + 4, false));
	if (!error)
		error = add_place(cursor, ntrace_cursor_seek_function(cursor, "aaa", false));
	if (!error)
		error = add_place(cursor, ntrace_cursor_seek_type(cursor, NTRACE_FLOW_SYNC, true));
	ntrace_cursor_extent(cursor, &extent);
	if (!error)
		add_number(&result, extent.items);
	ntrace_cursor_free(cursor);
	return error;
}

static int use_cursor(void)
{
	return use_cursor_of(NTRACE_CURSOR_ANY);
}

static int use_threads(void)
{
	const struct ntrace_cursor_thread *threads;
	size_t count;
	int error = ntrace_cursor_threads(session, &threads, &count);

	for (size_t i = 0; i < count && !error; i++) {
		add_text(&result, threads[i].comm);
		add_number(&result, threads[i].instructions);
	}
	return error ? error : use_cursor_of(100);
}

static int range_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	add_number(&result, event->flow->type | (uint64_t)event->flow->instructions << 8);
	return 0;
}

static int use_index(void)
{
	const struct ntrace_session_range range = { .size = sizeof(range),
						    .first_offset = 100,
						    .last_offset = 200 };
	struct ntrace_index_counts counts;
	int error;

	armed = false;
	run("rm -f %s/memory/index", directory);
	armed = true;
	error = ntrace_session_index(session, 64, &counts);
	if (error)
		return error;
	add_number(&result, counts.points);
	return decode_part(session, 0, &range, range_event, NULL, NULL, NULL);
}

/* ---- stacks ---- */

static struct ntrace_stacks *stacks;

static int stacks_event(void *data, const struct ntrace_session_event *event)
{
	(void)data;
	return ntrace_stacks_event(stacks, event);
}

static int stacks_segment(void *data, const struct ntrace_segment *segment)
{
	(void)data;
	return ntrace_stacks_segment(stacks, segment);
}

static int use_stacks(void)
{
	const struct ntrace_stacks_options options = { .size = sizeof(options), .inlined = true };
	const struct ntrace_decode_options decoding = { .size = sizeof(decoding),
							.stream = NTRACE_ALL_STREAMS,
							.needs = NTRACE_NEEDS_RUNS |
								 NTRACE_NEEDS_TURNS,
							.event = stacks_event,
							.segment = stacks_segment };
	const struct ntrace_stack_function *functions;
	size_t count;
	int error = ntrace_stacks_new(&stacks, &options);

	if (!error)
		error = ntrace_session_decode(session, &decoding);
	if (!error)
		error = ntrace_stacks_end(stacks);
	if (!error) {
		functions = ntrace_stacks_functions(stacks, &count);
		if (!functions)
			error = NTRACE_ERR_NOMEM;
		for (size_t i = 0; i < count && !error; i++) {
			add_text(&result, functions[i].name);
			add_number(&result, functions[i].total);
		}
	}
	ntrace_stacks_free(stacks);
	stacks = NULL;
	return error;
}

/* ---- the raw stream ---- */

static int finding(void *data, const struct ntrace_check_finding *found)
{
	(void)data;
	add_text(&result, found->rule->id);
	return 0;
}

static uint8_t trace[1 << 16];
static size_t trace_size;

static void read_trace(void)
{
	FILE *file = fopen(in("memory/aux.0"), "r");

	trace_size = file ? fread(trace, 1, sizeof(trace), file) : 0;
	if (file)
		fclose(file);
}

static int use_check(void)
{
	struct ntrace_check_config config;
	struct ntrace_check *check;
	int error;

	ntrace_check_config_init(&config);
	config.params = ntrace_session_stream(session, 0)->params;
	config.finding = finding;
	error = ntrace_check_new(&check, &config);
	if (error)
		return error;
	error = ntrace_check_feed(check, trace, trace_size);
	if (!error)
		error = ntrace_check_end(check);
	ntrace_check_free(check);
	return error;
}

static int use_detect(void)
{
	static struct ntrace_detect_result found;
	struct ntrace_detect_config config;
	int error;

	ntrace_detect_config_init(&config);
	config.data = trace;
	config.bytes = trace_size;
	error = ntrace_detect(&config, &found);
	for (unsigned int i = 0; i < found.count && !error; i++)
		add_number(&result, found.candidate[i].cost);
	return error;
}

/* ---- all of them ---- */

static struct result run_use(void *data)
{
	int (**use)(void) = data;
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };

	result = (struct result){ 0 };
	session = NULL;
	profile = NULL;
	if (ntrace_session_open(&session, in("memory"), &options))
		ok(false, "the recording opens");
	allocations = 0;
	armed = true;
	result.error = (*use)();
	ntrace_profile_free(profile);
	ntrace_session_close(session);
	armed = false;
	return result;
}

static void check(const char *name, int (*use)(void))
{
	check_allocations(name, run_use, &use, 2);
}

/* A counts file of the recording. */
static bool write_counts(void)
{
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };
	struct ntrace_counts_merger *merger;
	FILE *file = fopen(in("counts"), "w");
	bool good;

	good = !ntrace_session_open(&session, in("memory"), &options) &&
	       !make_profile(NTRACE_PROFILE_TRACES, false) &&
	       !ntrace_counts_merger_new(&merger, NULL) &&
	       !ntrace_counts_merger_add_profile(merger, profile, "label", "kernel") &&
	       !ntrace_counts_merger_write(merger, file, NULL);
	fclose(file);
	ntrace_counts_merger_free(merger);
	ntrace_profile_free(profile);
	ntrace_session_close(session);
	return good;
}

static void tests(void)
{
	start("memory", CODE, UINT32_MAX);
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	named(300, 0, false, "kworker");
	switches(100, 200, CODE);
	switches(200, 100, CODE);
	hart_loop(&hart, 20);
	switches(100, 300, KERNEL_LOOP);
	switches(300, 100, CODE);
	stop("memory", 2);
	read_trace();
	ok(write_counts(), "counts of the recording");
	ok(trace_size, "its trace");
	check("functions", use_functions);
	check("counts", use_counts);
	check("exports", use_exports);
	check("merger", use_merger);
	check("load", use_load);
	check("cursor", use_cursor);
	check("threads", use_threads);
	check("index", use_index);
	check("stacks", use_stacks);
	check("check", use_check);
	check("detect", use_detect);
}

int main(void)
{
	return test_sessions(tests);
}
