// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs and libraries of different versions (lib/struct_size.h): each public struct that starts
 * with its size is passed by a caller whose header had fewer fields, the same, and more.
 */
#include <stddef.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include <ntrace/check.h>
#include <ntrace/context.h>
#include <ntrace/ctr.h>
#include <ntrace/detect.h>
#include <ntrace/encode.h>
#include <ntrace/export.h>
#include <ntrace/export_stacks.h>
#include <ntrace/flow.h>
#include <ntrace/image.h>
#include <ntrace/lines.h>
#include <ntrace/params.h>
#include <ntrace/perf.h>
#include <ntrace/profile.h>
#include <ntrace/recording.h>
#include <ntrace/sample.h>
#include <ntrace/session.h>
#include <ntrace/stacks.h>
#include <ntrace/wire.h>

#include "scratch.h"
#include "tap.h"

static int take_finding(void *data, const struct ntrace_check_finding *finding)
{
	(void)data;
	(void)finding;
	return 0;
}

static void take_bytes(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

static int take_sample(void *data, const struct ntrace_sample *sample)
{
	(void)data;
	(void)sample;
	return 0;
}

/* ---- a valid example of each struct, and its user ---- */

static void fill_params(void *it)
{
	ntrace_params_init(it);
}

static int init_reader(void *it)
{
	struct ntrace_reader reader;

	return ntrace_reader_init(&reader, it, true);
}

static int parse_params(void *it)
{
	return ntrace_params_parse(it, "srcbits=2", NULL);
}

static int format_params(void *it)
{
	char text[512];

	return ntrace_params_format(it, text, sizeof(text)) < 0 ? NTRACE_ERR_INVALID : 0;
}

static void fill_check(void *it)
{
	ntrace_check_config_init(it);
	((struct ntrace_check_config *)it)->finding = take_finding;
}

static int new_check(void *it)
{
	struct ntrace_check *check;
	int error = ntrace_check_new(&check, it);

	if (!error)
		ntrace_check_free(check);
	return error;
}

static int add_context(void *it)
{
	struct ntrace_contexts *contexts;
	struct ntrace_space *space;
	int error;

	ntrace_space_new(&space, "test", NULL);
	ntrace_contexts_new(&contexts);
	error = ntrace_contexts_add(contexts, space, it);
	ntrace_contexts_free(contexts);
	ntrace_space_put(space);
	return error;
}

static void fill_ctr(void *it)
{
	ntrace_ctr_config_init(it, NTRACE_CTR_RATIFIED);
}

static int init_ctr(void *it)
{
	static struct ntrace_ctr_model model;
	int error = ntrace_ctr_model_init(&model, it);

	return !error == !ntrace_ctr_config_refusal(it) ? error : NTRACE_ERR_FORMAT;
}

static void fill_detect(void *it)
{
	ntrace_detect_config_init(it);
}

static int detect(void *it)
{
	struct ntrace_detect_result result;

	return ntrace_detect(it, &result);
}

static void fill_encoder(void *it)
{
	ntrace_encoder_config_init(it);
	((struct ntrace_encoder_config *)it)->write = take_bytes;
}

static int init_encoder(void *it)
{
	static struct ntrace_encoder encoder;
	int error = ntrace_encoder_init(&encoder, it);

	return !error == !ntrace_encoder_refusal(it) ? error : NTRACE_ERR_FORMAT;
}

static void fill_flow(void *it)
{
	((struct ntrace_flow_config *)it)->event = take_event;
}

static int new_flow(void *it)
{
	struct ntrace_flow *flow;
	int error = ntrace_flow_new(&flow, it);

	if (!error)
		ntrace_flow_free(flow);
	return error;
}

static int new_demux(void *it)
{
	struct ntrace_demux *demux;
	int error = ntrace_demux_new(&demux, it, 1);

	if (!error)
		ntrace_demux_free(demux);
	return error;
}

static int add_to_demux(void *it)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .event = take_event };
	struct ntrace_demux *demux;
	int error = ntrace_demux_new(&demux, &config, 1);

	if (error)
		return NTRACE_ERR_FORMAT;
	error = ntrace_demux_add(demux, 0, it);
	ntrace_demux_free(demux);
	return error;
}

static int export_stacks(void *it)
{
	struct ntrace_stacks *stacks;
	FILE *file = fopen("/dev/null", "w");
	int error = ntrace_stacks_new(&stacks, NULL);

	if (!error) {
		error = ntrace_export_stacks(file, stacks, NTRACE_EXPORT_FOLDED, it);
		ntrace_stacks_free(stacks);
	}
	fclose(file);
	return error;
}

static int new_profile(void *it)
{
	struct ntrace_profile *profile;
	int error = ntrace_profile_new(&profile, it);

	if (!error)
		ntrace_profile_free(profile);
	return error;
}

