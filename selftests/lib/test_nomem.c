// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations. A recording is opened, decoded, profiled and archived repeatedly; each time
 * another allocation of the library fails, alone and together with all later ones. The result must
 * be NTRACE_ERR_NOMEM or, where the library does not need the memory, the same as without a
 * failure. The linker redirects the allocations of the library to this test (--wrap).
 */
#include <ntrace/export.h>
#include <ntrace/profile.h>
#include <ntrace/stacks.h>

#include "include/decode_stream.h"
#include "failing_memory.h"
#include "test_session.h"

/* ---- one run ---- */

struct job {
	const char *name;
	bool archive;
	struct result result;
	struct ntrace_profile *profile;
	struct ntrace_stacks *stacks;
};

static int sum_event(void *data, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct ntrace_location location = { 0 };
	struct job *job = data;
	struct result *result = &job->result;
	int error;

	add_number(result, flow->type | (uint64_t)flow->code << 8 | (uint64_t)flow->taken << 32);
	add_number(result, flow->address);
	add_number(result, flow->next_known ? flow->next : 1);
	add_number(result, flow->instructions | (uint64_t)event->privilege << 32);
	add_number(result, (uint32_t)event->tid | (uint64_t)event->pid << 32);
	add_text(result, event->comm);
	if (flow->type == NTRACE_FLOW_BLOCK &&
	    ntrace_space_locate(flow->space, flow->address, &location) == NTRACE_OK)
		add_text(result, location.symbol);
	error = ntrace_profile_event(job->profile, event);
	return error ? error : ntrace_stacks_event(job->stacks, event);
}

static int export(struct job *job)
{
	const struct ntrace_profile_object *object;
	char *text = NULL;
	size_t size, count, i;
	FILE *file;
	int error = 0;

	/* The test owns the stream and its memory. */
	armed = false;
	file = open_memstream(&text, &size);
	armed = true;
	object = ntrace_profile_objects(job->profile, &count);
	if (!object)
		error = NTRACE_ERR_NOMEM;
	for (i = 0; i < count && !error; i++)
		error = ntrace_export_profile(file, job->profile, NTRACE_EXPORT_AUTOFDO,
					      object[i].object, NULL);
	fclose(file);
	if (!error)
		add(&job->result, text, size);
	free(text);
	return error;
}

static int decode_all(struct job *job, struct ntrace_session *session)
{
	const struct ntrace_profile_options profile = { .size = sizeof(profile) };
	const struct ntrace_stacks_options stacks = { .size = sizeof(stacks) };
	const struct ntrace_stack_function *functions;
	struct ntrace_archive_counts counts;
	size_t count, i;
	int error;

	if (job->archive)
		return ntrace_session_archive(session, &counts);
	error = ntrace_profile_new(&job->profile, &profile);
	if (!error)
		error = ntrace_stacks_new(&job->stacks, &stacks);
	if (!error)
		error = decode_stream(session, 0, sum_event, NULL, job, NULL);
	if (!error)
		error = ntrace_profile_end(job->profile);
	if (!error)
		error = ntrace_stacks_end(job->stacks);
	if (error)
		return error;
	functions = ntrace_stacks_functions(job->stacks, &count);
	if (!count)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < count; i++) {
		add_text(&job->result, functions[i].name);
		add_number(&job->result, functions[i].total);
	}
	return export(job);
}

static struct result run_job(void *data)
{
	struct job job = *(const struct job *)data;
	struct ntrace_session_options options = {
		.size = sizeof(options),
		.sysroot = in("root"),
		.note = sum_note,
		.note_data = &job.result,
	};
	struct ntrace_session *session;
	const char *path = in(job.name);

	if (job.archive)
		run("rm -rf %s/archive", path);
	allocations = 0;
	armed = true;
	job.result.error = ntrace_session_open(&session, path, &options);
	if (!job.result.error) {
		job.result.error = decode_all(&job, session);
		ntrace_profile_free(job.profile);
		ntrace_stacks_free(job.stacks);
		ntrace_session_close(session);
	}
	armed = false;
	return job.result;
}

/* ---- all runs ---- */

static void check(const char *name, bool archive)
{
	check_allocations(name, run_job, &(struct job){ .name = name, .archive = archive }, 50);
}

/* A perf.data file of one sample with an empty branch stack, and no trace. */
static void write_samples(const char *name)
{
	const uint64_t id = 1, words[] = { 0, id, CODE, 100 | UINT64_C(100) << 32, 1000, 0 };
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(words) };
	struct perf_event_attr attr = sideband_attr();
	struct ntrace_perf_writer *writer;
	uint8_t sample[sizeof(words)];

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	memcpy(sample, words, sizeof(words));
	memcpy(sample, &header, sizeof(header));
	ntrace_perf_writer_open(&writer, in(name));
	ntrace_perf_writer_event(writer, &attr, &id, 1, "samples");
	ntrace_perf_writer_records(writer, sample, sizeof(sample));
	ntrace_perf_writer_close(writer);
}

/* Each allocation while a file of samples is opened. */
static void check_samples(void)
{
	struct ntrace_session_options options = { .size = sizeof(options), .sysroot = in("root") };
	uint64_t total = 1, wrong = 0;

	write_samples("samples");
	/* Alone, then with all later ones. */
	for (uint64_t n = 0; n <= 2 * total; n++) {
		struct ntrace_session *session = NULL;
		const char *path = in("samples");
		int error;

		failing = n ? (n - 1) % total + 1 : 0;
		for_good = n > total;
		allocations = 0;
		armed = true;
		error = ntrace_session_open(&session, path, &options);
		armed = false;
		failing = 0;
		wrong += error != (n ? NTRACE_ERR_NOMEM : 0);
		if (!error)
			ntrace_session_close(session);
		if (!n)
			total = allocations;
	}
	ok(!wrong && total > 5, "samples: each of %" PRIu64 " allocations failed", total);
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
	forks(100, 101, now + 10);
	switches(100, 101, CODE);
	named(101, now + 20, true, "gamma");
	maps(101, now + 30, CODE, "/bbb");
	hart_trap(&hart, BEGIN_NEW_EXEC, NOTHING, CODE);
	hart_loop(&hart, 3);
	maps(101, now + 40, OTHER_CODE, "/missing");
	switches(101, 300, KERNEL_LOOP);
	switches(300, 100, CODE);
	stop("memory", 3);
	check("memory", false);
	/* Only user space is traced: the follower tracks each thread. */
	start("threads", CODE, 1u << NTRACE_PRIV_U);
	named(100, 0, false, "a");
	maps(100, 0, CODE, "/aaa");
	named(200, 0, false, "b");
	maps(200, 0, OTHER_CODE, "/ccc");
	switches(100, 200, OTHER_CODE);
	switches(200, 100, CODE);
	stop("threads", 1);
	check("threads", false);
	ok(!run("python3 selftests/lib/aux_file.py %s/memory %s/rvtrace rvtrace piece=100",
		directory, directory) &&
		   !run("python3 selftests/lib/aux_file.py %s/memory %s/spacemit spacemit sync=yes "
			"compress=2",
			directory, directory),
	   "makes perf.data files of it");
	check("rvtrace", false);
	check("spacemit", false);
	check("memory", true);
	check_samples();
}

int main(void)
{
	return test_sessions(tests);
}
