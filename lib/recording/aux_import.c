// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Imports the trace of a perf.data file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "bisect.h"
#include "aux_import.h"

/* trTeFormat */
#define FORMAT_NTRACE 1

struct building {
	struct aux_import *import;
	struct aux_areas areas;
	int32_t began;	/* the last record was ITRACE_START of this process, else -1 */
};

static int add_area(struct building *building, const struct ntrace_perf_record *record)
{
	struct aux_areas *areas = &building->areas;
	struct ntrace_perf_auxtrace about;
	struct aux_area *items;
	size_t i;

	if (ntrace_perf_file_auxtrace(record, &about)) {
		areas->damaged++;
		return 0;
	}
	if (about.cpu != NTRACE_SIDEBAND_NO_CPU && about.cpu >= MACHINE_CPUS_MAX) {
		areas->damaged++;
		return 0;
	}
	for (i = 0; i < areas->count; i++)
		if (areas->items[i].about.index == about.index)
			return 0;
	if (areas->count == NTRACE_RECORDING_STREAMS_MAX) {
		notes_add(building->import->notes, "%s: more than %d AUX areas",
			  building->import->name, NTRACE_RECORDING_STREAMS_MAX);
		return NTRACE_ERR_FORMAT;
	}
	items = realloc(areas->items, (areas->count + 1) * sizeof(*items));
	if (!items)
		return NTRACE_ERR_NOMEM;
	areas->items = items;
	items[areas->count++] = (struct aux_area){ .about = about };
	return 0;
}

/* AUX_OUTPUT_HW_ID of gtrace and rvtrace: a CPU that has trace in the file. */
static int add_traced(struct aux_areas *areas, const struct ntrace_perf_record *record)
{
	uint64_t cpu;

	if (record->size < sizeof(struct perf_event_header) + sizeof(cpu))
		return 0;
	memcpy(&cpu, record->data + sizeof(struct perf_event_header), sizeof(cpu));
	if (cpu >= AUX_SOURCES)
		return 0;
	if (!areas->traced)
		areas->traced = calloc(AUX_SOURCES, sizeof(*areas->traced));
	if (!areas->traced)
		return NTRACE_ERR_NOMEM;
	areas->traced[cpu] = true;
	return 0;
}

static int take_record(void *data, const struct ntrace_perf_record *record)
{
	struct building *building = data;

	if (record->type == NTRACE_PERF_AUXTRACE)
		return add_area(building, record);
	if (record->type == PERF_RECORD_AUX_OUTPUT_HW_ID)
		return add_traced(&building->areas, record);
	if (record->type != NTRACE_PERF_AUXTRACE_INFO || building->areas.info.layout != AUX_UNKNOWN)
		return 0;
	return aux_info_read(building->import, record, &building->areas.info);
}

/* ---- times ---- */

/*
 * Sets start and end of each stream's trace, as far as records contain them. An event that begins
 * with an exec (enable_on_exec) traces the new program, but ITRACE_START is the record before the exec.
 */
static int take_time(void *data, const struct ntrace_sideband *sideband)
{
	struct building *building = data;
	bool begins = sideband->type == NTRACE_SIDEBAND_COMM && sideband->exec &&
		      building->began == sideband->pid;
	unsigned int i;

	building->began = sideband->type == NTRACE_SIDEBAND_ITRACE_START ? sideband->pid : -1;

	for (i = 0; i < building->import->stream_count; i++) {
		struct ntrace_stream *stream = &building->import->streams[i];

		if (stream->cpu != NTRACE_STREAM_NO_CPU && stream->cpu != sideband->cpu)
			continue;
		if (sideband->type == NTRACE_SIDEBAND_ITRACE_START && !stream->start_ns)
			stream->start_ns = sideband->time;
		if (begins && stream->event && !stream->stop_ns)
			stream->start_ns = sideband->time;
		if (sideband->type == NTRACE_SIDEBAND_AUX && sideband->time > stream->stop_ns)
			stream->stop_ns = sideband->time;
	}
	return 0;
}

/* ---- parameters ---- */

static const struct aux_hart *hart_of(const struct aux_info *info, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < info->hart_count; i++)
		if (info->harts[i].cpu == cpu)
			return &info->harts[i];
	/* The trace of a thread: all harts of a machine have the same settings. */
	return info->hart_count && cpu == NTRACE_SIDEBAND_NO_CPU ? info->harts : NULL;
}