static int new_stacks(void *it)
{
	struct ntrace_stacks *stacks;
	int error = ntrace_stacks_new(&stacks, it);

	if (!error)
		ntrace_stacks_free(stacks);
	return error;
}

static void fill_sampler(void *it)
{
	struct ntrace_sampler_options *options = it;

	options->period = 10;
	options->sample = take_sample;
}

static int new_sampler(void *it)
{
	struct ntrace_sampler *sampler;
	int error = ntrace_sampler_new(&sampler, it);

	if (!error)
		ntrace_sampler_free(sampler);
	return error;
}

/* There is no file to open: the options are checked first. */
static int open_session(void *it)
{
	struct ntrace_session *session;
	int error = ntrace_session_open(&session, in("none"), it);

	return error == NTRACE_ERR_IO ? 0 : error;
}

static int write_features(void *it)
{
	struct ntrace_perf_writer *writer;
	int error = ntrace_perf_writer_open(&writer, in("perf.data"));

	if (error)
		return error;
	error = ntrace_perf_writer_features(writer, it);
	ntrace_perf_writer_close(writer);
	return error;
}

static int write_recording(void *it)
{
	return ntrace_recording_write(directory, it);
}

static void fill_copy(void *it)
{
	struct ntrace_kernel_copy *copy = it;

	copy->kcore = copy->kallsyms = in("none");
}

static int copy_kernel(void *it)
{
	int error = ntrace_recording_copy_kernel(directory, NTRACE_RECORDING_START, it);

	return error == NTRACE_ERR_IO ? 0 : error;
}

static struct ntrace_object *object;
static struct ntrace_lines *lines;
static struct ntrace_session *session;

static void fill_gcov(void *it)
{
	struct ntrace_export_gcov_options *options = it;

	options->object = object;
	options->lines = lines;
	options->version = NTRACE_EXPORT_GCOV_LAST;
}

static int export_gcov(void *it)
{
	struct ntrace_profile *profile;
	FILE *file = fopen("/dev/null", "w");
	int error = ntrace_profile_new(&profile, NULL);

	if (!error) {
		ntrace_profile_end(profile);
		error = ntrace_export_gcov(file, profile, it, NULL);
		ntrace_profile_free(profile);
	}
	fclose(file);
	return error;
}

static void fill_samples(void *it)
{
	struct ntrace_export_samples_options *options = it;

	options->session = session;
	options->object = object;
	options->period = 100;
}

static int export_perf_data(void *it)
{
	struct ntrace_export_samples *samples;
	int error = ntrace_export_perf_data_open(&samples, in("samples.data"), it);

	return error ? error : ntrace_export_samples_close(samples, NULL);
}

static int export_perfscript(void *it)
{
	struct ntrace_export_samples *samples;
	FILE *file = fopen(in("samples.txt"), "w");
	int error = ntrace_export_perfscript_open(&samples, file, it);

	if (!error)
		error = ntrace_export_samples_close(samples, NULL);
	if (file)
		fclose(file);
	return error;
}

/* A program with lines, and a recording that a session can open. */
static bool make_files(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct ntrace_stream stream = { .file = "aux.0" };
	struct ntrace_recording recording = { .size = sizeof(recording),
					      .stream_count = 1,
					      .streams = &stream };
	struct ntrace_perf_writer *writer;
	uint64_t id = 1;

	return !run("cd %s && echo 'int _start(void) { return 0; }' >program.c && "
		    "riscv64-linux-gnu-gcc -g -nostdlib -static program.c -o program",
		    directory) &&
	       !ntrace_object_open_elf(&object, in("program")) &&
	       !ntrace_lines_open(&lines, object, NULL) && !ntrace_recording_create(in("r")) &&
	       !ntrace_perf_writer_open(&writer, in("r/data")) &&
	       !ntrace_perf_writer_event(writer, &attr, &id, 1, "dummy:u") &&
	       !ntrace_perf_writer_close(writer) && !ntrace_recording_write(in("r"), &recording) &&
	       !run("touch %s", in("r/aux.0")) && !ntrace_session_open(&session, in("r"), NULL);
}

/* ---- parameters that a configuration refers to ---- */

static int params_of_flow(void *it)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = it };

	config.event = take_event;
	return new_flow(&config);
}

static int params_of_demux(void *it)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = it };

	config.event = take_event;
	return new_demux(&config);
}

static int params_of_check(void *it)
{
	struct ntrace_check_config config;

	fill_check(&config);
	config.params = it;
	return new_check(&config);
}

static int params_of_detect(void *it)
{
	struct ntrace_detect_config config;

	fill_detect(&config);
	config.params = it;
	return detect(&config);
}

static int params_of_encoder(void *it)
{
	struct ntrace_encoder_config config;

	fill_encoder(&config);
	config.params = it;
	return init_encoder(&config);
}

static void fill_encoded(void *it)
{
	struct ntrace_params *params = it;

	ntrace_params_init(params);
	params->mode = NTRACE_MODE_BRANCH;
}

