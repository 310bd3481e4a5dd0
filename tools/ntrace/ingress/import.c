// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace ingress import: converts a waveform, VCD or FST, to an ingress file.
 *
 * The signals of a cycle are those just before the edge of the clock, as a register sees them: changes of
 * the time step in which the clock rises belong to the next cycle.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "common/output_file.h"
#include "common/ui.h"
#include "common/vcd.h"
#include "common/wave_file.h"
#include "ingress.h"
#include "map.h"

/**
 * struct import - a conversion
 * @cycle: the cycle being sampled
 * @last: levels of the last cycle written
 * @idle: cycles without any signal since then
 * @disordered: cycles that use a data group without the one before it
 * @unknown: values of data accesses with an x or z
 * @unknown_time: time of the first of them
 */
struct import {
	struct map map;
	struct vcd vcd;
	const char *path;
	struct output_file file;
	struct ntrace_ingress_writer writer;
	struct ntrace_ingress_record record;
	struct ntrace_ingress_cycle last;
	uint64_t cycles;
	uint64_t blocks;
	uint64_t accesses;
	uint64_t disordered;
	uint64_t unknown;
	uint64_t unknown_time;
	uint32_t idle;
	bool checked;	/* all signals of the map are in the waveform */
};

static int write_record(struct import *import, const struct ntrace_ingress_record *record)
{
	char line[NTRACE_INGRESS_LINE_MAX];
	int length = ntrace_ingress_write(&import->writer, record, line);

	if (length < 0)
		return fail("%s: time %" PRIu64 ": a file cannot hold these signals", import->path,
			    import->vcd.time);
	output_bytes(import->file.output, line, (size_t)length);
	return import->file.output->error ? EXIT_FAILED : EXIT_OK;
}

static int write_control(struct import *import, unsigned int type, unsigned int value)
{
	struct ntrace_ingress_record record = { .type = type, .value = value };

	return write_record(import, &record);
}

/* ---- values ---- */

/* @what is wrong with a value, of which the message has the bits: "10xx". */
static int complain(const struct import *import, unsigned int signal, unsigned int i,
		    const char *what)
{
	const struct map_source *source = &import->map.source[signal][i];
	unsigned int count = source->width < 64 ? source->width : 64;
	char bits[65];

	if (!*source->name)
		return fail("%s: line %u: %s.%u %s: 0x%" PRIx64, import->map.path, source->line,
			    map_signal_name(signal), i, what, source->value);
	for (unsigned int k = 0; k < count; k++)
		bits[k] = import->vcd.signal[source->signal]
				  .now[source->shift + source->width - 1 - k];
	bits[count] = '\0';
	return fail("%s: time %" PRIu64 ": %s.%u, which is %s, %s: %s%s", import->path,
		    import->vcd.time, map_signal_name(signal), i, source->name, what, bits,
		    source->width > count ? "..." : "");
}

/**
 * read_bits - read a part of a signal
 * @low: lowest bit
 * @count: number of bits, at most 128; bits that the signal lacks are 0
 * @to: bits 63:0 and 127:64; 0 for bits that are x or z
 *
 * Return: whether all its bits are 0 or 1.
 */
static bool read_bits(const struct import *import, const struct map_source *source,
		      unsigned int low, unsigned int count, uint64_t *to)
{
	bool known = true;
	const char *bits;

	to[0] = 0;
	to[1] = 0;
	if (!source->given)
		return true;
	if (!*source->name) {
		to[0] = low < 64 ? source->value >> low : 0;
		if (count < 64)
			to[0] &= (UINT64_C(1) << count) - 1;
		return true;
	}
	bits = import->vcd.signal[source->signal].now + source->shift;
	for (unsigned int i = 0; i < count && low + i < source->width; i++) {
		char bit = bits[low + i];

		if (bit != '0' && bit != '1')
			known = false;
		else if ((bit == '1') != source->inverted)
			to[i / 64] |= UINT64_C(1) << i % 64;
	}
	return known;
}

