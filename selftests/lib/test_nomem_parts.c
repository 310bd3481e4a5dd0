// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations: results of profiles and call stacks with their lines, exports, and counts files.
 * As in test_nomem.c, each allocation of a job fails, alone and together with all later ones. The result
 * must be NTRACE_ERR_NOMEM or, where the library does not need the memory, the same as without a
 * failure.
 */
#include <ntrace/counts.h>
#include <ntrace/counts_file.h>
#include <ntrace/coverage.h>
#include <ntrace/export.h>
#include <ntrace/export_stacks.h>
#include <ntrace/functions.h>
#include <ntrace/lines.h>
#include <ntrace/occupancy.h>
#include <ntrace/sample.h>

#include "include/decode_stream.h"
#include "failing_memory.h"
#include "test_session.h"

/* What a job makes, to be freed whether it succeeds or fails. */
struct job {
	struct result result;
	struct ntrace_session *session;
	struct ntrace_profile *profile;
	struct ntrace_stacks *stacks;
};

static int open_session(struct job *job)
{
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };

	return ntrace_session_open(&job->session, in("memory"), &options);
}

/* Makes the recording "memory": two processes, timestamps, programs of which one has lines. */
static void record(void)
{
	if (run("cd %s/root && riscv64-linux-gnu-as -g -march=rv64gc aaa.s -o aaa.o && "
		"riscv64-linux-gnu-ld --build-id -Ttext=0x10000 -e aaa aaa.o -o aaa",
		directory))
		ok(false, "a program with lines");
	fake_time_bits = 10;
	start("memory", CODE, UINT32_MAX);
	named(100, 0, false, "shell");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "beta");
	maps(200, 0, CODE, "/bbb");
	for (unsigned int i = 0; i < 2; i++) {
		switches(100, 200, CODE);
		switches(200, 100, CODE);
	}
	stop("memory", 3);
}

static struct ntrace_export_timeline *timeline_made;
static FILE *text_file;
static char *text;
static size_t text_size;

/* The test owns the stream and its memory. */
static FILE *open_text(void)
{
	armed = false;
	text_file = open_memstream(&text, &text_size);
	armed = true;
	return text_file;
}

/* Closes the stream, and adds its text to the result of the job unless @error is set. */
static int close_text(struct job *job, int error)
{
	armed = false;
	fclose(text_file);
	if (!error)
		add(&job->result, text, text_size);
	free(text);
	armed = true;
	return error;
}

/* ---- profile and call stacks ---- */

static int take_event(void *data, const struct ntrace_session_event *event)
{
	struct job *job = data;
	int error = job->profile ? ntrace_profile_event(job->profile, event) : 0;

	return error || !job->stacks ? error : ntrace_stacks_event(job->stacks, event);
}

static int take_segment(void *data, const struct ntrace_segment *segment)
{
	struct job *job = data;
	int error = job->profile ? ntrace_profile_segment(job->profile, segment) : 0;

	return error || !job->stacks ? error : ntrace_stacks_segment(job->stacks, segment);
}

/* Decodes the session into profile and call stacks. @runs: in order, not as sums */
static int decode_into(struct job *job, bool runs)
{
	const struct ntrace_decode_options options = {
		.size = sizeof(options),
		.needs = NTRACE_NEEDS_THREADS | (runs ? NTRACE_NEEDS_RUNS : NTRACE_NEEDS_SUMS),
		.event = take_event,
		.segment = take_segment,
		.data = job,
	};
	int error = ntrace_session_decode(job->session, &options);

	if (!error && job->profile)
		error = ntrace_profile_end(job->profile);
	return error || !job->stacks ? error : ntrace_stacks_end(job->stacks);
}

static int make_profile(struct job *job, uint32_t parts, bool split)
{
	struct ntrace_profile_options options = {
		.size = sizeof(options), .parts = parts, .by_process = split, .by_privilege = split
	};
	int error = open_session(job);

	options.session = job->session;
	return error ? error : ntrace_profile_new(&job->profile, &options);
}