static int params_of_recording(void *it)
{
	struct ntrace_stream stream = { .file = "aux.0", .params = it };
	struct ntrace_recording recording = { .size = sizeof(recording),
					      .stream_count = 1,
					      .streams = &stream };

	return ntrace_recording_write(directory, &recording);
}

#define CASE(type, member, fill, take) \
	{ #type " by " #take, sizeof(struct type), offsetof(struct type, member), fill, take }

/*
 * @known: size in an older header, up to a member that may be missing
 * @fill: sets valid values except the size; NULL: zeros are valid
 */
static const struct {
	const char *name;
	size_t size;
	size_t known;
	void (*fill)(void *it);
	int (*take)(void *it);
} cases[] = {
	CASE(ntrace_params, src_bits, fill_params, init_reader),
	CASE(ntrace_params, xlen, fill_params, parse_params),
	CASE(ntrace_params, xlen, fill_params, format_params),
	CASE(ntrace_check_config, progress, fill_check, new_check),
	CASE(ntrace_context_match, prv, NULL, add_context),
	CASE(ntrace_ctr_config, implemented, fill_ctr, init_ctr),
	CASE(ntrace_detect_config, params, fill_detect, detect),
	CASE(ntrace_encoder_config, itype_bits, fill_encoder, init_encoder),
	CASE(ntrace_flow_config, select, fill_flow, new_flow),
	CASE(ntrace_export_stacks_options, title, NULL, export_stacks),
	CASE(ntrace_profile_options, privileges, NULL, new_profile),
	CASE(ntrace_stacks_options, depth, NULL, new_stacks),
	CASE(ntrace_sampler_options, branch, fill_sampler, new_sampler),
	CASE(ntrace_session_options, sysroot, NULL, open_session),
	CASE(ntrace_perf_features, hostname, NULL, write_features),
	CASE(ntrace_recording, tool, NULL, write_recording),
	CASE(ntrace_kernel_copy, ranges, fill_copy, copy_kernel),
	CASE(ntrace_export_gcov_options, reserved, fill_gcov, export_gcov),
	CASE(ntrace_export_samples_options, period, fill_samples, export_perf_data),
	CASE(ntrace_export_samples_options, period, fill_samples, export_perfscript),
	CASE(ntrace_flow_config, select, fill_flow, new_demux),
	CASE(ntrace_flow_config, select, fill_flow, add_to_demux),
	CASE(ntrace_params, extend_address, fill_params, params_of_flow),
	CASE(ntrace_params, extend_address, fill_params, params_of_demux),
	CASE(ntrace_params, extend_address, fill_params, params_of_check),
	CASE(ntrace_params, extend_address, fill_params, params_of_detect),
	CASE(ntrace_params, dialect, fill_encoded, params_of_encoder),
	CASE(ntrace_params, extend_address, fill_params, params_of_recording),
};

#define MORE 40
#define UNKNOWN 0xa5

static void *make(size_t i, size_t size)
{
	uint8_t *it = calloc(1, cases[i].size + MORE);

	if (cases[i].fill)
		cases[i].fill(it);
	memcpy(it, &size, sizeof(size));
	return it;
}

static void test_older(size_t i)
{
	uint8_t *it = make(i, cases[i].known);
	size_t at;

	/* Memory after the caller's struct belongs to others: neither read nor written. */
	memset(it + cases[i].known, UNKNOWN, cases[i].size + MORE - cases[i].known);
	is_u64(cases[i].take(it), 0, "%s: %zu bytes of it are known", cases[i].name,
	       cases[i].known);
	for (at = cases[i].known; at < cases[i].size + MORE && it[at] == UNKNOWN;)
		at++;
	is_u64(at, cases[i].size + MORE, "%s: the rest is unchanged", cases[i].name);
	free(it);
}

int main(void)
{
	size_t i;
	uint8_t *it;

	if (!ok(scratch_make(), "a directory") || !ok(make_files(), "a program and a recording"))
		return done_testing();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test_older(i);
		it = make(i, cases[i].size);
		is_u64(cases[i].take(it), 0, "%s: the same header", cases[i].name);
		free(it);
		it = make(i, cases[i].size + MORE);
		is_u64(cases[i].take(it), 0, "%s: a newer header, unknown fields 0", cases[i].name);
		it[cases[i].size + MORE - 1] = 1;
		is_u64(cases[i].take(it), NTRACE_ERR_INVALID,
		       "%s: a newer header, an unknown field set", cases[i].name);
		free(it);
		it = make(i, 0);
		is_u64(cases[i].take(it), NTRACE_ERR_INVALID, "%s: no size", cases[i].name);
		free(it);
	}
	ntrace_session_close(session);
	ntrace_lines_close(lines);
	ntrace_object_put(object);
	scratch_remove();
	return done_testing();
}
