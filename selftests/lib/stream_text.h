/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams written as text: messages and their fields. */
#ifndef SELFTESTS_STREAM_TEXT_H
#define SELFTESTS_STREAM_TEXT_H

#include "test_wire.h"

/* Fields of "SYNC=5 ICNT=0 FADDR=0x80" or "FADDR=0x100>>1". */
static inline void set_fields(struct ntrace_message *message, const char *text)
{
	for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++) {
		char key[24], *end;
		const char *at;

		snprintf(key, sizeof(key), " %s=", ntrace_field_name((enum ntrace_field)i));
		at = strstr(text, key);
		if (!at)
			continue;
		message->present |= 1u << i;
		message->field[i] = strtoull(at + strlen(key), &end, 0);
		/* The text has whole addresses, not the values as sent. */
		if (!strncmp(end, ">>1", 3))
			message->field[i] >>= 1;
	}
}

/* Bytes of "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80; [70 D0 1D]; x9 DirectBranch ICNT=3". */
static inline size_t stream_of(const char *text, const struct ntrace_params *params, uint8_t *data,
			       size_t room)
{
	size_t size = 0;

	while (*text) {
		size_t length = strcspn(text, ";");
		struct ntrace_message message = { 0 };
		unsigned long repeat = 1;
		char line[256], *at = line;
		uint8_t bytes[256];
		size_t count;

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		text += length + (text[length] == ';');
		while (*at == ' ')
			at++;
		if (*at == 'x')
			repeat = strtoul(at + 1, &at, 10);
		while (*at == ' ')
			at++;
		if (*at == '[') {
			at[strcspn(at, "]")] = '\0';
			count = from_hex(at + 1, bytes, sizeof(bytes));
		} else {
			int written;

			for (unsigned int i = 0; i < 64; i++) {
				const char *name = ntrace_tcode_dialect_name(i, params->dialect);
				size_t size_of = strlen(name);

				if (!strncmp(name, at, size_of) && at[size_of] == ' ')
					message.tcode = (uint8_t)i;
			}
			set_fields(&message, at);
			written = ntrace_message_write(&message, params, bytes);
			if (written < 0) {
				ok(false, "message of the test: %s", line);
				return 0;
			}
			count = (size_t)written;
		}
		for (; repeat && size + count <= room; repeat--) {
			memcpy(data + size, bytes, count);
			size += count;
		}
	}
	return size;
}

#endif /* SELFTESTS_STREAM_TEXT_H */
