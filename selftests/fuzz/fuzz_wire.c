// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any bytes to the message reader and the checker. Input: 4 bytes of settings, stream.
 * Checks that messages and findings do not depend on how the input is cut, nor on its packing as
 * 16-bit words; that a message is the same after writing and reading it again; and that every value
 * has the name of its field or none.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/check.h>
#include <ntrace/wire.h>

#define SETTINGS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* FNV-1a over all output. */
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

/* Names must come from their tables, whatever the value. */
static void name_all(const struct ntrace_message *message, enum ntrace_dialect dialect)
{
	if (!ntrace_tcode_dialect_name(message->tcode, dialect))
		abort();
	for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++) {
		const char *name =
			ntrace_value_name((enum ntrace_field)i, message->field[i], dialect);

		if (!ntrace_field_name((enum ntrace_field)i) || (name && !name[0]))
			abort();
	}
}

/* Only circuit messages have an address; it is even, and fits XLEN. */
static void circuit_address(const struct ntrace_message *message,
			    const struct ntrace_params *params)
{
	uint64_t address, next;

	if (!ntrace_message_circuit_address(message, params, 0x1000, &address, &next))
		return;
	if (!ntrace_message_is_circuit(message) || address & 1 || next & 1 ||
	    (params->xlen == 32 && (address | next) >> 32))
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
			if (event == NTRACE_WIRE_MESSAGE)
				name_all(&message, params->dialect);
			if (event == NTRACE_WIRE_MESSAGE)
				circuit_address(&message, params);
		}
	}
	hash = mix(hash, &reader.idles, sizeof(reader.idles));
	return hash + ntrace_reader_pending(&reader);
}

/* The search finds the messages that the reader finds, from @from on. */
static void check_syncs(const struct ntrace_params *params, bool aligned, const uint8_t *data,
			size_t size, size_t from)
{
	struct ntrace_wire_sync sync;
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event;

	ntrace_reader_init(&reader, params, aligned);
	ntrace_reader_feed(&reader, data, size);
	while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
		if (event != NTRACE_WIRE_MESSAGE || message.offset < from ||
		    !ntrace_message_has(&message, NTRACE_FIELD_FADDR) ||
		    message.flags & ~NTRACE_MESSAGE_EXTRA)
			continue;
		if (ntrace_wire_sync_next(data, size, from, aligned, params, NTRACE_SRC_ANY,
					  &sync) ||
		    sync.offset != message.offset || sync.length != message.length ||
		    sync.address != ntrace_message_address(&message, params, 0))
			abort();
		from = (size_t)sync.offset + 1;
	}
	if (ntrace_wire_sync_next(data, size, from, aligned, params, NTRACE_SRC_ANY, &sync) !=
		    NTRACE_ERR_AGAIN ||
	    sync.offset > size || sync.offset < from)
		abort();
}

static int take_finding(void *data, const struct ntrace_check_finding *finding)
{
	uint64_t *hash = data;

	*hash = mix(*hash, &finding->rule, sizeof(finding->rule));
	*hash = mix(*hash, &finding->offset, sizeof(finding->offset));
	*hash = mix(*hash, &finding->src, sizeof(finding->src));
	*hash = mix(*hash, &finding->field, sizeof(finding->field));
	*hash = mix(*hash, &finding->value, sizeof(finding->value));
	*hash = mix(*hash, &finding->address, sizeof(finding->address));
	return 0;
}

/* A call, a branch and a return, without a loop: a few bytes could run a loop for minutes. */
static struct ntrace_space *program(void)
{
	static const uint8_t code[] = { 0xef, 0x00, 0x80, 0x00, 0x13, 0x00, 0x00, 0x00, 0x01, 0x00,
					0x63, 0x02, 0x05, 0x00, 0x33, 0x00, 0x00, 0x00, 0x82, 0x80 };
	struct ntrace_object *object;
	struct ntrace_space *space;

	if (ntrace_space_new(&space, "program", NULL))
		return NULL;
	if (!ntrace_object_from_bytes(&object, "code", code, sizeof(code), 0x100)) {
		ntrace_space_map_linked(space, object, 0);
		ntrace_object_put(object);
	}
	return space;
}

static uint64_t find_all(const struct ntrace_check_config *wanted, const uint8_t *data, size_t size,
			 size_t chunk)
{
	struct ntrace_check_config config = *wanted;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ntrace_check *check;

	config.finding = take_finding;
	config.data = &hash;
	if (ntrace_check_new(&check, &config))
		return 0;
	for (size_t done = 0; done < size; done += chunk) {
		size_t left = size - done;

		if (ntrace_check_feed(check, data + done, left < chunk ? left : chunk))
			abort();
	}
	if (ntrace_check_end(check))
		abort();
	ntrace_check_free(check);
	return hash;
}

static void set_params(struct ntrace_params *params, const uint8_t *settings)
{
	static const enum ntrace_mode modes[] = { NTRACE_MODE_ANY, NTRACE_MODE_BRANCH,
						  NTRACE_MODE_HISTORY, NTRACE_MODE_ANY };
	static const uint8_t widths[] = { 0, 8, 40, 64 };

	ntrace_params_init(params);
	params->src_bits = settings[0] % (NTRACE_SRC_BITS_MAX + 1);
	params->xlen = settings[1] & 1 ? 32 : 64;
	params->extend_address = settings[1] & 2;
	params->all_jumps = settings[1] & 8;
	params->keep_stack = settings[1] & 16;
	params->timestamp_delta = settings[1] & 32 ? NTRACE_TIME_DELTA_XOR : 0;
	params->vendor_timestamps = settings[1] & 64;
	params->timestamp_bits = widths[settings[1] >> 6];
	params->dialect = (enum ntrace_dialect)((settings[2] & 3) % 3);
	params->mode = modes[settings[2] >> 2 & 3];
	params->implicit_return = settings[2] >> 4 & 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *settings = data;
	struct ntrace_check_config config;
	struct ntrace_params params;
	uint64_t whole;
	bool aligned;

	if (size <= SETTINGS)
		return 0;
	data += SETTINGS;
	size -= SETTINGS;
	ntrace_check_config_init(&config);
	set_params(&params, settings);
	config.params = &params;
	aligned = settings[1] & 4;
	whole = read_all(&params, aligned, data, size, size);
	if (read_all(&params, aligned, data, size, 1) != whole ||
	    read_all(&params, aligned, data, size, 3 + settings[0] % 7) != whole)
		abort();
	check_syncs(&params, aligned, data, size, 0);
	check_syncs(&params, aligned, data, size, settings[2] % (size + 1));
	config.wrapped = !aligned;
	config.icnt_bits = 1 + settings[3] % 64;
	config.sources[0] = settings[3] & 64 ? 0x0f : 0;
	if (settings[3] & 128)
		config.space = program();
	if (find_all(&config, data, size, size) != find_all(&config, data, size, 1))
		abort();
	if (config.space)
		ntrace_space_put(config.space);
	return 0;
}