static int add_functions(struct job *job)
{
	const struct ntrace_profile_function *functions;
	size_t count, i;

	for (unsigned int order = 0; order < NTRACE_PROFILE_ORDERS; order++) {
		functions = ntrace_profile_functions(job->profile, order, &count);
		if (!functions)
			return NTRACE_ERR_NOMEM;
		for (i = 0; i < count; i++) {
			add_text(&job->result, functions[i].name);
			add_text(&job->result, functions[i].demangled);
			add_text(&job->result, functions[i].comm);
			add_number(&job->result, functions[i].instructions);
			add_number(&job->result, functions[i].calls);
			add_number(&job->result, functions[i].branches);
		}
	}
	return 0;
}

static int add_occupancy(struct job *job)
{
	const struct ntrace_occupancy *occupancy = ntrace_profile_occupancy(job->profile);

	add_number(&job->result, occupancy->task_count);
	add_number(&job->result, occupancy->sum.instructions);
	add_number(&job->result, occupancy->sum.ticks);
	add_number(&job->result, occupancy->untimed);
	for (size_t i = 0; i < occupancy->cpu_count; i++)
		add(&job->result, occupancy->cpus[i]->cells, sizeof(occupancy->cpus[i]->cells));
	return 0;
}

static int sums(struct job *job)
{
	int error = make_profile(job, NTRACE_PROFILE_FUNCTIONS | NTRACE_PROFILE_OCCUPANCY, true);

	if (!error)
		error = decode_into(job, true);
	if (!error)
		error = add_functions(job);
	return error ? error : add_occupancy(job);
}

static int effects(struct job *job)
{
	int error = make_profile(job, NTRACE_PROFILE_FUNCTIONS, true);

	if (!error)
		error = decode_into(job, false);
	return error ? error : add_functions(job);
}

static int merged(struct job *job)
{
	struct ntrace_profile *part;
	int error = make_profile(job, NTRACE_PROFILE_FUNCTIONS | NTRACE_PROFILE_TRACES, false);

	if (!error)
		error = decode_into(job, true);
	if (error)
		return error;
	part = job->profile;
	job->profile = NULL;
	error = ntrace_profile_new(
		&job->profile, &(struct ntrace_profile_options){
				       .size = sizeof(struct ntrace_profile_options),
				       .parts = NTRACE_PROFILE_FUNCTIONS | NTRACE_PROFILE_TRACES });
	if (!error)
		error = ntrace_profile_merge(job->profile, part);
	ntrace_profile_free(part);
	if (!error)
		error = ntrace_profile_end(job->profile);
	add_number(&job->result, error ? 0 : ntrace_profile_trace_count(job->profile));
	return error ? error : add_functions(job);
}

static int add_edges(struct job *job)
{
	const struct ntrace_profile_edge *edges;
	size_t count, i;
	int error = ntrace_profile_edges(job->profile, &edges, &count);

	for (i = 0; i < count && !error; i++) {
		add_number(&job->result, edges[i].from ^ edges[i].to << 8);
		add_number(&job->result, edges[i].taken);
		add_number(&job->result, edges[i].executed);
	}
	return error;
}

static int add_counts(struct job *job, const struct ntrace_object *object)
{
	struct ntrace_counts *counts;
	int error = ntrace_counts_new(&counts, job->profile, object);

	if (error)
		return error;
	for (uint64_t i = CODE; i < CODE + 16; i += 2)
		add_number(&job->result, ntrace_counts_executed(counts, i));
	ntrace_counts_free(counts);
	return 0;
}

static int add_gcov(struct job *job, struct ntrace_object *object)
{
	struct ntrace_export_gcov_options options = { .size = sizeof(options),
						      .object = object,
						      .version = NTRACE_EXPORT_GCOV_LAST };
	struct ntrace_lines *lines;
	int error = ntrace_lines_open(&lines, object, NULL);

	if (error)
		return error == NTRACE_ERR_UNSUPPORTED ? 0 : error;
	options.lines = lines;
	error = ntrace_export_gcov(open_text(), job->profile, &options, NULL);
	ntrace_lines_close(lines);
	return close_text(job, error);
}