/* A signal of at most 64 bits; a greater value than its field can have is an error. */
static int sample(const struct import *import, unsigned int signal, unsigned int i, uint64_t *value)
{
	const struct map_source *source = &import->map.source[signal][i];
	unsigned int bits = map_signal_bits(&import->map, signal);
	unsigned int width = 64;
	uint64_t part[2];

	if (!source->given)
		return EXIT_OK;
	if (*source->name)
		width = source->width;
	for (unsigned int low = 0; low < width; low += 64) {
		if (!read_bits(import, source, low, 64, part))
			return complain(import, signal, i, "is not known");
		if (low ? part[0] != 0 : bits < 64 && part[0] >> bits)
			return complain(import, signal, i,
					"has more bits than the signal of the port");
		if (!low)
			*value = part[0];
	}
	return EXIT_OK;
}

/* A value of a data access. Programs store what was never written, and N-Trace does not send data. */
static void sample_data(struct import *import, unsigned int signal, unsigned int i,
			unsigned int low, unsigned int count, uint64_t *to)
{
	if (read_bits(import, &import->map.source[signal][i], low, count, to))
		return;
	if (!import->unknown++)
		import->unknown_time = import->vcd.time;
}

#define SAMPLE(signal, i, field)                                                                   \
	do {                                                                                       \
		uint64_t sampled = 0;\
		int failed = sample(import, signal, i, &sampled);                                  \
                                                                                                   \
		if (failed)                                                                        \
			return failed;                                                             \
		(field) = (__typeof__(field))sampled;                                              \
	} while (0)

/* ---- a cycle ---- */

static int sample_group(struct import *import, unsigned int i)
{
	struct ntrace_ingress_cycle *cycle = &import->record.cycle;
	struct ntrace_ingress_group *group = &cycle->group[i];
	const uint32_t indirect = 1u << 6 | 1u << 8 | 1u << 10 | 1u << 12 | 1u << 14;
	uint64_t iaddr[2];

	SAMPLE(MAP_IRETIRE, i, group->iretire);
	SAMPLE(MAP_ITYPE, i, group->itype);
	if (!group->iretire && !group->itype)
		return EXIT_OK;
	cycle->groups = (uint8_t)(i + 1);
	import->blocks += group->iretire != 0;
	/* The address of an interrupt alone need not be valid. */
	if (group->iretire || group->itype != NTRACE_ITYPE_INTERRUPT ||
	    read_bits(import, &import->map.source[MAP_IADDR][i], 0, 64, iaddr))
		SAMPLE(MAP_IADDR, i, group->iaddr);
	if (group->iretire)
		SAMPLE(MAP_ILASTSIZE, i, group->ilastsize);
	if (indirect >> group->itype & 1)
		SAMPLE(MAP_SIJUMP, i, group->sijump);
	if (group->itype == NTRACE_ITYPE_EXCEPTION || group->itype == NTRACE_ITYPE_INTERRUPT)
		SAMPLE(MAP_CAUSE, 0, cycle->cause);
	if (group->itype == NTRACE_ITYPE_EXCEPTION)
		SAMPLE(MAP_TVAL, 0, cycle->tval);
	return EXIT_OK;
}

/* Bits of an access that a value of 128 bits can have. */
static unsigned int data_bits(const struct ntrace_ingress_access *access)
{
	return access->dsize < 4 ? 8u << access->dsize : 128;
}

/* data of a unified port: an atomic or a CSR access has the value stored below the value loaded. */
static void sample_unified(struct import *import, unsigned int i,
			   struct ntrace_ingress_access *access)
{
	const struct map_source *source = &import->map.source[MAP_DATA][i];
	unsigned int half = *source->name ? source->width / 2 : 64;
	unsigned int count = data_bits(access), part = count < half ? count : half;

	switch (access->dtype) {
	case NTRACE_DTYPE_STORE_FAILURE:
		break;
	case NTRACE_DTYPE_LOAD:
		sample_data(import, MAP_DATA, i, 0, count, access->load);
		break;
	case NTRACE_DTYPE_STORE:
		sample_data(import, MAP_DATA, i, 0, count, access->store);
		break;
	default:
		sample_data(import, MAP_DATA, i, 0, part, access->store);
		sample_data(import, MAP_DATA, i, half, part, access->load);
	}
}

