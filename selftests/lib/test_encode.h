/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Shared by the encoder's tests: the stream, and two ways to compare it. */
#ifndef SELFTESTS_TEST_ENCODE_H
#define SELFTESTS_TEST_ENCODE_H

#include <ntrace/encode.h>

#include "tap.h"

static uint8_t stream[1 << 20];
static size_t stream_size;
static struct ntrace_params stream_params;
static unsigned int rewrite_errors;
static unsigned int unseen;	/* number of skipped messages at the beginning */

/* Every message must equal the output of ntrace_message_write(), byte for byte. */
static inline void check_against_table(const uint8_t *data, size_t size)
{
	uint8_t again[NTRACE_MESSAGE_BYTES_MAX];
	struct ntrace_message message;
	struct ntrace_reader reader;

	ntrace_reader_init(&reader, &stream_params, true);
	ntrace_reader_feed(&reader, data, size);
	if (ntrace_reader_next(&reader, &message) != NTRACE_WIRE_MESSAGE || message.flags ||
	    message.length != size ||
	    ntrace_message_write(&message, &stream_params, again) != (int)size ||
	    memcmp(again, data, size))
		rewrite_errors++;
}

static inline void take(void *data, const uint8_t *bytes, size_t size)
{
	(void)data;
	check_against_table(bytes, size);
	if (unseen) {
		unseen--;
		return;
	}
	if (stream_size + size <= sizeof(stream)) {
		memcpy(stream + stream_size, bytes, size);
		stream_size += size;
	}
}

static struct ntrace_params given;	/* parameters of the configuration */

static inline void default_config(struct ntrace_encoder_config *config)
{
	ntrace_encoder_config_init(config);
	ntrace_params_init(&given);
	given.mode = NTRACE_MODE_HISTORY;
	config->params = &given;
}

static inline void begin(struct ntrace_encoder *encoder, struct ntrace_encoder_config *config)
{
	config->write = take;
	stream_size = 0;
	stream_params = given;
	unseen = 0;
	ok(ntrace_encoder_init(encoder, config) == 0, "init");
}

static inline void retire(struct ntrace_encoder *encoder, uint64_t iaddr, uint32_t iretire,
			  enum ntrace_itype itype)
{
	struct ntrace_ingress block = {
		.iaddr = iaddr,
		.iretire = iretire,
		.itype = itype,
		.priv = NTRACE_PRIV_M,
	};

	if (ntrace_encoder_retire(encoder, &block))
		ok(false, "block 0x%" PRIx64 " refused", iaddr);
}

static inline void is_bytes(const char *expected, const char *text)
{
	char got[1024] = "";

	for (size_t i = 0; i < stream_size && i < 300; i++)
		sprintf(got + 3 * i, "%02X ", stream[i]);
	if (stream_size)
		got[3 * stream_size - 1] = 0;
	is_str(got, expected, "%s", text);
	stream_size = 0;
}

/* The stream as text: "ProgTraceSync SYNC=3 ICNT=0 FADDR=80; ..." in hex, without SRC. */
static inline void is_messages(const char *expected, const char *text)
{
	static char got[1 << 16];
	struct ntrace_message message;
	struct ntrace_reader reader;
	size_t length = 0;

	got[0] = 0;
	ntrace_reader_init(&reader, &stream_params, true);
	ntrace_reader_feed(&reader, stream, stream_size);
	while (length < sizeof(got) - 512 && ntrace_reader_next(&reader, &message) >= 0) {
		length += (size_t)sprintf(got + length, "%s%s", length ? "; " : "",
					  ntrace_tcode_name(message.tcode));
		for (unsigned int i = NTRACE_FIELD_SYNC; i < NTRACE_FIELD_COUNT; i++) {
			if (ntrace_message_has(&message, (enum ntrace_field)i))
				length += (size_t)sprintf(got + length, " %s=%" PRIx64,
							  ntrace_field_name((enum ntrace_field)i),
							  message.field[i]);
		}
	}
	is_str(got, expected, "%s", text);
	is_u64(rewrite_errors, 0, "%s: messages as the table has them", text);
	rewrite_errors = 0;
	stream_size = 0;
}

#endif /* SELFTESTS_TEST_ENCODE_H */
