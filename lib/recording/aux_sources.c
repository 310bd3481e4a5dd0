// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * SRC of the messages of an AUX area: whose they are, and how many bits SRC has if nobody tells.
 *
 * gtrace and rvtrace store no parameters. They number harts by their logical CPU, give SRC the fewest bits
 * that hold all CPUs, and leave it out where an encoder cannot do that. ntrace_detect() finds the widths that
 * make sense of the messages; of these, all messages must be of CPUs that were traced (AUX_OUTPUT_HW_ID).
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/detect.h>
#include <ntrace/wire.h>

#include "aux_import.h"

#define CHUNK 16384
/* This much of an area decides about its width of SRC. */
#define EXAMINED ((size_t)1 << 18)

int aux_sources_count(const struct aux_file *file, const struct ntrace_params *params,
		      uint64_t *counts)
{
	struct ntrace_message message;
	struct ntrace_reader reader;
	uint8_t chunk[CHUNK];
	uint64_t src;
	size_t got;
	int event;

	if (ntrace_reader_init(&reader, params, false))
		return NTRACE_ERR_INVALID;
	if (fseek(file->file, 0, SEEK_SET))
		return NTRACE_ERR_IO;
	while ((got = fread(chunk, 1, sizeof(chunk), file->file))) {
		ntrace_reader_feed(&reader, chunk, got);
		while ((event = ntrace_reader_next(&reader, &message)) != NTRACE_ERR_AGAIN) {
			if (event < 0)
				return event;
			if (event != NTRACE_WIRE_MESSAGE)
				continue;
			src = ntrace_message_has(&message, NTRACE_FIELD_SRC) ?
				      message.field[NTRACE_FIELD_SRC] :
				      0;
			if (src < AUX_SOURCES)
				counts[src]++;
		}
	}
	return ferror(file->file) ? NTRACE_ERR_IO : 0;
}

/* Fewest bits that hold the numbers below @count. */
static unsigned int bits_below(uint32_t count)
{
	unsigned int bits = 0;

	while (bits < NTRACE_SRC_BITS_MAX && count > 1u << bits)
		bits++;
	return bits;
}

/* Whether a width makes all messages those of CPUs that have trace in the area. */
static int is_of_traced(const struct aux_areas *areas, const struct aux_area *area,
			const struct aux_file *file, const struct ntrace_params *params)
{
	uint64_t *counts = calloc(AUX_SOURCES, sizeof(*counts));
	unsigned int src;
	int result = counts ? aux_sources_count(file, params, counts) : NTRACE_ERR_NOMEM;

	if (!result) {
		result = 1;
		for (src = 0; src < AUX_SOURCES && params->src_bits; src++)
			if (counts[src] &&
			    (areas->traced ? !areas->traced[src] : src != area->about.cpu))
				result = 0;
	}
	free(counts);
	return result;
}

int aux_sources_width(const struct aux_areas *areas, const struct aux_area *area,
		      const struct aux_file *file, const struct ntrace_params *params)
{
	struct ntrace_detect_config config;
	struct ntrace_detect_result *result = malloc(sizeof(*result));
	uint8_t *bytes = malloc(EXAMINED);
	unsigned int i;
	int bits = result && bytes ? 0 : NTRACE_ERR_NOMEM;

	ntrace_detect_config_init(&config);
	if (!bits && (fflush(file->file) || fseek(file->file, 0, SEEK_SET)))
		bits = NTRACE_ERR_IO;
	if (!bits) {
		config.data = bytes;
		config.bytes = fread(bytes, 1, EXAMINED, file->file);
		config.params = params;
		bits = ntrace_detect(&config, result);
	}
	/* Best first. What nobody says at all has the width that the driver gives it for this many CPUs. */
	for (i = 0; !bits && result->kind == NTRACE_DETECT_TRACE && i < result->count; i++) {
		const struct ntrace_detect_candidate *candidate = &result->candidate[i];
		struct ntrace_params tried = *params;
		int good;

		tried.src_bits = candidate->params.src_bits;
		good = candidate->packing == NTRACE_DETECT_BYTES ?
			       is_of_traced(areas, area, file, &tried) :
			       0;
		if (good) {
			bits = good < 0 ? good : (int)tried.src_bits;
			goto out;
		}
	}
	if (!bits)
		bits = (int)bits_below(ntrace_perf_file_cpus(areas->machine->file));
out:
	free(bytes);
	free(result);
	return bits;
}