static int add_coverage(struct job *job)
{
	struct ntrace_coverage *coverage;
	int error = ntrace_coverage_make(&coverage, job->profile, NULL);

	if (error)
		return error;
	error = close_text(job, ntrace_export_lcov(open_text(), coverage));
	ntrace_coverage_free(coverage);
	return error;
}

static int add_exports(struct job *job)
{
	const struct ntrace_profile_object *objects;
	size_t count, i;
	int error = 0;

	objects = ntrace_profile_objects(job->profile, &count);
	if (!objects)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < count && !error; i++) {
		for (unsigned int k = 0; k < NTRACE_EXPORT_FORMATS && !error; k++)
			error = close_text(job, ntrace_export_profile(open_text(), job->profile, k,
								      objects[i].object, NULL));
		if (!error)
			error = add_counts(job, objects[i].object);
		if (!error)
			error = add_gcov(job, objects[i].object);
	}
	return error;
}

static int traces(struct job *job)
{
	int error = make_profile(job, NTRACE_PROFILE_TRACES, true);

	if (!error)
		error = decode_into(job, true);
	if (!error)
		error = add_edges(job);
	if (!error)
		error = add_exports(job);
	if (!error)
		error = add_coverage(job);
	if (!error)
		error = close_text(job, ntrace_export_pprof(open_text(), job->profile, NULL,
							    "title", NULL));
	return error;
}

static int make_stacks(struct job *job, unsigned int timeline)
{
	struct ntrace_stacks_options options = { .size = sizeof(options), .inlined = true };
	int error = open_session(job);

	if (!error && timeline < NTRACE_EXPORT_TIMELINE_FORMATS) {
		error = ntrace_export_timeline_open(&timeline_made, open_text(), timeline,
						    job->session);
		if (error)
			close_text(job, error);
		options.change = ntrace_export_timeline_change;
		options.data = timeline_made;
	}
	return error ? error : ntrace_stacks_new(&job->stacks, &options);
}

static int add_stacks(struct job *job)
{
	const struct ntrace_stack_function *functions;
	const struct ntrace_stack_node *nodes;
	const struct ntrace_stack_edge *edges;
	size_t count;

	functions = ntrace_stacks_functions(job->stacks, &count);
	if (!functions)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		add_text(&job->result, functions[i].name);
		add_number(&job->result, functions[i].total);
	}
	nodes = ntrace_stacks_nodes(job->stacks, &count);
	add_number(&job->result, count);
	for (size_t i = 0; i < count; i++)
		add_number(&job->result, nodes[i].instructions);
	edges = ntrace_stacks_edges(job->stacks, &count);
	add_number(&job->result, count);
	for (size_t i = 0; i < count; i++)
		add_number(&job->result, edges[i].calls);
	return 0;
}

static int stacks(struct job *job)
{
	int error = make_stacks(job, NTRACE_EXPORT_TIMELINE_FORMATS);

	if (!error)
		error = ntrace_profile_new(&job->profile,
					   &(struct ntrace_profile_options){
						   .size = sizeof(struct ntrace_profile_options),
						   .parts = NTRACE_PROFILE_FUNCTIONS });
	if (!error)
		error = decode_into(job, true);
	if (!error)
		error = add_stacks(job);
	if (!error)
		error = ntrace_stacks_add_totals(job->stacks, job->profile);
	if (!error)
		error = add_functions(job);
	for (unsigned int i = 0; i < NTRACE_EXPORT_STACKS_FORMATS && !error; i++)
		error = close_text(job, ntrace_export_stacks(open_text(), job->stacks, i, NULL));
	return error;
}

static int timeline(struct job *job, unsigned int format)
{
	int error, closed;

	timeline_made = NULL;
	error = make_stacks(job, format);
	if (!error)
		error = decode_into(job, true);
	if (!timeline_made)
		return error;
	closed = ntrace_export_timeline_close(timeline_made, NULL);
	return close_text(job, error ? error : closed);
}

static int chrome(struct job *job)
{
	return timeline(job, NTRACE_EXPORT_CHROME);
}