static void hart_params(const struct aux_hart *hart, struct ntrace_params *params)
{
	if (!hart->no_src)
		params->src_bits = (unsigned int)hart->src_bits;
	if (hart->xlen)
		params->xlen = (unsigned int)hart->xlen;
	params->extend_address = hart->flags & AUX_FLAG_EXTEND_ADDRESS;
	params->all_jumps = hart->flags & AUX_FLAG_ALL_JUMPS;
	params->address_bits = (unsigned int)hart->address_bits;
	params->implicit_return = (unsigned int)hart->return_mode;
	params->timestamp_bits = (unsigned int)hart->timestamp_bits;
	params->timestamp_hz = hart->timestamp_hz;
	if (hart->version == 1) {
		params->dialect = NTRACE_DIALECT_SIFIVE_V0;
		params->timestamp_delta = NTRACE_TIME_DELTA_XOR;
	}
}

static void set_params(const struct building *building, const struct aux_area *area,
		       struct ntrace_params *params)
{
	const struct aux_hart *hart = hart_of(&building->areas.info, area->about.cpu);

	ntrace_params_init(params);
	params->src_bits = area->src_bits;
	if (hart)
		hart_params(hart, params);
	/* The caller has checked the text. */
	if (building->import->text)
		ntrace_params_parse(params, building->import->text, NULL);
}

static void tell_params(const struct building *building)
{
	const struct aux_import *import = building->import;
	const struct aux_info *info = &building->areas.info;
	struct ntrace_params params;
	char text[512];
	size_t i;

	for (i = 0; i < info->hart_count; i++)
		if (info->harts[i].format != FORMAT_NTRACE)
			notes_add(import->notes,
				  "%s: CPU %" PRIu64 " reports trace format %" PRIu64 "; "
				  "reading it as N-Trace (format 1)",
				  import->name, info->harts[i].cpu, info->harts[i].format);
	if (building->import->params || info->hart_count)
		return;
	ntrace_params_init(&params);
	ntrace_params_format(&params, text, sizeof(text));
	notes_add(import->notes,
		  "%s does not contain the trace parameters: assuming %s; set them with "
		  "--params, e.g. --params srcbits=2",
		  import->name, text);
}

/* ---- streams ---- */

static size_t find_mark(const struct aux_area *area, uint64_t position)
{
	size_t low = 0;

	BISECT(low, area->mark_count, middle, area->marks[middle].position < position);
	return low;
}

/* Collects the pieces of an area with their positions in the file. */
static int add_pieces(struct building *building, const struct aux_area *area,
		      const struct aux_file *file)
{
	struct aux_import *import = building->import;
	const struct machine *machine = import->machine;
	struct piece_list *lists, *list;
	size_t i, start, end;

	lists = realloc(import->pieces, (building->import->stream_count + 1u) * sizeof(*lists));
	if (!lists)
		return NTRACE_ERR_NOMEM;
	import->pieces = lists;
	list = &lists[building->import->stream_count];
	*list = (struct piece_list){ calloc(machine->piece_count + 1, sizeof(*list->items)), 0 };
	import->piece_lists = building->import->stream_count + 1;
	if (!list->items)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < machine->piece_count; i++) {
		struct piece piece = machine->pieces[i];

		if (!aux_area_has(area, &piece))
			continue;
		/* Each piece has created two marks. */
		start = find_mark(area, piece.offset);
		end = find_mark(area, piece.offset + piece.size);
		piece.offset = area->first + file->at[start];
		piece.size = file->at[end] - file->at[start];
		if (piece.size)
			list->items[list->count++] = piece;
	}
	return 0;
}

static bool belongs_to_task(const struct aux_area *area)
{
	return area->about.tid != -1 && !area->shared;
}

/* The event id of the records, if the area belongs to a task; else 0. */
static uint64_t event_of(const struct building *building, const struct aux_area *area)
{
	const struct machine *machine = building->import->machine;
	size_t i;

	if (!belongs_to_task(area))
		return 0;
	for (i = 0; i < machine->piece_count; i++)
		if (aux_area_has(area, &machine->pieces[i]) && machine->pieces[i].event)
			return machine->pieces[i].event;
	/* Any number selects assignment by pieces instead of by switches. */
	return 1;
}

/* A hart's trace begins with a message, except for snapshots. The follower handles tasks. */
static uint64_t position_of(const struct building *building, const struct aux_area *area)
{
	const struct machine *machine = building->import->machine;
	size_t i;

	for (i = 0; i < machine->piece_count && !belongs_to_task(area); i++) {
		const struct piece *piece = &machine->pieces[i];

		if (aux_area_has(area, piece) && piece->offset == area->first &&
		    !(piece->flags & PERF_AUX_FLAG_OVERWRITE))
			return 0;
	}
	return area->first;
}

