// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any bytes to the detection of parameters. Input: one byte of settings, bytes. Checks that
 * two runs have the same result, candidates are valid parameters, and figures are consistent.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/detect.h>
#include <ntrace/wire.h>

#define BYTES_MAX 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_candidate(const struct ntrace_detect_candidate *candidate)
{
	struct ntrace_reader reader;

	if (ntrace_reader_init(&reader, &candidate->params, true))
		abort();
	if (candidate->params.xlen != 32 && candidate->params.xlen != 64)
		abort();
	if (candidate->sound + candidate->idle > candidate->bytes ||
	    candidate->syncs > candidate->messages ||
	    candidate->truncated + candidate->unknown > candidate->messages)
		abort();
	if ((candidate->source != 0) != (candidate->packing == NTRACE_DETECT_FRAMES))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ntrace_detect_result result, again;
	struct ntrace_detect_config config;
	struct ntrace_params params;
	struct ntrace_space *space = NULL;
	struct ntrace_object *object;

	if (!size || size > BYTES_MAX)
		return 0;
	ntrace_detect_config_init(&config);
	config.data = data + 1;
	config.bytes = size - 1;
	config.xlen_known = data[0] & 1;
	ntrace_params_init(&params);
	config.params = &params;
	params.xlen = data[0] & 2 ? 32 : 64;
	if (data[0] & 4) {
		if (ntrace_space_new(&space, "fuzz", NULL) ||
		    ntrace_object_from_bytes(&object, "code", data, size, 0x10000))
			abort();
		ntrace_space_map_linked(space, object, 0);
		ntrace_object_put(object);
		config.space = space;
	}
	if (ntrace_detect(&config, &result) || ntrace_detect(&config, &again) ||
	    memcmp(&result, &again, sizeof(result)))
		abort();
	if ((result.kind == NTRACE_DETECT_TRACE) != (result.count > 0) ||
	    !ntrace_detect_kind_text(result.kind))
		abort();
	for (uint32_t i = 0; i < result.count; i++)
		check_candidate(&result.candidate[i]);
	if (space)
		ntrace_space_put(space);
	return 0;
}