static int perfetto(struct job *job)
{
	return timeline(job, NTRACE_EXPORT_PERFETTO);
}

/* ---- samples ---- */

static int sampled(struct job *job)
{
	struct ntrace_export_samples_options file = { .size = sizeof(file), .period = 7 };
	struct ntrace_sampler_options options = { .size = sizeof(options),
						  .period = 7,
						  .sample = ntrace_export_sample };
	struct ntrace_export_samples *samples;
	struct ntrace_export_counts counts;
	struct ntrace_sampler *sampler;
	int error = open_session(job), closed;

	if (error)
		return error;
	file.session = job->session;
	error = ntrace_export_perf_data_open(&samples, in("samples"), &file);
	if (error)
		return error;
	options.data = samples;
	error = ntrace_sampler_new(&sampler, &options);
	if (!error) {
		error = decode_stream(job->session, 0, ntrace_sampler_event, NULL, sampler, NULL);
		ntrace_sampler_free(sampler);
	}
	closed = ntrace_export_samples_close(samples, &counts);
	add_number(&job->result, counts.executed);
	return error ? error : closed;
}

/* ---- counts files ---- */

static int merge_counts(struct job *job, struct ntrace_counts_merger *merger, FILE *file)
{
	struct ntrace_counts_totals totals;
	int error = 0;

	for (unsigned int i = 0; i < 3 && !error; i++)
		error = ntrace_counts_merger_add_profile(merger, job->profile, i ? "a" : "b",
							 "kernel");
	if (!error)
		error = ntrace_counts_merger_write(merger, file, &totals);
	if (!error)
		add_number(&job->result, totals.entries);
	return error;
}

static int load_counts(struct job *job, FILE *file)
{
	const struct ntrace_counts_load_options options = { .size = sizeof(options),
							    .sysroot = in("root") };
	struct ntrace_counts_reader *reader;
	int error;

	ntrace_profile_free(job->profile);
	job->profile = NULL;
	rewind(file);
	error = ntrace_profile_new(&job->profile, NULL);
	if (!error)
		error = ntrace_counts_reader_new(&reader, file);
	if (error)
		return error;
	error = ntrace_counts_load(job->profile, reader, &options, NULL);
	ntrace_counts_reader_free(reader);
	if (!error)
		error = close_text(job, ntrace_export_profile(open_text(), job->profile,
							      NTRACE_EXPORT_CSV, NULL, NULL));
	return error;
}

static int counts(struct job *job)
{
	const struct ntrace_counts_merger_options options = { .size = sizeof(options),
							      .directory = directory,
							      .fan_in = 2 };
	struct ntrace_counts_merger *merger;
	FILE *file;
	int error = make_profile(job, NTRACE_PROFILE_TRACES, true);

	if (!error)
		error = decode_into(job, true);
	if (!error)
		error = ntrace_counts_merger_new(&merger, &options);
	if (error)
		return error;
	armed = false;
	file = tmpfile();
	armed = true;
	error = merge_counts(job, merger, file);
	ntrace_counts_merger_free(merger);
	if (!error)
		error = load_counts(job, file);
	fclose(file);
	return error;
}

/* ---- all runs ---- */

typedef int make_job(struct job *job);

static struct result run_job(void *data)
{
	make_job **make = data;
	struct job job = { 0 };

	allocations = 0;
	armed = true;
	job.result.error = (*make)(&job);
	ntrace_profile_free(job.profile);
	ntrace_stacks_free(job.stacks);
	ntrace_session_close(job.session);
	armed = false;
	return job.result;
}

static void check(const char *name, make_job *make)
{
	check_allocations(name, run_job, &make, 20);
}

static void tests(void)
{
	record();
	check("functions and occupancy", sums);
	check("effects", effects);
	check("a merged profile", merged);
	check("traces and exports", traces);
	check("call stacks", stacks);
	check("timeline for Chrome", chrome);
	check("timeline for Perfetto", perfetto);
	check("samples", sampled);
	check("counts files", counts);
}

int main(void)
{
	return test_sessions(tests);
}
