// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any bytes as a tandem stream to reader, writer and state: the fields do not depend on how
 * the input is cut, and written fields are the bytes that were read.
 *
 * The first byte chooses the parameters.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/tandem.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_all(const struct ntrace_tandem_params *params, const uint8_t *data,
			 size_t size, size_t chunk, size_t room)
{
	struct ntrace_tandem_field fields[16];
	struct ntrace_tandem_reader reader;
	static struct ntrace_tandem_state state;
	uint8_t again[NTRACE_TANDEM_FIELD_MAX];
	uint64_t hash = 0, expected = 0;
	int count = 0;

	ntrace_tandem_state_init(&state, params);
	if (ntrace_tandem_reader_init(&reader, params))
		abort();
	for (size_t at = 0; at < size && count >= 0; at += chunk) {
		ntrace_tandem_reader_feed(&reader, data + at,
					  size - at < chunk ? size - at : chunk);
		while ((count = ntrace_tandem_read(&reader, fields, room)) > 0)
			for (int i = 0; i < count; i++) {
				struct ntrace_tandem_field *field = &fields[i];

				if (field->offset != expected)
					abort();
				expected += field->length;
				hash = hash * 31 + field->type + field->flags;
				hash = hash * 31 +
				       (uint64_t)ntrace_tandem_state_apply(&state, field);
				if (field->flags & NTRACE_TANDEM_IMPLIED)
					continue;
				if (ntrace_tandem_write(params, field, again) != field->length ||
				    memcmp(again, data + field->offset, field->length))
					abort();
			}
	}
	if (count < 0 ? count != NTRACE_ERR_FORMAT || !reader.error ||
				reader.wrong < reader.offset || reader.wrong >= size :
			expected + ntrace_tandem_reader_pending(&reader) != size)
		abort();
	for (unsigned int i = 0; i < NTRACE_TANDEM_STATE_REGISTERS; i++)
		hash = hash * 31 + state.reg[i];
	return hash * 31 + expected;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_tandem_params params;
	uint64_t whole;

	if (!size)
		return 0;
	ntrace_tandem_params_init(&params);
	params.xlen = data[0] & 1 ? 32 : 64;
	params.mlen = params.xlen == 64 ? 64 : data[0] & 2 ? 34 : 32;
	params.flen = data[0] & 4 ? data[0] & 8 ? 64 : 32 : 0;
	params.flags = data[0] >> 4 & 3;
	data++;
	size--;
	whole = read_all(&params, data, size, size + 1, 16);
	if (read_all(&params, data, size, 1, 2) != whole ||
	    read_all(&params, data, size, 7, 3) != whole)
		abort();
	return 0;
}