/* Adds parameters for the next stream, valid as long as the import. */
static struct ntrace_params *add_params(struct aux_import *import)
{
	struct ntrace_params *params = malloc(sizeof(*params)), **all;

	all = realloc(import->of_streams,
		      (import->of_stream_count + 1u) * sizeof(struct ntrace_params *));
	if (all)
		import->of_streams = all;
	if (!all || !params) {
		free(params);
		return NULL;
	}
	all[import->of_stream_count++] = params;
	return params;
}

static int add_stream(struct building *building, const struct aux_area *area,
		      const struct aux_file *file, uint32_t cpu, unsigned int src)
{
	struct ntrace_stream *streams, *stream;
	struct ntrace_params *params;
	char path[64];
	int error;

	if (building->import->stream_count == NTRACE_RECORDING_STREAMS_MAX) {
		notes_add(building->import->notes, "%s: more than %d streams of trace",
			  building->import->name, NTRACE_RECORDING_STREAMS_MAX);
		return NTRACE_ERR_FORMAT;
	}
	error = add_pieces(building, area, file);
	if (error)
		return error;
	params = add_params(building->import);
	if (!params)
		return NTRACE_ERR_NOMEM;
	set_params(building, area, params);
	streams = realloc(building->import->streams,
			  (building->import->stream_count + 1u) * sizeof(*streams));
	if (!streams)
		return NTRACE_ERR_NOMEM;
	building->import->streams = streams;
	stream = &streams[building->import->stream_count];
	/* The file has no name, so its descriptor is used. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file->file));
	*stream = (struct ntrace_stream){
		.file = strdup(path),
		.params = params,
		.cpu = cpu,
		.hartid = cpu,
		.src = src,
		.bytes = file->bytes,
		.lost = area->lost,
		.gaps = area->holes + area->foreign + area->rings + area->flagged[0] +
			area->flagged[1] + area->flagged[2],
		.event = event_of(building, area),
		.position = position_of(building, area),
	};
	stream->lost_exact = !stream->gaps;
	if (!stream->file)
		return NTRACE_ERR_NOMEM;
	building->import->stream_count++;
	stream_tell_losses(stream, building->import->notes);
	return 0;
}

static const struct aux_hart *hart_with_src(const struct aux_info *info, unsigned int src)
{
	size_t i;

	for (i = 0; i < info->hart_count; i++)
		if (!info->harts[i].no_src && info->harts[i].src == src)
			return &info->harts[i];
	return NULL;
}

/* Whether SRC is the number of the CPU, which no parameters tell. */
static bool numbers_by_cpu(const struct building *building)
{
	const struct aux_info *info = &building->areas.info;

	return info->layout == AUX_RVTRACE && (aux_is_gtrace(info) || building->areas.traced);
}

/*
 * Adds a stream for each hart with messages in the file. Where harts share a sink, gtrace puts the bytes of all
 * into the area of the one that stops last; they are then not those of its task only.
 */
static int add_sources(struct building *building, struct aux_area *area,
		       const struct aux_file *file, const uint64_t *counts)
{
	const bool by_cpu = numbers_by_cpu(building), *traced = building->areas.traced;
	const struct aux_info *info = &building->areas.info;
	struct aux_import *import = building->import;
	unsigned int src, present = 0, added = 0;
	uint64_t nobodys = 0;
	int error = 0;

	for (src = 0; src < AUX_SOURCES; src++)
		present += counts[src] != 0;
	area->shared = by_cpu && present > 1 && area->about.cpu != NTRACE_SIDEBAND_NO_CPU;
	for (src = 0; src < AUX_SOURCES && !error; src++) {
		const struct aux_hart *hart = hart_with_src(info, src);
		uint32_t cpu = area->about.cpu;

		if (!counts[src])
			continue;
		if ((info->hart_count && !hart) || (by_cpu && traced && !traced[src])) {
			nobodys += counts[src];
			continue;
		}
		if (by_cpu)
			cpu = src;
		else if (cpu != NTRACE_SIDEBAND_NO_CPU && (hart || present > 1))
			cpu = hart ? (uint32_t)hart->cpu : src;
		if (!hart && present > 1 && !by_cpu)
			notes_add(import->notes,
				  "AUX area %" PRIu32 " has messages of SRC %u: assuming that "
				  "SRC is the number of the hart",
				  area->about.index, src);
		error = add_stream(building, area, file, cpu, src);
		added++;
	}
	if (nobodys)
		notes_add(import->notes,
			  "AUX area %" PRIu32 ": skipped %" PRIu64 " messages whose SRC "
			  "belongs to no hart; --params srcbits=N changes the width of SRC",
			  area->about.index, nobodys);
	return error || added ? error : add_stream(building, area, file, area->about.cpu, 0);
}

/* The width of SRC, if it must be found in the messages. */
static int find_width(struct building *building, struct aux_area *area, const struct aux_file *file,
		      struct ntrace_params *params)
{
	int bits;

	if (building->import->params || !numbers_by_cpu(building))
		return 0;
	bits = aux_sources_width(&building->areas, area, file, params);
	if (bits < 0)
		return bits;
	area->src_bits = (unsigned int)bits;
	params->src_bits = area->src_bits;
	notes_add(building->import->notes,
		  "AUX area %" PRIu32 ": its messages have %d bits of SRC, as far as they tell; "
		  "--params srcbits=N changes that",
		  area->about.index, bits);
	return 0;
}

/* The CPU of an area without SRC. */
static uint32_t cpu_of(const struct building *building, const struct aux_area *area)
{
	const bool *traced = building->areas.traced;
	uint32_t cpu, found = NTRACE_SIDEBAND_NO_CPU;

	if (area->about.cpu != NTRACE_SIDEBAND_NO_CPU || !traced || !numbers_by_cpu(building))
		return area->about.cpu;
	for (cpu = 0; cpu < AUX_SOURCES; cpu++) {
		if (traced[cpu] && found != NTRACE_SIDEBAND_NO_CPU)
			return NTRACE_SIDEBAND_NO_CPU;
		if (traced[cpu])
			found = cpu;
	}
	return found;
}

static int add_file(struct building *building, struct aux_area *area, const struct aux_file *file)
{
	struct ntrace_params params;
	const struct aux_hart *hart;
	uint64_t *counts;
	int error;

	set_params(building, area, &params);
	error = find_width(building, area, file, &params);
	if (error)
		return error;
	if (!params.src_bits)
		return add_stream(building, area, file, cpu_of(building, area), 0);
	hart = hart_of(&building->areas.info, area->about.cpu);
	if (hart && hart->flags & AUX_FLAG_SEPARATE)
		return add_stream(building, area, file, area->about.cpu, NTRACE_SRC_ANY);
	counts = calloc(AUX_SOURCES, sizeof(*counts));
	if (!counts)
		return NTRACE_ERR_NOMEM;
	error = aux_sources_count(file, &params, counts);
	if (!error)
		error = add_sources(building, area, file, counts);
	free(counts);
	return error;
}

/* ---- missing trace ---- */

static void tell_area(const struct building *building, const struct aux_area *area)
{
	const struct aux_import *import = building->import;
	const struct ntrace_frames *frames = &area->frames;
	uint64_t cut = frames->cut + ntrace_frames_pending(frames);
	uint64_t last = area->mark_count ? area->marks[area->mark_count - 1].position : 0;

	if (area->flagged[0] || area->flagged[1] || area->flagged[2])
		notes_add(import->notes,
			  "AUX area %" PRIu32 ": %" PRIu64 " pieces are truncated, %" PRIu64
			  " incomplete and %" PRIu64 " collided with other trace: each leaves "
			  "a gap",
			  area->about.index, area->flagged[0], area->flagged[1], area->flagged[2]);
	if (area->foreign)
		notes_add(import->notes,
			  "AUX area %" PRIu32 ": left out %" PRIu64
			  " pieces that are not N-Trace, or "
			  "that a truncated one may have overwritten: each leaves a gap",
			  area->about.index, area->foreign);
	if (area->rings)
		notes_add(import->notes,
			  "AUX area %" PRIu32 ": the sink had wrapped before %" PRIu64
			  " of its pieces, "
			  "and what it lost is not told; %" PRIu64 " bytes of older trace left out",
			  area->about.index, area->rings, area->old);
	if (last > area->end)
		notes_add(import->notes,
			  "AUX area %" PRIu32 ": the file lacks the last %" PRIu64 " bytes "
			  "that its records describe",
			  area->about.index, last - area->end);
	if (frames->nameless || frames->reserved || cut)
		notes_add(import->notes,
			  "AUX area %" PRIu32 ": skipped bytes of CoreSight frames: %" PRIu64
			  " before the first source ID, %" PRIu64
			  " of reserved source IDs, %" PRIu64 " of incomplete frames",
			  area->about.index, frames->nameless, frames->reserved, cut);
	if (!area->file_count && area->end > area->first)
		notes_add(import->notes, "AUX area %" PRIu32 ": its frames have no trace",
			  area->about.index);
}

/* ---- the import ---- */

/* The files stay open; the areas are freed. */
static int keep_files(struct building *building)
{
	struct aux_areas *areas = &building->areas;
	struct aux_import *import = building->import;
	size_t count = 0, i, j;

	for (i = 0; i < areas->count; i++)
		count += areas->items[i].file_count;
	import->files = calloc(count + 1, sizeof(FILE *));
	for (i = 0; i < areas->count; i++) {
		struct aux_area *area = &areas->items[i];

		for (j = 0; j < area->file_count; j++) {
			free(area->files[j].at);
			if (import->files)
				import->files[import->file_count++] = area->files[j].file;
			else
				fclose(area->files[j].file);
		}
		free(area->files);
		free(area->marks);
	}
	free(areas->items);
	free(areas->traced);
	free(areas->info.harts);
	return import->files ? 0 : NTRACE_ERR_NOMEM;
}

static int build(struct building *building)
{
	struct aux_import *import = building->import;
	struct aux_areas *areas = &building->areas;
	size_t i, j;
	int error = aux_files_write(areas);

	if (error == NTRACE_ERR_IO)
		notes_add(import->notes, "%s: cannot write the trace to $TMPDIR or /tmp: %s",
			  import->name, strerror(errno));
	for (i = 0; i < areas->count && !error; i++) {
		struct aux_area *area = &areas->items[i];

		tell_area(building, area);
		for (j = 0; j < area->file_count && !error; j++)
			error = add_file(building, area, &area->files[j]);
	}
	if (error)
		return error;
	if (areas->damaged)
		notes_add(import->notes, "%s: skipped %" PRIu64 " damaged AUXTRACE records",
			  import->name, areas->damaged);
	if (!building->import->stream_count) {
		notes_add(import->notes, "%s: announces trace but contains none", import->name);
		return NTRACE_ERR_FORMAT;
	}
	return ntrace_perf_file_sideband(import->machine->file, take_time, building, NULL);
}

static bool is_other_machine(const struct machine *machine)
{
	const char *arch = ntrace_perf_file_feature(machine->file, NTRACE_PERF_ARCH);

	return arch && strncmp(arch, "riscv", 5);
}

int aux_import_read(struct aux_import *import)
{
	const struct machine *machine = import->machine;
	struct building building = { .import = import, .areas.machine = machine };
	int error, kept;

	if (is_other_machine(machine)) {
		notes_add(import->notes, "%s: the trace is from %s, not from RISC-V", import->name,
			  ntrace_perf_file_feature(machine->file, NTRACE_PERF_ARCH));
		return NTRACE_ERR_FORMAT;
	}
	if (import->params && !(import->text = strdup(import->params)))
		return NTRACE_ERR_NOMEM;
	error = ntrace_perf_file_records(machine->file, take_record, &building);
	if (error == NTRACE_ERR_TRUNCATED)
		error = 0;
	if (!error)
		error = aux_format_check(import, &building.areas.info);
	if (!error) {
		machine_tell(machine, import->notes, import->name);
		tell_params(&building);
		error = build(&building);
	}
	kept = keep_files(&building);
	return error ? error : kept;
}

void aux_import_free(struct aux_import *import)
{
	while (import->file_count)
		fclose(import->files[--import->file_count]);
	free(import->files);
	while (import->piece_lists)
		free(import->pieces[--import->piece_lists].items);
	free(import->pieces);
	while (import->stream_count)
		free((char *)(uintptr_t)import->streams[--import->stream_count].file);
	free(import->streams);
	while (import->of_stream_count)
		free(import->of_streams[--import->of_stream_count]);
	/* NOLINTNEXTLINE(bugprone-multi-level-implicit-pointer-conversion) */
	free(import->of_streams);
	free(import->text);
	memset(import, 0, sizeof(*import));
}

static int is_trace(void *data, const struct ntrace_perf_record *record)
{
	(void)data;
	return record->type == NTRACE_PERF_AUXTRACE || record->type == NTRACE_PERF_AUXTRACE_INFO;
}

bool aux_import_has_trace(const struct machine *machine)
{
	return ntrace_perf_file_records(machine->file, is_trace, NULL) == 1;
}
