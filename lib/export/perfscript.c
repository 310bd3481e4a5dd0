// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The text that perf script prints, which llvm-profgen reads with --perfscript: one mapping of one
 * program at its link addresses, then a line for each sample, newest transfer first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/text.h"
#include "samples.h"
#include "session/session.h"
#include "struct_size.h"

#define PAGE UINT64_C(4096)

/*
 * llvm-profgen takes 1 for an address outside the program, as in a perf sample; 0 would end its
 * branch stack.
 */
#define ELSEWHERE 1

struct perfscript {
	struct ntrace_export_samples base;
	FILE *file;
	const struct ntrace_session *session;	/* NULL: only the spaces of samples are known */
	struct ntrace_object *object;
	struct ntrace_locator *locator;
	int error;		/* errno of the first write that failed */
};

/* The link address of a byte of the program; ELSEWHERE: in no segment. */
static uint64_t link_of_offset(const struct ntrace_object *object, uint64_t wanted)
{
	uint64_t address, size, offset;
	bool executable;

	for (size_t i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++)
		if (!ntrace_object_file_offset(object, address, &offset) && wanted - offset < size)
			return address + (wanted - offset);
	return ELSEWHERE;
}

/*
 * Where it is not certain when the thread ran, or which one, the space of the sample has only the
 * file that was executed then. Transfers before it were in others, which the process tells.
 */
static uint64_t link_address(const struct perfscript *script,
			     const struct ntrace_session_event *event, uint64_t address)
{
	const struct ntrace_location *place =
		ntrace_locator_find(script->locator, event->flow->space, address);
	uint64_t offset;

	if (place->object || !script->session || event->pid < 0)
		return place->object == script->object ? place->link_address : ELSEWHERE;
	if (session_code_at(script->session, event->pid, event->sideband_ns, address, &offset) !=
	    script->object)
		return ELSEWHERE;
	return link_of_offset(script->object, offset);
}

static int put_sample(struct ntrace_export_samples *base, const struct ntrace_sample *sample)
{
	struct perfscript *script = (struct perfscript *)base;
	uint64_t address = link_address(script, sample->event, sample->address);
	uint64_t ends[NTRACE_SAMPLE_DEPTH_MAX][2];
	bool here = address != ELSEWHERE;
	size_t i;

	for (i = 0; i < sample->count; i++) {
		ends[i][0] = link_address(script, sample->event, sample->branches[i].from);
		ends[i][1] = link_address(script, sample->event, sample->branches[i].to);
		here |= ends[i][0] != ELSEWHERE || ends[i][1] != ELSEWHERE;
	}
	if (!here)
		return 0;
	fprintf(script->file, " %" PRIx64, address);
	for (i = 0; i < sample->count; i++)
		fprintf(script->file, " 0x%" PRIx64 "/0x%" PRIx64 "/-/-/-/0", ends[i][0],
			ends[i][1]);
	fputs(" \n", script->file);
	base->counts.traces++;
	base->counts.executed += sample->count;
	if (!ferror(script->file))
		return 0;
	if (!script->error)
		script->error = errno ? errno : EIO;
	errno = script->error;
	return NTRACE_ERR_IO;
}

static int close_perfscript(struct ntrace_export_samples *base)
{
	struct perfscript *script = (struct perfscript *)base;
	int error = script->error;

	if (fflush(script->file) && !error)
		error = errno;
	if (ferror(script->file) && !error)
		error = EIO;
	ntrace_locator_free(script->locator);
	ntrace_object_put(script->object);
	free(script);
	if (!error)
		return 0;
	errno = error;
	return NTRACE_ERR_IO;
}

/* What llvm-profgen compares with the name of its program, byte by byte. */
static const char *file_name(const struct ntrace_object *object)
{
	const char *name = ntrace_object_name(object), *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* Writes one record over all executable segments, from which llvm-profgen gets the load address. */
static void put_mapping(const struct perfscript *script)
{
	uint64_t address, size, start = UINT64_MAX, last = 0, offset = 0;
	bool executable;
	size_t i;

	for (i = 0; !ntrace_object_segment(script->object, i, &address, &size, &executable); i++) {
		if (!executable)
			continue;
		if (address < start)
			start = address;
		if (address + (size - 1) > last)
			last = address + (size - 1);
	}
	if (start == UINT64_MAX)
		return;
	ntrace_object_file_offset(script->object, start, &offset);
	fprintf(script->file,
		"PERF_RECORD_MMAP2 1/1: [0x%" PRIx64 "(0x%" PRIx64 ") @ 0x%" PRIx64
		" 00:00 0 0]: r-xp %s\n",
		start & ~(PAGE - 1), last - (start & ~(PAGE - 1)) + 1, offset & ~(PAGE - 1),
		file_name(script->object));
}

int ntrace_export_perfscript_open(struct ntrace_export_samples **samples, FILE *file,
				  const struct ntrace_export_samples_options *options)
{
	struct ntrace_export_samples_options full = { 0 };
	struct perfscript *script;

	if (STRUCT_TAKE(&full, options))
		return NTRACE_ERR_INVALID;
	options = &full;
	if (!file || !options->object)
		return NTRACE_ERR_INVALID;
	/* A line feed would begin a record that a stranger chose. */
	if (text_has_control(file_name(options->object)))
		return NTRACE_ERR_UNSUPPORTED;
	script = calloc(1, sizeof(*script));
	if (!script)
		return NTRACE_ERR_NOMEM;
	script->locator = ntrace_locator_new();
	if (!script->locator) {
		free(script);
		return NTRACE_ERR_NOMEM;
	}
	script->file = file;
	script->session = options->session;
	script->object = ntrace_object_get(options->object);
	script->base.sample = put_sample;
	script->base.close = close_perfscript;
	put_mapping(script);
	*samples = &script->base;
	return 0;
}