static int sample_request(struct import *import, unsigned int i,
			  struct ntrace_ingress_access *access)
{
	bool stores =
		access->dtype == NTRACE_DTYPE_STORE ||
		(access->dtype >= NTRACE_DTYPE_SWAP && access->dtype < NTRACE_DTYPE_STORE_FAILURE);

	access->request = access->dtype != NTRACE_DTYPE_STORE &&
			  access->dtype != NTRACE_DTYPE_STORE_FAILURE &&
			  !(NTRACE_DTYPES_CSRS >> access->dtype & 1);
	if (access->request)
		SAMPLE(MAP_LRID, i, access->lrid);
	if (stores)
		sample_data(import, MAP_SDATA, i, 0, data_bits(access), access->store);
	return EXIT_OK;
}

static int sample_access(struct import *import, unsigned int i)
{
	struct ntrace_ingress_cycle *cycle = &import->record.cycle;
	struct ntrace_ingress_access *access = &cycle->access[cycle->accesses];
	unsigned int retired;

	SAMPLE(MAP_DRETIRE, i, retired);
	if (!retired)
		return EXIT_OK;
	import->disordered += i > cycle->accesses;
	import->accesses++;
	cycle->accesses++;
	SAMPLE(MAP_DTYPE, i, access->dtype);
	SAMPLE(MAP_DADDR, i, access->daddr);
	SAMPLE(MAP_DSIZE, i, access->dsize);
	if (import->map.port.iaddr_lsbs_bits)
		SAMPLE(MAP_IADDR_LSBS, i, access->iaddr_lsbs);
	if (import->map.port.groups > 1)
		SAMPLE(MAP_DBLOCK, i, access->dblock);
	if (import->map.port.data == NTRACE_INGRESS_DATA_SPLIT)
		return sample_request(import, i, access);
	sample_unified(import, i, access);
	return EXIT_OK;
}

static int sample_response(struct import *import, unsigned int i)
{
	struct ntrace_ingress_cycle *cycle = &import->record.cycle;
	struct ntrace_ingress_response *response = &cycle->response[cycle->responses];
	unsigned int lresp;

	SAMPLE(MAP_LRESP, i, lresp);
	if (!lresp)
		return EXIT_OK;
	cycle->responses++;
	response->lresp = (uint8_t)lresp;
	SAMPLE(MAP_LID, i, response->lid);
	if (lresp == NTRACE_LRESP_OKAY)
		sample_data(import, MAP_LDATA, i, 0, 128, response->load);
	return EXIT_OK;
}

/* All signals of a cycle in which the hart is not in reset. */
static int sample_port(struct import *import)
{
	struct ntrace_ingress_cycle *cycle = &import->record.cycle;
	const struct ntrace_ingress_port *port = &import->map.port;
	int error = EXIT_OK;

	SAMPLE(MAP_HALTED, 0, cycle->halted);
	if (import->map.source[MAP_TIME][0].given)
		SAMPLE(MAP_TIME, 0, cycle->time);
	SAMPLE(MAP_SCONTEXT, 0, cycle->scontext);
	SAMPLE(MAP_HCONTEXT, 0, cycle->hcontext);
	SAMPLE(MAP_CTYPE, 0, cycle->ctype);
	SAMPLE(MAP_TRACE_ON, 0, cycle->trace_on);
	SAMPLE(MAP_TRACE_OFF, 0, cycle->trace_off);
	SAMPLE(MAP_EXTERNAL, 0, cycle->external);
	SAMPLE(MAP_NOTIFY, 0, cycle->notify);
	SAMPLE(MAP_IMPDEF, 0, cycle->impdef);
	for (unsigned int i = 0; !error && i < port->groups; i++)
		error = sample_group(import, i);
	if (!error && cycle->groups)
		SAMPLE(MAP_PRIV, 0, cycle->priv);
	for (unsigned int i = 0; !error && port->data && i < port->accesses; i++)
		error = sample_access(import, i);
	for (unsigned int i = 0;
	     !error && port->data == NTRACE_INGRESS_DATA_SPLIT && i < port->accesses; i++)
		error = sample_response(import, i);
	return error;
}

