/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inputs of the fuzz targets that decode a stream: SETTINGS bytes, code, 0xFF 0xFF, stream. The
 * settings choose the parameters of the stream and how the code is mapped.
 */
#ifndef SELFTESTS_FUZZ_FLOW_INPUT_H
#define SELFTESTS_FUZZ_FLOW_INPUT_H

#include <ntrace/flow.h>

#define SETTINGS 8

static inline void set_params(struct ntrace_params *params, const uint8_t *data)
{
	static const enum ntrace_mode modes[] = {
		NTRACE_MODE_ANY,
		NTRACE_MODE_BRANCH,
		NTRACE_MODE_HISTORY,
		NTRACE_MODE_ANY,
	};
	static const uint8_t widths[] = { 0, 8, 40, 64 };

	ntrace_params_init(params);
	params->src_bits = data[5] & 3;
	params->xlen = data[0] & 2 ? 32 : 64;
	params->extend_address = data[0] & 4;
	params->all_jumps = data[0] & 8;
	params->mode = modes[data[0] >> 4 & 3];
	params->dialect = (enum ntrace_dialect)((data[0] >> 6) % 3);
	params->implicit_return = data[5] >> 2 & 3;
	params->keep_stack = data[5] & 16;
	params->timestamp_delta = data[5] & 32 ? NTRACE_TIME_DELTA_XOR : 0;
	params->repeat_message = data[5] & 64;
	params->timestamp_bits = widths[data[5] >> 6];
	if (data[1] & 1)
		params->isa = data[1] & 2 ? "rv64g" : "rv32imac";
}

static inline struct ntrace_space *make_space(const char *name, const uint8_t *data, size_t code,
					      uint64_t bias)
{
	struct ntrace_object *object;
	struct ntrace_space *space;

	if (ntrace_space_new(&space, name, NULL))
		return NULL;
	if (code && !ntrace_object_from_bytes(&object, "code", data + SETTINGS, code, 0x100)) {
		ntrace_space_map_linked(space, object, bias);
		ntrace_space_map_linked(space, object, 0x800);
		ntrace_object_mark_uncertain(object, 0x100 + data[3] % code, 3);
		ntrace_object_put(object);
	}
	return space;
}

#endif
