// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes through the message reader: the same messages however the input is
 * cut, and a message that is written again reads as the same one.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/wire.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* FNV-1a over everything that comes out. */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static void write_again(const struct ntrace_message *message, const struct ntrace_params *params)
{
	uint8_t bytes[NTRACE_MESSAGE_BYTES_MAX];
	struct ntrace_message back;
	struct ntrace_reader reader;
	int size;

	if (message->flags)
		return;
	size = ntrace_message_write(message, params, bytes);
	if (size < 0)
		return;
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, bytes, (size_t)size);
	if (ntrace_reader_next(&reader, &back) != NTRACE_WIRE_MESSAGE ||
	    back.present != message->present ||
	    memcmp(back.field, message->field, sizeof(back.field)))
		abort();
}

static uint64_t read_all(const struct ntrace_params *params, bool aligned, const uint8_t *data,
			 size_t size, size_t chunk)
{
	struct ntrace_reader reader;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	ntrace_reader_init(&reader, params, aligned);
	for (size_t done = 0; done < size; done += chunk) {
		struct ntrace_message message;
		int event;

		ntrace_reader_feed(&reader, data + done, size - done < chunk ? size - done : chunk);
		while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
			hash = mix(hash, &event, sizeof(event));
			hash = mix(hash, &message, sizeof(message));
			if (event == NTRACE_WIRE_MESSAGE)
				write_again(&message, params);
		}
	}
	hash = mix(hash, &reader.idles, sizeof(reader.idles));
	return hash + ntrace_reader_pending(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_params params;
	uint64_t whole;
	bool aligned;

	if (size < 2)
		return 0;
	ntrace_params_init(&params);
	params.src_bits = data[0] % (NTRACE_SRC_BITS_MAX + 1);
	params.xlen = data[1] & 1 ? 32 : 64;
	params.extend_address = data[1] & 2;
	aligned = data[1] & 4;
	whole = read_all(&params, aligned, data + 2, size - 2, size);
	if (read_all(&params, aligned, data + 2, size - 2, 1) != whole ||
	    read_all(&params, aligned, data + 2, size - 2, 3 + data[0] % 7) != whole)
		abort();
	return 0;
}