static bool is_idle(const struct ntrace_ingress_cycle *cycle,
		    const struct ntrace_ingress_cycle *last)
{
	return !cycle->groups && !cycle->accesses && !cycle->responses && !cycle->ctype &&
	       !cycle->trace_on && !cycle->trace_off && !cycle->external && !cycle->notify &&
	       !cycle->impdef && cycle->halted == last->halted && cycle->reset == last->reset &&
	       cycle->scontext == last->scontext && cycle->hcontext == last->hcontext;
}

static int take_edge(struct import *import)
{
	struct ntrace_ingress_cycle *cycle = &import->record.cycle;
	int error;

	memset(&import->record, 0, sizeof(import->record));
	cycle->time = import->cycles;
	cycle->priv = import->last.priv;
	cycle->scontext = import->last.scontext;
	cycle->hcontext = import->last.hcontext;
	SAMPLE(MAP_RESET, 0, cycle->reset);
	if (!cycle->reset) {
		error = sample_port(import);
		if (error)
			return error;
	}
	import->cycles++;
	if (is_idle(cycle, &import->last) && import->idle != UINT32_MAX) {
		import->idle++;
		import->last.time = cycle->time;
		return EXIT_OK;
	}
	cycle->idle = import->idle;
	import->idle = 0;
	import->last = *cycle;
	return write_record(import, &import->record);
}

/* A signal that is in no scope before $enddefinitions is not in the file. */
static int check_found(const struct import *import)
{
	for (unsigned int k = 0; k < MAP_SIGNALS * NTRACE_INGRESS_GROUPS_MAX; k++) {
		const struct map_source *source =
			&import->map.source[k / NTRACE_INGRESS_GROUPS_MAX]
					   [k % NTRACE_INGRESS_GROUPS_MAX];

		if (source->given && *source->name && source->signal < 0)
			return fail("%s: line %u: %s has no signal %s%s%s%s", import->map.path,
				    source->line, import->path, source->name,
				    source->near ? "; did you mean '" : "",
				    source->near ? source->near : "", source->near ? "'?" : "");
	}
	return EXIT_OK;
}

/* Callback of the reader: the end of a time step. */
static int take_step(void *data)
{
	struct import *import = data;
	const struct map_source *clock = &import->map.source[MAP_CLOCK][0];
	const struct vcd_signal *signal;
	int error = import->checked ? EXIT_OK : check_found(import);

	import->checked = true;
	if (error)
		return error;
	signal = &import->vcd.signal[clock->signal];
	if (clock->inverted ? !signal->fell : !signal->rose)
		return EXIT_OK;
	return take_edge(import);
}

/* ---- the header ---- */

/* The part after the last dot of the first @length characters. */
static const char *last_part(const char *path, size_t length)
{
	while (length && path[length - 1] != '.')
		length--;
	return path + length;
}

/*
 * Keeps the path whose last part is nearest: the same signal in another scope, or a typing error in
 * the name of the signal.
 */
static void offer(struct map_source *source, const char *path)
{
	const char *wanted = last_part(source->name, source->bare);
	struct nearest nearest = nearest_to(wanted, source->bare - (size_t)(wanted - source->name));

	if (source->signal >= 0)
		return;
	if (source->near)
		nearest.distance = source->distance;
	nearest_offer(&nearest, last_part(path, strlen(path)));
	if (!nearest.name || (source->near && nearest.distance >= source->distance))
		return;
	free(source->near);
	source->near = strdup(path);
	source->distance = nearest.distance;
}

/* Callback of the reader: a variable. An exact name goes before the name without a slice. */
static int take_var(void *data, const char *path, unsigned int width, unsigned int low,
		    const char *id)
{
	struct import *import = data;
	size_t length = strlen(path);

	for (unsigned int k = 0; k < MAP_SIGNALS * NTRACE_INGRESS_GROUPS_MAX; k++) {
		struct map_source *source = &import->map.source[k / NTRACE_INGRESS_GROUPS_MAX]
							       [k % NTRACE_INGRESS_GROUPS_MAX];
		bool exact, sliced;

		if (!source->given || !*source->name || source->exact)
			continue;
		exact = !strcmp(path, source->name);
		sliced = length == source->bare && !strncmp(path, source->name, length);
		if (!exact && !sliced) {
			offer(source, path);
			continue;
		}
		source->exact = exact;
		source->shift = exact ? 0 : source->low - low;
		source->width = exact ? width : source->high - source->low + 1;
		if (!exact && (source->low < low || source->high - low >= width))
			return fail("%s: line %u: %s has no bits %u to %u", import->map.path,
				    source->line, path, source->high, source->low);
		source->signal = vcd_track(&import->vcd, id, width);
		if (source->signal < 0)
			return fail("%s: line %" PRIu64 ": %s cannot be read: its identifier has "
				    "another width before, or the map has too many signals",
				    import->path, import->vcd.line, path);
	}
	return EXIT_OK;
}

/* ---- the file ---- */

static int read_wave(struct import *import)
{
	int error = wave_read(&import->vcd, import->path);

	if (!error)
		error = check_found(import);
	if (!error && !import->cycles)
		error = fail("%s: the clock never rises", import->path);
	return error;
}

/* The cycles after the last signal. */
static int write_tail(struct import *import)
{
	if (!import->idle)
		return EXIT_OK;
	memset(&import->record, 0, sizeof(import->record));
	import->record.cycle = import->last;
	import->record.cycle.idle = import->idle - 1;
	import->record.cycle.groups = 0;
	import->record.cycle.accesses = 0;
	import->record.cycle.responses = 0;
	import->record.cycle.ctype = 0;
	import->record.cycle.cause = 0;
	import->record.cycle.tval = 0;
	import->record.cycle.notify = 0;
	import->record.cycle.impdef = 0;
	import->record.cycle.trace_on = false;
	import->record.cycle.trace_off = false;
	import->record.cycle.external = false;
	return write_record(import, &import->record);
}

static int convert(struct import *import)
{
	char line[NTRACE_INGRESS_LINE_MAX];
	int length = ntrace_ingress_writer_init(&import->writer, &import->map.port, line), error;

	import->writer.lenient = true;
	output_bytes(import->file.output, line, (size_t)length);
	error = write_control(import, NTRACE_INGRESS_START, 5);
	if (!error)
		error = read_wave(import);
	if (!error)
		error = write_tail(import);
	if (!error)
		error = write_control(import, NTRACE_INGRESS_STOP, 4);
	length = ntrace_ingress_write_end(&import->writer, line);
	output_bytes(import->file.output, line, (size_t)length);
	return error;
}

int ingress_import(struct ingress_command *ingress, const char *path)
{
	static struct import import;
	int error = map_read(&import.map, ingress->map);

	import.path = path;
	vcd_init(&import.vcd);
	import.vcd.var = take_var;
	import.vcd.step = take_step;
	import.vcd.data = &import;
	if (!error)
		error = output_file_open(&import.file, ingress->target);
	if (!error) {
		error = convert(&import);
		error = output_file_close(&import.file, error);
	}
	vcd_free(&import.vcd);
	map_free(&import.map);
	if (error)
		return error;
	if (import.unknown)
		warn("%s: %" PRIu64 " values of data accesses have an x or z, which is read as 0; "
		     "the first is at time %" PRIu64,
		     path, import.unknown, import.unknown_time);
	if (import.disordered)
		warn("%s: %" PRIu64 " accesses use a data group without the one before it", path,
		     import.disordered);
	say("%s: %" PRIu64 " cycles, %" PRIu64 " groups, %" PRIu64 " accesses", path, import.cycles,
	    import.blocks, import.accesses);
	return EXIT_OK;
}
